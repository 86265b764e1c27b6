#include "health/checker.hpp"

#include <cleat/core/temporary_folder_for_tests.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <semaphore>
#include <string>
#include <utility>

#include <sys/socket.h>

namespace cleat::app::checker_test {
namespace {

using namespace std::chrono_literals;

unique_fd listen_at(net::address const& address)
{
    unique_fd made{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    REQUIRE(::bind(made.get(), address.data(), address.size) == 0);
    REQUIRE(::listen(made.get(), 100) == 0);
    return made;
}

struct checks
{
    [[nodiscard]] check_target target(std::string const& name, unsigned rise, unsigned fall) const
    {
        check_target made;
        made.upstream = "app";
        made.server = name;
        made.addresses = {net::unix_address((folder.path() / name).string()).value()};
        made.rule = {.is_on = true, .interval = 1ms, .timeout = 1000ms, .rise = rise, .fall = fall};
        return made;
    }
    // Waits for it.
    [[nodiscard]] std::unique_ptr<check_news> next()
    {
        std::unique_ptr<check_news> news = thread.next_news();
        while (!news) {
            REQUIRE(arrived.try_acquire_for(60s));
            news = thread.next_news();
        }
        return news;
    }

    temporary_folder folder;
    std::counting_semaphore<> arrived{0};
    checker thread{[this] { arrived.release(); }};
};

} // namespace

TEST_CASE_FIXTURE(checks, "the first result is told, and then each change")
{
    check_target const one = target("a", 2, 3);
    unique_fd server = listen_at(one.addresses.front());
    thread.follow({one});
    std::unique_ptr<check_news> news = next();
    CHECK(news->server == "a");
    CHECK_FALSE(news->is_down);

    server.reset();
    news = next();
    CHECK(news->is_down);
    CHECK(news->reason == "Connection refused");
    CHECK(news->checks == 3);

    std::filesystem::remove(folder.path() / "a");
    server = listen_at(one.addresses.front());
    news = next();
    CHECK_FALSE(news->is_down);
    CHECK(news->checks == 2);
}

TEST_CASE_FIXTURE(checks, "a server that was down before goes on so until it passes")
{
    check_target one = target("a", 1, 3);
    one.is_down = true;
    thread.follow({one});
    std::unique_ptr<check_news> news = next();
    CHECK(news->is_down);
    unique_fd const server = listen_at(one.addresses.front());
    news = next();
    CHECK_FALSE(news->is_down);
}

TEST_CASE_FIXTURE(checks, "other targets replace those before")
{
    check_target const one = target("a", 1, 1);
    check_target const other = target("b", 1, 1);
    thread.follow({one});
    CHECK(next()->server == "a");
    check_target known = one;
    known.is_down = known.is_known = true;
    thread.follow({known, other}); // The first goes on, and has nothing new to tell.
    CHECK(next()->server == "b");
    unique_fd const server = listen_at(one.addresses.front());
    CHECK(next()->server == "a");
    thread.follow({});
}

TEST_CASE("a target that went and came back before the thread saw it is told again")
{
    checks const names;
    check_target const one = names.target("a", 1, 1); // It does not listen.
    std::counting_semaphore<> arrived{0};
    std::binary_semaphore goes_on{0};
    bool is_held = false; // The thread's.
    checker thread{[&] {
        arrived.release();
        if (!std::exchange(is_held, true))
            goes_on.acquire();
    }};
    std::uint64_t const first = thread.follow({one});
    REQUIRE(arrived.try_acquire_for(60s));
    CHECK(thread.next_news()->order == first);
    thread.follow({});
    std::uint64_t const last = thread.follow({one}); // Nothing is known of it any more.
    goes_on.release();
    REQUIRE(arrived.try_acquire_for(60s));
    std::unique_ptr<check_news> const news = thread.next_news();
    REQUIRE(news != nullptr);
    CHECK(news->order == last);
    CHECK(news->is_down);
}

} // namespace cleat::app::checker_test
