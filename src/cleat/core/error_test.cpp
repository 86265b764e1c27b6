#include <cleat/core/error.hpp>

#include <doctest/doctest.h>

#include <cerrno>
#include <set>
#include <string>

namespace cleat::error_test {

TEST_CASE("there is one category, named cleat")
{
    CHECK(&error_category() == &error_category());
    CHECK(error_category().name() == std::string{"cleat"});
    error_code const ec = error::truncated;
    CHECK(&ec.category() == &error_category());
    CHECK(ec.failed());
    CHECK(ec == error::truncated);
    CHECK(ec != error::closed);
}

TEST_CASE("every error has a name and a text of its own")
{
    std::set<std::string> names;
    std::set<std::string> texts;
    int const first = static_cast<int>(error::handshake_timeout);
    int const last = static_cast<int>(error::library);
    for (int value = first; value <= last; ++value) {
        CAPTURE(value);
        error const e{value};
        CHECK(name_of(e) != "unknown");
        CHECK(name_of(e).find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string::npos);
        CHECK(names.emplace(name_of(e)).second);
        CHECK(texts.emplace(make_error_code(e).message()).second);
    }
}

TEST_CASE("no value beyond the last is in use: the test above would miss it")
{
    CHECK(name_of(error{0}) == "unknown");
    CHECK(name_of(error{static_cast<int>(error::library) + 1}) == "unknown");
}

TEST_CASE("errors of a program's calls are those of the system, too")
{
    namespace errc = boost::system::errc;
    for (error const e :
         {error::wrong_role, error::bad_host_name, error::no_session, error::bad_verify_setting})
        CHECK(make_error_code(e) == errc::invalid_argument);
    CHECK(make_error_code(error::no_handshake) == errc::not_connected);
    CHECK(make_error_code(error::handshake_begun) == errc::already_connected);
    CHECK(make_error_code(error::library) != errc::invalid_argument);
    CHECK(
        make_error_code(error::library) ==
        make_error_code(error::library).default_error_condition());
}

TEST_CASE("a result is a value or an error")
{
    result<int> const good = 7;
    CHECK(good.value() == 7);
    result<int> const bad = error::unsupported;
    REQUIRE(!bad);
    CHECK(bad.error() == error::unsupported);
}

TEST_CASE("last_system_error is errno, and a reset is recognized for reads and writes")
{
    errno = EPIPE;
    CHECK(last_system_error() == boost::system::errc::broken_pipe);
    CHECK(is_reset(last_system_error()));
    errno = ECONNRESET;
    CHECK(is_reset(last_system_error()));
    errno = ECONNREFUSED;
    CHECK(!is_reset(last_system_error()));
    CHECK(!is_reset({}));
    CHECK(!is_reset(error::truncated));
}

} // namespace cleat::error_test
