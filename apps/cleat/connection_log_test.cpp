#include "connection_log.hpp"
#include "log/log_sink.hpp"

#include <cleat/core/temporary_folder_for_tests.hpp>
#include <cleat/net/tls_peer_for_tests.hpp>

#include <doctest/doctest.h>

#include <cerrno>
#include <string>

namespace cleat::app {
namespace {

error_code system(int number)
{
    return {number, boost::system::system_category()};
}

// A worker's service that listens nowhere, and the log at level 1 of what is told to its stories.
struct desk
{
    template <class Story>
    std::string told(Story live)
    {
        {
            connection_log one{*at, "192.0.2.9:443", peer, proxy_header};
            live(one);
        }
        return folder.read("log");
    }

    temporary_folder folder;
    std::unique_ptr<log_sink> sink = log_sink::to_file(folder.path() / "log").value();
    net::worker on;
    snapshot use;
    // On the heap: it has a cache line's alignment, which g++ 12 loses in frames that
    // AddressSanitizer keeps (its bug 110027).
    std::unique_ptr<worker_service> at = std::make_unique<worker_service>(
        on, use, std::vector<listening>{}, logger{*sink, log_level::warning});
    net::address peer = net::resolve("192.0.2.1", "1").value().front();
    std::string proxy_header;
    tls::engine engine{net::contexts().server};
};

bool has(std::string const& log, std::string_view words)
{
    return log.find(words) != std::string::npos;
}

} // namespace

TEST_CASE("an upstream is not to blame for what this machine has run out of")
{
    for (int const number : {EMFILE, ENFILE, ENOMEM, ENOBUFS}) {
        CAPTURE(number);
        CHECK(reason_for_connect(system(number)) == close_reason::out_of_resources);
    }
    for (int const number : {ECONNREFUSED, EHOSTUNREACH, ENOENT, EADDRNOTAVAIL, ECONNRESET})
        CHECK(reason_for_connect(system(number)) == close_reason::upstream_unreachable);
    CHECK(reason_for_connect(error::connect_timeout) == close_reason::upstream_timeout);
    CHECK(reason_for_connect(error::stopped) == close_reason::stopped);

    desk d;
    CHECK(
        has(d.told([](connection_log& s) { s.connect_failed(system(EMFILE)); }),
            "level=error event=connect-"));
    CHECK(d.at->closed().value(close_reason::out_of_resources) == 1);
}

TEST_CASE("the default log names a stream that may have been cut, and is silent on a whole one")
{
    desk d;
    CHECK(d.told([&](connection_log& s) { s.ended({close_reason::done, {}}, d.engine); }).empty());
    std::string const log = d.told([&](connection_log& s) {
        s.ended({close_reason::client_truncated, {}}, d.engine);
    });
    CHECK(has(log, "level=warning event=connection-closed"));
    CHECK(has(log, "reason=client-truncated"));
}

TEST_CASE("a client that leaves before its first byte is counted, and no warning")
{
    desk d;
    for (error_code const why : {error_code{error::truncated}, system(ECONNRESET)})
        CHECK(d.told([&](connection_log& s) { s.handshake_failed(why, d.engine); }).empty());
    for (error_code const why : {error_code{error::closed}, system(ECONNRESET)})
        CHECK(d.told([&](connection_log& s) { s.proxy_header_failed(why); }).empty());
    CHECK(d.at->closed().value(close_reason::client_silent) == 4);
    // One that waits for nothing until its deadline is.
    CHECK(has(
        d.told([&](connection_log& s) { s.handshake_failed(error::handshake_timeout, d.engine); }),
        "level=warning event=handshake-failed"));
}

TEST_CASE("behind a load balancer a line tells the client, and always the frontend")
{
    struct
    {
        std::string proxy_header;
        std::string_view who;
    } const each[] = {
        {"", " frontend=192.0.2.9:443 peer=192.0.2.1:1 reason="},
        {"PROXY TCP4 203.0.113.7 192.0.2.9 4711 443\r\n",
         " peer=192.0.2.1:1 source=203.0.113.7:4711 reason="},
        {"PROXY TCP6 2001:db8::7 2001:db8::9 4711 443\r\n", " source=[2001:db8::7]:4711 reason="},
        {"PROXY UNKNOWN\r\n", " peer=192.0.2.1:1 reason="},
    };
    for (auto const& [proxy_header, who] : each) {
        desk d;
        d.proxy_header = proxy_header;
        std::string const log = d.told(
            [&](connection_log& s) { s.handshake_failed(error::handshake_timeout, d.engine); });
        CAPTURE(log);
        CHECK(has(log, who));
    }
}

} // namespace cleat::app
