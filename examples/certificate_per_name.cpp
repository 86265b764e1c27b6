// How do I serve a certificate for each name, and renew them while the server runs?
//
//     certificate_per_name --cert a.pem --cert b.pem [--folder DIR] [--listen 127.0.0.1:8443]
//
// Each certificate is for the names in it; the last one is also for all other names. Try it with
//     openssl s_client -connect 127.0.0.1:PORT -servername NAME
// SIGHUP reads the files again. Connections that are there go on with the certificate that they
// have.
//
// With --folder the server has a store: the files in DIR and its subfolders, and those of --cert,
// which may be a hundred thousand. Each is loaded when a client asks for it, and SIGHUP reads those
// that have changed.

#include "arguments.hpp"

#include <cleat/net/server.hpp>
#include <cleat/tls/ticket_secret.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace asio = boost::asio;
namespace net = cleat::net;
namespace tls = cleat::tls;

asio::awaitable<void> greet(net::connection c)
{
    tls::handshake_info const& agreed = c.facts.tls;
    std::string const text = fmt::format(
        "Hello {}. You asked for '{}', and we speak {} with {} over {}.\n", to_string(c.facts.peer),
        agreed.server_name, agreed.version, agreed.cipher, agreed.group);
    co_await asio::async_write(c.stream, asio::buffer(text), asio::use_awaitable);
    co_await c.stream.async_shutdown(asio::as_tuple(asio::use_awaitable));
}

/// site is what the server needs to read its certificates, now and later.
struct site
{
    std::vector<std::string> files;
    std::vector<std::string> folders;
    // The same secret for each reload, so that sessions resume.
    std::shared_ptr<tls::ticket_secret const> tickets = tls::new_ticket_secret();

    [[nodiscard]] tls::context_spec settings() const
    {
        tls::context_spec spec;
        if (folders.empty())
            for (std::string const& file : files)
                spec.certificates.push_back(example::certificate(file));
        else
            spec.certificate_store = store();
        spec.tickets = tickets;
        return spec;
    }

    [[nodiscard]] tls::certificate_store_spec store() const
    {
        tls::certificate_store_spec named;
        for (std::string const& folder : folders)
            named.folders.push_back({.path = folder, .recursive = true});
        for (std::string const& file : files)
            named.files.push_back({.chain = file});
        named.on_warning = [](std::string_view finding) { fmt::print(stderr, "{}\n", finding); };
        return named;
    }
};

/// reload changes nothing where a file is missing or wrong.
void reload(net::server& server, site const& served)
{
    try {
        server.reload(served.settings());
        fmt::print("reloaded\n");
        std::fflush(stdout);
    } catch (std::exception const& e) {
        fmt::print(stderr, "not reloaded: {}\n", e.what());
    }
}

void on_each(asio::signal_set& signal, std::function<void()> const& action)
{
    signal.async_wait([&signal, action](boost::system::error_code ec, int) {
        if (ec)
            return;
        action();
        on_each(signal, action);
    });
}

constexpr char const* usage = "--cert a.pem --cert b.pem [--folder DIR] [--listen 127.0.0.1:8443]";

int main(int count, char** values)
{
    return example::run(count, values, usage, [](example::arguments const& given) {
        site const served{given.all("--cert"), given.all("--folder")};
        net::server_spec spec;
        spec.listen = given.value("--listen", "127.0.0.1:0");
        spec.tls = served.settings();
        // A certificate of the store may be missing or broken by the time that it is needed.
        spec.on_failure = [](net::connection_failure const& failed) {
            if (failed.error == cleat::error::certificate_unavailable)
                fmt::print(stderr, "{}\n", failed.reason);
        };
        net::server server{std::move(spec), greet};

        // A thread of its own, because a worker may not call reload.
        asio::io_context io{1};
        asio::signal_set hangup{io, SIGHUP};
        on_each(hangup, [&] { reload(server, served); });
        std::thread reloads{[&io] { io.run(); }};

        example::say_ready(server.port());
        given.wait_for_signal();
        io.stop();
        reloads.join();
    });
}
