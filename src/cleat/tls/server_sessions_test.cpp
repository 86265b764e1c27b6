#include <cleat/core/limits.hpp>
#include <cleat/tls/issued_session_for_tests.hpp>
#include <cleat/tls/server_sessions.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

namespace cleat::tls::server_sessions_test {
namespace {

TEST_CASE("a session of TLS 1.3 resumes one connection, one of TLS 1.2 any number")
{
    server_sessions cache;
    CHECK(!cache.take());
    cache.keep(issued_session(protocol_version::tls_1_3));
    CHECK(cache.take());
    CHECK(!cache.take());
    cache.keep(issued_session(protocol_version::tls_1_2));
    CHECK(cache.take());
    CHECK(cache.take());
}

TEST_CASE("the newest session is the first, and the oldest gives way")
{
    server_sessions cache;
    session const one = issued_session(protocol_version::tls_1_3);
    session const other = issued_session(protocol_version::tls_1_3);
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
        cache.keep(all.emplace_back(issued_session(protocol_version::tls_1_2)));
    cache.drop(issued_session(protocol_version::tls_1_2)); // It is not there any more.
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
