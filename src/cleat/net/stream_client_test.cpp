// A client's streams: each has a server of its own, resumes its sessions, and names what is wrong
// with its certificate.

#include <cleat/net/coroutines_for_tests.hpp>
#include <cleat/net/handshakes_for_tests.hpp>
#include <cleat/net/worlds_for_tests.hpp>
#include <cleat/tls/session_cache.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/system_error.hpp>

#include <memory>
#include <string>
#include <vector>

namespace asio = boost::asio;

namespace cleat::net::stream_client_test {
namespace {

constexpr std::uint16_t https = 443;

tls::test_identity const& authority()
{
    static tls::test_identity const made =
        tls::make_identity({.common_name = "an authority", .authority = true});
    return made;
}

tls::context_spec client_spec()
{
    tls::context_spec spec;
    spec.role = tls::role::client;
    spec.verify = tls::peer_verification::required;
    spec.verify_authorities = authority().certificate_pem;
    return spec;
}

tls::context server_with(tls::test_identity_spec described)
{
    described.issuer = &authority();
    tls::context_spec spec;
    spec.certificates = {tls::make_identity(described).source("test")};
    spec.tickets = std::make_shared<tls::ticket_secret const>(tls::ticket_secret{std::byte{1}});
    return tls::context{spec};
}

error_code error_with(tls::context& server, tls::context& client, std::string const& host)
{
    return meet(server, client, [&](plain_stream&, plain_stream& s) { s.set_server(host, https); })
        .client;
}

tls::context_spec caching_spec()
{
    tls::context_spec spec = client_spec();
    spec.sessions = std::make_shared<tls::session_cache>();
    return spec;
}

struct visit
{
    bool resumed = false;
    std::string server_name; // That the server has read.
};

// A handshake and an answer: TLS 1.3's tickets come before the answer.
template <class SetUp>
visit visit_server(tls::context& server, tls::context& client, SetUp set_up)
{
    socket_world world;
    auto ends = world.sockets();
    plain_stream accepted{std::move(ends.first), server};
    plain_stream asking{std::move(ends.second), client};
    set_up(asking);
    visit seen;
    spawn(world, [](auto& s) -> asio::awaitable<void> {
        co_await handshake(s, stream_base::server);
        co_await asio::async_write(s, asio::buffer("x", 1), asio::use_awaitable);
        co_await s.async_shutdown(as_result);
    }(accepted));
    spawn(world, [](auto& s, visit& out) -> asio::awaitable<void> {
        co_await handshake(s, stream_base::client);
        std::string answer(1, '\0');
        co_await asio::async_read(s, asio::buffer(answer), asio::use_awaitable);
        out.resumed = s.info().resumed;
        co_await s.async_shutdown(as_result);
    }(asking, seen));
    world.run();
    seen.server_name = accepted.info().server_name;
    return seen;
}

visit visit_host(
    tls::context& server, tls::context& client, std::string const& host, std::uint16_t port)
{
    return visit_server(server, client, [&](plain_stream& s) { s.set_server(host, port); });
}

} // namespace

TEST_CASE("each stream of a context has a server of its own, which is sent and verified")
{
    tls::context server =
        server_with({.names = {"a.test", "b.test"}, .addresses = {"127.0.0.1", "::1"}});
    tls::context client{client_spec()};
    CHECK(visit_host(server, client, "a.test", https).server_name == "a.test");
    CHECK(visit_host(server, client, "b.test", https).server_name == "b.test");
    CHECK(visit_host(server, client, "b.test.", https).server_name == "b.test");
    CHECK(visit_host(server, client, "127.0.0.1", https).server_name.empty());
    CHECK(visit_host(server, client, "::1", https).server_name.empty());
    CHECK(error_with(server, client, "c.test") == error::wrong_name);
    CHECK(error_with(server, client, "127.0.0.2") == error::wrong_name);
}

TEST_CASE("what is wrong with a server's certificate is an error of its own")
{
    tls::context client{client_spec()};
    tls::context expired =
        server_with({.names = {"a.test"}, .valid_from_days = -9, .valid_to_days = -2});
    tls::context early =
        server_with({.names = {"a.test"}, .valid_from_days = 2, .valid_to_days = 9});
    CHECK(error_with(expired, client, "a.test") == error::certificate_expired);
    CHECK(error_with(early, client, "a.test") == error::certificate_not_yet_valid);
    tls::context stranger{[] {
        tls::context_spec spec;
        spec.certificates = {tls::make_identity({.names = {"a.test"}}).source("test")};
        return spec;
    }()};
    CHECK(error_with(stranger, client, "a.test") == error::unknown_authority);

    tls::test_identity const bad =
        tls::make_identity({.names = {"a.test"}, .issuer = &authority()});
    tls::context_spec with_bad;
    with_bad.certificates = {bad.source("test")};
    tls::context revoked{with_bad};
    tls::context_spec spec = client_spec();
    spec.verify_crls = {{tls::crl_with(authority(), bad), "crl"}};
    tls::context knows_more{spec};
    CHECK(error_with(revoked, client, "a.test") == error_code{});
    CHECK(error_with(revoked, knows_more, "a.test") == error::certificate_revoked);
}

TEST_CASE("sessions are taken from a stream and given to the next one")
{
    tls::context server = server_with({.names = {"a.test"}});
    tls::context_spec spec = client_spec();
    spec.keep_sessions = true;
    tls::context client{spec};
    socket_world world;
    auto ends = world.sockets();
    plain_stream accepted{std::move(ends.first), server};
    plain_stream asking{std::move(ends.second), client};
    spawn(world, [](auto& s) -> asio::awaitable<void> {
        co_await handshake(s, stream_base::server);
        co_await asio::async_write(s, asio::buffer("x", 1), asio::use_awaitable);
    }(accepted));
    spawn(world, [](auto& s) -> asio::awaitable<void> {
        co_await handshake(s, stream_base::client);
        std::string answer(1, '\0');
        co_await asio::async_read(s, asio::buffer(answer), asio::use_awaitable);
    }(asking));
    world.run();
    std::vector<tls::session> const taken = asking.take_sessions();
    REQUIRE(taken.size() == 1);
    CHECK(asking.take_sessions().empty());
    CHECK(visit_server(server, client, [&](plain_stream& s) { s.resume(taken[0]); }).resumed);
    CHECK(!visit_server(server, client, [](plain_stream&) {}).resumed);
}

TEST_CASE("streams with a cache resume by host and port")
{
    tls::context server = server_with({.names = {"a.test", "b.test"}});
    for (tls::protocol_version const version :
         {tls::protocol_version::tls_1_2, tls::protocol_version::tls_1_3}) {
        tls::context_spec spec = client_spec();
        spec.version_min = spec.version_max = version;
        spec.sessions = std::make_shared<tls::session_cache>();
        tls::context client{spec};
        CHECK(!visit_host(server, client, "a.test", https).resumed);
        CHECK(visit_host(server, client, "a.test", https).resumed);
        CHECK(visit_host(server, client, "a.test", https).resumed); // Each visit brings a new one.
        CHECK(!visit_host(server, client, "a.test", 8443).resumed);
        CHECK(!visit_host(server, client, "b.test", https).resumed);

        tls::context same{spec}; // Another context with the same cache and rules.
        CHECK(visit_host(server, same, "a.test", https).resumed);
        spec.session_scope = "another";
        tls::context other{spec};
        CHECK(!visit_host(server, other, "a.test", https).resumed);
        spec.session_scope = tls::context_spec{}.session_scope;
        spec.alpn = {"echo/1"};
        tls::context speaks{spec};
        CHECK(!visit_host(server, speaks, "a.test", https).resumed);
    }
}

TEST_CASE("a stream with rules of its own leaves no session to streams that verify")
{
    tls::context_spec unknown;
    unknown.certificates = {tls::make_identity({.names = {"a.test"}}).source("test")};
    unknown.tickets = std::make_shared<tls::ticket_secret const>(tls::ticket_secret{std::byte{1}});
    tls::context server{unknown};
    tls::context_spec const spec = caching_spec();
    tls::context client{spec};
    auto const lax = [](bool named_first) {
        return [named_first](plain_stream& s) {
            if (named_first)
                s.set_server("a.test", https);
            s.set_verify_mode(verify_none);
            if (!named_first)
                s.set_server("a.test", https);
        };
    };
    CHECK(!visit_server(server, client, lax(true)).resumed);
    CHECK(!visit_server(server, client, lax(false)).resumed);
    CHECK(spec.sessions->size() == 0);
    CHECK(error_with(server, client, "a.test") == error::unknown_authority);

    tls::context trusted = server_with({.names = {"a.test"}});
    CHECK(!visit_host(trusted, client, "a.test", https).resumed);
    CHECK(!visit_server(trusted, client, lax(true)).resumed); // Nor does it take one.
}

TEST_CASE("of several names the last is verified, whatever session an earlier one has")
{
    tls::context server = server_with({.names = {"a.test"}});
    tls::context_spec const spec = caching_spec();
    tls::context client{spec};
    CHECK(!visit_host(server, client, "a.test", https).resumed);
    error_code const failed = meet(server, client, [](plain_stream&, plain_stream& s) {
                                  s.set_server("a.test", https);
                                  s.set_server("c.test", https);
                              }).client;
    CHECK(failed == error::wrong_name);
    CHECK(error_with(server, client, "c.test") == error::wrong_name);
    CHECK(visit_server(server, client, [](plain_stream& s) {
              s.set_server("c.test", https);
              s.set_server("a.test", https);
          }).resumed);
}

TEST_CASE("a stream that makes no handshake takes no session of the cache")
{
    tls::context server = server_with({.names = {"a.test"}});
    tls::context_spec const spec = caching_spec();
    tls::context client{spec};
    CHECK(!visit_host(server, client, "a.test", https).resumed);
    {
        boost::asio::io_context io{1};
        plain_stream idle{connected_pair(io).first, client};
        idle.set_server("a.test", https);
    }
    CHECK(visit_host(server, client, "a.test", https).resumed);
}

TEST_CASE("a cache resumes in a later process")
{
    tls::context server = server_with({.names = {"a.test"}});
    tls::context_spec const spec = caching_spec();
    tls::context client{spec};
    CHECK(!visit_host(server, client, "a.test", https).resumed);
    std::vector<std::byte> const saved = spec.sessions->save();

    tls::context_spec later = client_spec();
    later.sessions = std::make_shared<tls::session_cache>();
    CHECK(!later.sessions->load(saved));
    tls::context loaded{later};
    CHECK(visit_host(server, loaded, "a.test", https).resumed);
}

TEST_CASE("settings of a client that come too late, or to a server, are errors")
{
    tls::context server = server_with({.names = {"a.test"}});
    tls::context client{client_spec()};
    error_code ec;
    meet(server, client, [&](plain_stream& accepted, plain_stream& asking) {
        CHECK(accepted.set_server("a.test", https, ec) == error::wrong_role);
        CHECK(accepted.resume({}, ec) == error::wrong_role);
        CHECK(asking.resume({}, ec) == error::no_session);
        for (char const* const no_name :
             {"", "a.test:443", "[::1]", "a b", "*.a.test", "h\xc3\xb6st", ".a", "a..b",
              "https://a.test"})
            CHECK(asking.set_server(no_name, https, ec) == error::bad_host_name);
        CHECK(asking.set_server(std::string(256, 'a'), https, ec) == error::bad_host_name);
        CHECK_THROWS_AS(asking.set_server("", https), boost::system::system_error);
        CHECK(!asking.set_server("a.test", https, ec));
    });
    boost::asio::io_context io{1};
    auto ends = connected_pair(io);
    plain_stream begun{std::move(ends.first), client};
    begun.async_handshake(stream_base::client, [](error_code) {});
    CHECK(begun.set_server("a.test", https, ec) == error::handshake_begun);
    CHECK(begun.resume({}, ec) == error::handshake_begun);
}

} // namespace cleat::net::stream_client_test
