// Operations that find no memory for their waits, and other operations of the same stream.

#include <cleat/net/coroutines_for_tests.hpp>
#include <cleat/net/worlds_for_tests.hpp>

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>

namespace asio = boost::asio;

namespace cleat::net::stream_memory_test {
namespace {

/// scarce is an allocator that throws std::bad_alloc while `none` is true.
template <class T>
struct scarce
{
    using value_type = T;

    explicit scarce(bool const& none) : none_left{&none} {}
    template <class U>
    scarce(scarce<U> const& other) : none_left{other.none_left}
    {
    }

    T* allocate(std::size_t n)
    {
        if (*none_left)
            throw std::bad_alloc{};
        return std::allocator<T>{}.allocate(n);
    }
    void deallocate(T* p, std::size_t n) { std::allocator<T>{}.deallocate(p, n); }

    bool operator==(scarce const&) const = default;

    bool const* none_left;
};

/// reading is one read of a stream, with memory of its own.
struct reading
{
    void start(auto& s)
    {
        s.async_read_some(
            asio::buffer(block),
            asio::bind_allocator(scarce<char>{no_memory}, [this](error_code e, std::size_t n) {
                ec = e;
                bytes = n;
            }));
    }

    bool no_memory = false;
    std::string block = std::string(100, '\0');
    std::optional<error_code> ec{};
    std::size_t bytes = 0;
};

/// established runs `scenario` on two ends whose handshake is done.
template <class World, class Scenario>
void established(Scenario scenario)
{
    World world;
    both_ends<World> pair{world};
    spawn(world, handshake(pair.server, stream_base::server));
    spawn(world, [](auto& ends, Scenario next) -> asio::awaitable<void> {
        co_await handshake(ends.client, stream_base::client);
        co_await wait_until_established(ends.server);
        co_await next(ends);
    }(pair, std::move(scenario)));
    world.run();
}

} // namespace

TEST_CASE_TEMPLATE(
    "a read that finds no memory to begin leaves the stream to the next one", World, socket_world,
    split_world, worker_world)
{
    established<World>([](auto& ends) -> asio::awaitable<void> {
        reading refused{.no_memory = true};
        CHECK_THROWS_AS(refused.start(ends.server), std::bad_alloc);
        CHECK(!refused.ec);

        reading next;
        next.start(ends.server);
        co_await asio::async_write(ends.client, asio::buffer("hello", 5), asio::use_awaitable);
        co_await settle();
        REQUIRE(next.ec);
        CHECK(!*next.ec);
        CHECK(std::string_view{next.block}.substr(0, next.bytes) == "hello");
    });
}

TEST_CASE_TEMPLATE(
    "a read that finds no memory to go on ends with not_enough_memory, and leaves the stream to "
    "the next",
    World, socket_world, split_world, worker_world)
{
    established<World>([](auto& ends) -> asio::awaitable<void> {
        reading first;
        first.start(ends.server);
        co_await settle();
        REQUIRE(!first.ec);
        reading queued;
        queued.start(ends.server);

        first.no_memory = true;
        // Half the header of a record: the read wakes, and has to wait again.
        auto& wire = ends.client.lowest_layer();
        REQUIRE(::send(wire.native_handle(), "\x17\x03", 2, MSG_NOSIGNAL) == 2);
        co_await settle();
        REQUIRE(first.ec);
        CHECK(*first.ec == boost::system::errc::not_enough_memory);

        // The other read waits now: it gets the end of the stream.
        CHECK(!queued.ec);
        wire.close();
        co_await settle();
        REQUIRE(queued.ec);
        CHECK(*queued.ec);
    });
}

} // namespace cleat::net::stream_memory_test
