// A client's cache of sessions: what it keeps, forgets, saves and loads.

#include <cleat/tls/issued_session_for_tests.hpp>
#include <cleat/tls/session_cache.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

namespace cleat::tls::session_cache_test {
namespace {

session_key key(std::string host, std::uint16_t port = 443)
{
    return {std::move(host), port, "h2", "rules"};
}

TEST_CASE("a session is kept for its key alone")
{
    session const one = issued_session();
    session_cache cache;
    cache.keep(key("a.test"), one);
    CHECK(cache.size() == 1);
    CHECK(!cache.take(key("b.test")));
    CHECK(!cache.take(key("a.test", 8443)));
    CHECK(!cache.take({"a.test", 443, "http/1.1", "rules"}));
    CHECK(!cache.take({"a.test", 443, "h2", "other rules"}));
    CHECK(cache.take(key("a.test")).native_handle() == one.native_handle());
    CHECK(cache.size() == 0);
}

TEST_CASE("the server that was not used for the longest time gives way")
{
    session const one = issued_session();
    session_cache cache{2};
    cache.keep(key("a.test"), one);
    cache.keep(key("b.test"), one);
    cache.keep(key("a.test"), one); // Now b.test is the older one.
    cache.keep(key("c.test"), one);
    CHECK(cache.size() == 3);
    CHECK(!cache.take(key("b.test")));
    CHECK(cache.take(key("a.test")));
    CHECK(cache.take(key("c.test")));
    cache.clear();
    CHECK(cache.size() == 0);
}

TEST_CASE("a session that has failed is not offered again")
{
    session const one = issued_session();
    session_cache cache;
    cache.keep(key("a.test"), one);
    cache.drop(key("b.test"), one);
    CHECK(cache.size() == 1);
    cache.drop(key("a.test"), one);
    CHECK(cache.size() == 0);
}

TEST_CASE("a save loads in the same order, and nothing else does")
{
    session_cache cache;
    session const older = issued_session();
    session const newer = issued_session();
    cache.keep(key("a.test"), older);
    cache.keep(key("a.test"), newer);
    cache.keep(key("b.test"), older);
    std::vector<std::byte> const saved = cache.save();

    session_cache loaded;
    CHECK(!loaded.load(saved));
    CHECK(loaded.size() == 3);
    CHECK(encode_session(loaded.take(key("a.test"))) == encode_session(newer));
    CHECK(encode_session(loaded.take(key("a.test"))) == encode_session(older));
    CHECK(!loaded.take(key("a.test")));

    // Each shorter text is refused as a whole, unless it ends between two sessions.
    std::size_t accepted = 0;
    for (std::size_t size = 0; size != saved.size(); ++size) {
        session_cache part;
        if (part.load(std::span{saved}.first(size)))
            CHECK(part.size() == 0);
        else
            ++accepted;
    }
    CHECK(accepted == 3); // No session, one, and two.
    std::vector<std::byte> other = saved;
    other[0] = std::byte{'x'};
    CHECK(session_cache{}.load(other) == boost::system::errc::bad_message);
}

} // namespace
} // namespace cleat::tls::session_cache_test
