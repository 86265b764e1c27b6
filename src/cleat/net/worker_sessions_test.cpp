// worker_sessions: a handshake gets the session that another worker has, or goes on without it.

#include <cleat/net/task.hpp>
#include <cleat/net/worker_sessions.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <thread>

namespace cleat::net::worker_sessions_test {
namespace {

using namespace std::chrono_literals;

constexpr std::array<std::byte, 3> stored{std::byte{1}, std::byte{2}, std::byte{3}};

tls::session_id id_at(std::size_t worker)
{
    tls::session_id id{};
    id.back() = 7;
    tls::name_worker(id, worker);
    return id;
}

/// Two workers. The first asks; the second has a session.
struct two_workers
{
    two_workers()
    {
        asking.cache().bound(10, 60s);
        asked.cache().bound(10, 60s);
        asked.cache().keep(id_at(1), stored, tls::session_id_cache::clock::now());
    }

    // A handshake that waits, and then does this.
    detached wait(std::function<void()> then)
    {
        asking.cache().ask(id_at(1));
        outcome = co_await worker_sessions::answer{asking, interrupt};
        found = asking.cache().take_answer(id_at(1));
        then();
    }

    [[nodiscard]] bool has_session() const
    {
        return found && std::ranges::equal(found->bytes(), stored);
    }

    session_owners owners{2};
    worker one{0};
    worker other{1};
    worker_sessions asking{one, owners};
    worker_sessions asked{other, owners};
    net::interrupt interrupt{one};
    std::optional<error_code> outcome;
    std::optional<tls::encoded_session> found;
};

TEST_CASE_FIXTURE(two_workers, "a handshake gets another worker's session")
{
    wait([this] { one.stop(); });
    CHECK(!outcome);
    std::jthread const serving{[this] { other.run(); }};
    one.run();
    other.stop();
    REQUIRE(outcome);
    CHECK(!*outcome);
    CHECK(has_session());
    CHECK(asked.cache().size() == 1);
}

TEST_CASE_FIXTURE(
    two_workers, "a worker that does not answer has no session, and a late answer is lost")
{
    wait([this] { one.stop(); });
    one.run(); // Until the answer is late: the other worker does not run.
    REQUIRE(outcome);
    CHECK(!*outcome);
    REQUIRE(found);
    CHECK(found->empty());
}

TEST_CASE_FIXTURE(two_workers, "a worker that has ended is not asked")
{
    asked.end();
    wait([] {});
    REQUIRE(outcome);
    CHECK(!*outcome);
    REQUIRE(found);
    CHECK(found->empty());
}

TEST_CASE_FIXTURE(two_workers, "a handshake that is interrupted waits no more")
{
    wait([] {});
    CHECK(!outcome);
    interrupt.raise(error::handshake_timeout);
    REQUIRE(outcome);
    CHECK(*outcome == error::handshake_timeout);
    // The answer finds nobody.
    std::jthread const serving{[this] { other.run(); }};
    interrupt.clear();
    wait([this] { one.stop(); });
    one.run();
    other.stop();
    CHECK(!*outcome);
    CHECK(has_session());
}

} // namespace
} // namespace cleat::net::worker_sessions_test
