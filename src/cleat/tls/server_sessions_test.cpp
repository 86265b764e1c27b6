#include <cleat/core/limits.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/connection_for_tests.hpp>
#include <cleat/tls/server_sessions.hpp>
#include <cleat/tls/split_wire_for_tests.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace cleat::tls::server_sessions_test {
namespace {

session make_session(protocol_version version)
{
    context_spec server;
    server.certificates = {make_identity({.names = {"a.test"}}).source("a.pem")};
    server.tickets = std::make_shared<ticket_secret const>(ticket_secret{std::byte{1}});
    context_spec client;
    client.role = role::client;
    client.server_name = "a.test";
    client.keep_sessions = true;
    client.version_min = client.version_max = version;
    context const server_context{server};
    context const client_context{client};
    engine_pair pair{server_context, client_context};
    REQUIRE(pair.established());
    std::vector<std::byte> text;
    write_all(pair.server, pair.client, pattern(10)); // The ticket comes before it.
    read_all(pair.client, pair.server, text);
    return pair.client.engine.take_sessions().front();
}

TEST_CASE("a session of TLS 1.3 resumes one connection, one of TLS 1.2 any number")
{
    server_sessions cache;
    CHECK(!cache.take());
    cache.keep(make_session(protocol_version::tls_1_3));
    CHECK(cache.take());
    CHECK(!cache.take());
    cache.keep(make_session(protocol_version::tls_1_2));
    CHECK(cache.take());
    CHECK(cache.take());
}

TEST_CASE("the newest session is the first, and the oldest gives way")
{
    server_sessions cache;
    session const one = make_session(protocol_version::tls_1_3);
    session const other = make_session(protocol_version::tls_1_3);
    cache.keep(one);
    for (std::size_t i = 0; i != limits::server_sessions_max; ++i)
        cache.keep(other);
    CHECK(cache.size() == limits::server_sessions_max);
    while (cache.size() != 0)
        CHECK(cache.take().native_handle() == other.native_handle());
    cache.keep(other);
    cache.keep(one);
    CHECK(cache.take().native_handle() == one.native_handle());
    CHECK(cache.take().native_handle() == other.native_handle());
    CHECK(!cache.take());
}

TEST_CASE("a session that has failed is not offered again, and the others are")
{
    server_sessions cache;
    std::vector<session> all;
    for (int i = 0; i != 3; ++i)
        cache.keep(all.emplace_back(make_session(protocol_version::tls_1_2)));
    cache.drop(make_session(protocol_version::tls_1_2)); // It is not there any more.
    cache.drop(all[1]);
    CHECK(cache.size() == 2);
    CHECK(cache.take().native_handle() == all[2].native_handle());
    cache.drop(all[2]);
    CHECK(cache.take().native_handle() == all[0].native_handle());
    cache.drop(all[0]);
    CHECK(!cache.take());
    cache.drop({});
    cache.keep(all[0]);
    CHECK(cache.take().native_handle() == all[0].native_handle());
}

} // namespace
} // namespace cleat::tls::server_sessions_test
