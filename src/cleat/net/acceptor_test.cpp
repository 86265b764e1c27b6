// An acceptor on a worker that the test runs, and clients that connect over loopback at once.

#include <cleat/net/acceptor.hpp>
#include <cleat/net/worker.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <sys/socket.h>

namespace cleat::net::acceptor_test {
namespace {

// Calls a function in each turn of the worker's loop, until it returns false.
struct each_turn : task_node
{
    each_turn(worker& w, std::function<bool()> f) : owner{w}, function{std::move(f)}
    {
        finish = [](task_node& node, bool run) {
            each_turn& self = static_cast<each_turn&>(node);
            if (run && self.function())
                self.owner.push_here(self, priority::established);
        };
        owner.push_here(*this, priority::established);
    }

    worker& owner;
    std::function<bool()> function;
};

// A listening socket, its acceptor, and the connections that it has accepted.
struct acceptor_scene
{
    explicit acceptor_scene(int backlog = 1024)
    {
        listen_options options;
        options.backlog = backlog;
        options.defer_accept = false;
        unique_fd listening = listen_on(resolve("127.0.0.1", "0").value().front(), options).value();
        bound = local_address(listening.get()).value();
        acceptor_spec spec{
            .serve =
                [this](unique_fd fd, address const& peer) { return serve(std::move(fd), peer); },
            .on_pause =
                [this](error_code why) {
                    pauses.push_back(why);
                    on_pause();
                },
            .backlog = backlog};
        accepting = std::make_unique<acceptor>(w, std::move(listening), std::move(spec));
    }

    error_code serve(unique_fd fd, address const& peer)
    {
        CHECK(peer.port() != 0);
        accepted.push_back(std::move(fd));
        turns.push_back(w.passes());
        return on_accept();
    }

    // A connection is in the kernel's queue when this returns.
    void connect(int count = 1)
    {
        for (int i = 0; i < count; ++i) {
            unique_fd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
            REQUIRE(::connect(fd.get(), bound.data(), bound.size) == 0);
            clients.push_back(std::move(fd));
        }
    }

    // True: the other end is open, and has sent nothing.
    static bool is_open(unique_fd const& client)
    {
        char byte = 0;
        return ::recv(client.get(), &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
    }

    // How many connections each turn that accepted any has taken.
    [[nodiscard]] std::vector<std::size_t> batches() const
    {
        std::vector<std::size_t> sizes;
        for (std::size_t i = 0; i < turns.size(); ++i)
            if (i == 0 || turns[i] != turns[i - 1])
                sizes.push_back(1);
            else
                ++sizes.back();
        return sizes;
    }

    // Runs the worker until `met`, called in each turn, returns true.
    void run_until(std::function<bool()> met)
    {
        each_turn const watching{w, [&] {
                                     if (!met())
                                         return true;
                                     w.stop();
                                     return false;
                                 }};
        w.run();
    }

    worker w;
    address bound;
    std::function<error_code()> on_accept = [] { return error_code{}; };
    std::function<void()> on_pause = [] {};
    std::vector<unique_fd> clients;
    std::vector<unique_fd> accepted;
    std::vector<std::uint64_t> turns;
    std::vector<error_code> pauses;
    std::unique_ptr<acceptor> accepting;
};

constexpr std::size_t many = 200;

} // namespace

TEST_CASE("connections that have not been accepted are counted in the kernel's queue")
{
    acceptor_scene s;
    CHECK(s.accepting->queued() == 0);
    s.connect(3);
    CHECK(s.accepting->queued() == 3);
    s.run_until([&] { return s.accepted.size() == 3; });
    CHECK(s.accepting->queued() == 0);
    s.connect();
    s.accepting->close(); // Takes the last one.
    CHECK(s.accepting->queued() == 0);
    CHECK(s.accepted.size() == 4);
}

TEST_CASE("an acceptor takes all that connect, more with each look that finds one waiting")
{
    acceptor_scene s;
    s.connect(many);
    s.run_until([&] { return s.accepted.size() == many; });
    std::vector<std::size_t> const sizes = s.batches();
    // The loop's time for handshakes may end a batch early, but not each of two hundred.
    CHECK(sizes.size() < many);
    std::size_t most = 2; // The first look of a worker that has just begun is one that finds some.
    for (std::size_t const size : sizes) {
        CHECK(size <= most);
        most = std::min<std::size_t>(most * 2, limits::accept_batch_max);
    }
    for (unique_fd const& each : s.clients)
        CHECK(acceptor_scene::is_open(each));
}

TEST_CASE("an acceptor takes one connection a turn again once they come one by one")
{
    acceptor_scene s;
    s.connect(many);
    std::uint64_t quiet_since = 0;
    s.run_until([&] {
        if (s.accepted.size() == many && quiet_since == 0)
            quiet_since = s.w.passes();
        if (quiet_since != 0 && s.w.passes() == quiet_since + 5)
            s.connect(2);
        return s.accepted.size() == many + 2;
    });
    CHECK(s.turns[many] > quiet_since);
    CHECK(s.turns[many + 1] == s.turns[many] + 1);
}

TEST_CASE("an acceptor without descriptors pauses, and then accepts what has waited")
{
    acceptor_scene s;
    s.connect(3);
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    rlimit none = before;
    none.rlim_cur = 0;
    s.on_pause = [&] { REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0); };
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    auto const began = worker::clock::now();
    s.run_until([&] { return s.accepted.size() == 3; });
    CHECK(worker::clock::now() - began >= limits::accept_pause);
    REQUIRE(s.pauses.size() == 1);
    CHECK(s.pauses[0] == boost::system::errc::too_many_files_open);
}

TEST_CASE("an acceptor pauses when there is no memory to serve a connection, and for nothing less")
{
    acceptor_scene s;
    s.connect(3);
    s.on_accept = [&] {
        return s.accepted.size() == 1 ? make_error_code(boost::system::errc::not_enough_memory)
                                      : make_error_code(boost::system::errc::connection_reset);
    };
    s.run_until([&] { return s.accepted.size() == 3; });
    CHECK(s.pauses.size() == 1);
    CHECK(s.pauses[0] == boost::system::errc::not_enough_memory);
}

TEST_CASE(
    "a close first takes the connections that the kernel has queued, the backlog and one more")
{
    constexpr int backlog = 7;
    acceptor_scene s{backlog};
    s.connect(backlog + 1);
    s.accepting->close();
    CHECK(s.accepted.size() == backlog + 1);
    for (unique_fd const& each : s.clients)
        CHECK(acceptor_scene::is_open(each));
    unique_fd const late{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    CHECK(::connect(late.get(), s.bound.data(), s.bound.size) != 0);
    s.accepting->close(); // Nothing more to close.
    CHECK(s.accepted.size() == backlog + 1);
}

TEST_CASE("a close ends with the connections for which there are resources")
{
    acceptor_scene s;
    s.connect(3);
    s.on_accept = [] { return make_error_code(boost::system::errc::not_enough_memory); };
    s.accepting->close();
    CHECK(s.accepted.size() == 1);
    CHECK(s.pauses.size() == 1);
}

TEST_CASE("an acceptor may be closed and destroyed while it waits, pauses or is queued")
{
    acceptor_scene s;
    SUBCASE("waits") {}
    SUBCASE("pauses")
    {
        s.connect(1);
        s.on_accept = [] { return make_error_code(boost::system::errc::not_enough_memory); };
        s.run_until([&] { return s.pauses.size() == 1; });
    }
    SUBCASE("is queued")
    {
        s.connect(1);
        // This function runs before the worker's time for handshakes, so in the turn that finds the
        // connection the acceptor is still queued.
        std::uint64_t const first = s.w.passes() + 1;
        s.run_until([&] {
            CHECK(s.w.passes() == first);
            CHECK(s.accepted.empty());
            s.accepting.reset();
            return true;
        });
        CHECK(s.accepted.empty());
    }
    std::size_t const before = s.accepted.size();
    s.accepting.reset();
    CHECK(s.accepted.size() == before);
}

TEST_CASE("an acceptor may be closed by the connection that it has just accepted")
{
    acceptor_scene s;
    s.connect(3);
    s.on_accept = [&] {
        if (s.accepted.size() == 1)
            s.accepting->close();
        return error_code{};
    };
    s.run_until([&] { return s.accepted.size() == 3; });
    CHECK(s.pauses.empty());
}

} // namespace cleat::net::acceptor_test
