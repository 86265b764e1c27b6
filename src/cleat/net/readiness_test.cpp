#include <cleat/net/readiness.hpp>

#include <boost/asio/error.hpp>
#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cleat::net::readiness_test {
namespace {

// A waiter that counts its wakes and calls a function at each.
struct bell : waiter
{
    bell()
    {
        wake = [](waiter& w, error_code ec) noexcept {
            bell& self = static_cast<bell&>(w);
            ++self.rung;
            self.error = ec;
            if (self.action != nullptr)
                self.action(self);
        };
    }

    int rung = 0;
    error_code error;
    void (*action)(bell&) = nullptr;
    readiness::entry* entry = nullptr;
    entry_ptr* owner = nullptr;
};

struct watched
{
    explicit watched(readiness& r, readiness::entry::trigger mode = readiness::entry::trigger::edge)
    {
        int fds[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
        entry.reset(new readiness::entry{r, unique_fd{fds[0]}, mode});
        other.reset(fds[1]);
    }

    void send(std::string_view text) const
    {
        REQUIRE(
            ::write(other.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    }

    // Reads until there is no more, as the owner of an edge-triggered descriptor does.
    std::size_t read_all() const
    {
        entry->use_up_read();
        std::array<char, 100> buffer{};
        std::size_t n = 0;
        for (ssize_t got = 0; (got = ::read(entry->fd(), buffer.data(), buffer.size())) > 0;)
            n += static_cast<std::size_t>(got);
        return n;
    }

    void fill() const
    {
        entry->use_up_write();
        std::array<char, 4096> const data{};
        while (::send(entry->fd(), data.data(), data.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
        }
    }

    void drain() const
    {
        std::array<char, 65536> buffer;
        while (::recv(other.get(), buffer.data(), buffer.size(), MSG_DONTWAIT) > 0) {
        }
    }

    entry_ptr entry;
    unique_fd other;
};

void turn(readiness& r)
{
    r.wait({});
    r.dispatch();
}

TEST_CASE("one event wakes one waiter once")
{
    readiness r;
    watched w{r};
    bell b;
    REQUIRE(!w.entry->wait_readable(b));
    turn(r);
    CHECK(b.rung == 0);
    w.send("x");
    turn(r);
    CHECK(b.rung == 1);
    CHECK(!b.error);
    CHECK(w.entry->readable());
    w.send("y");
    turn(r);
    CHECK(b.rung == 1); // It does not wait any more.
}

TEST_CASE("an event between two waits is remembered")
{
    readiness r;
    watched w{r};
    bell b;
    REQUIRE(!w.entry->wait_readable(b));
    w.send("x");
    turn(r);
    CHECK(w.read_all() == 1);
    CHECK(!w.entry->readable());
    w.send("y"); // There is no waiter.
    turn(r);
    CHECK(w.entry->readable());
}

TEST_CASE("an event that crosses the read is a wake-up too many, never one too few")
{
    readiness r;
    watched w{r};
    bell b;
    REQUIRE(!w.entry->wait_readable(b));
    w.send("x");
    turn(r);
    w.send("y"); // Comes before the read, its event is taken after.
    CHECK(w.read_all() == 2);
    turn(r);
    CHECK(w.read_all() == 0);
    REQUIRE(!w.entry->wait_readable(b));
    w.send("z");
    turn(r);
    CHECK(b.rung == 2);
}

TEST_CASE("a reader that stopped early calls more_to_read, and need not wait")
{
    readiness r;
    watched w{r};
    bell b;
    REQUIRE(!w.entry->wait_readable(b));
    w.send("xyz");
    turn(r);
    w.entry->use_up_read();
    w.entry->more_to_read();
    CHECK(w.entry->readable());
}

TEST_CASE("output is watched only where a waiter waits for it")
{
    readiness r;
    watched w{r};
    bell reader;
    REQUIRE(!w.entry->wait_readable(reader));
    turn(r);
    CHECK(!w.entry->writable());
    w.fill();
    bell writer;
    REQUIRE(!w.entry->wait_writable(writer));
    turn(r);
    CHECK(writer.rung == 0);
    w.drain();
    turn(r);
    CHECK(writer.rung == 1);
    CHECK(reader.rung == 0);
    CHECK(w.entry->writable());
    w.fill();
    CHECK(!w.entry->writable());
    REQUIRE(!w.entry->wait_writable(writer));
    w.drain();
    turn(r);
    CHECK(writer.rung == 2); // The watch lasts: a second time needs no registration.
}

TEST_CASE("one waiter for both directions is woken once")
{
    readiness r;
    watched w{r};
    bell b;
    REQUIRE(!w.entry->wait_readable(b));
    REQUIRE(!w.entry->wait_writable(b));
    w.send("x");
    turn(r);
    CHECK(b.rung == 1);
}

TEST_CASE("FIN is something to read, and is known to be the end")
{
    readiness r;
    watched w{r};
    bell b;
    REQUIRE(!w.entry->wait_readable(b));
    w.send("bye");
    REQUIRE(::shutdown(w.other.get(), SHUT_WR) == 0);
    turn(r);
    CHECK(b.rung == 1);
    CHECK(w.entry->ended());
    CHECK(w.read_all() == 3);
    CHECK(w.entry->ended());
}

TEST_CASE("a peer that closes without reading has failed, which is no end")
{
    readiness r;
    watched w{r};
    bell b;
    REQUIRE(!w.entry->wait_readable(b));
    REQUIRE(::write(w.entry->fd(), "unread", 6) == 6);
    w.other.reset();
    turn(r);
    CHECK(b.rung == 1);
    CHECK(!w.entry->ended());
    CHECK(w.entry->readable());
    CHECK(w.entry->writable());
}

TEST_CASE("a waiter that was forgotten is not woken")
{
    readiness r;
    watched w{r};
    bell b;
    REQUIRE(!w.entry->wait_readable(b));
    REQUIRE(!w.entry->wait_writable(b));
    w.entry->forget(b);
    w.send("x");
    turn(r);
    CHECK(b.rung == 0);
    REQUIRE(!w.entry->wait_readable(b)); // The place is free again.
}

TEST_CASE("a cancel wakes with its reason")
{
    readiness r;
    watched w{r};
    bell b;
    REQUIRE(!w.entry->wait_readable(b));
    w.entry->cancel(boost::asio::error::operation_aborted);
    CHECK(b.rung == 1);
    CHECK(b.error == boost::asio::error::operation_aborted);
    w.entry->cancel(boost::asio::error::operation_aborted);
    CHECK(b.rung == 1);
}

TEST_CASE("an entry that its own wake destroys is gone safely")
{
    readiness r;
    watched w{r};
    bell b;
    b.owner = &w.entry;
    b.action = [](bell& self) { self.owner->reset(); };
    bell writer;
    REQUIRE(!w.entry->wait_readable(b));
    REQUIRE(!w.entry->wait_writable(writer));
    w.send("x");
    turn(r);
    CHECK(b.rung == 1);
    CHECK(writer.rung == 0); // A closed entry is not writable.
}

TEST_CASE("an entry destroyed by an earlier event of the same batch is not touched by its own")
{
    readiness r;
    watched one{r};
    watched other{r};
    bell first;
    bell second;
    first.owner = &other.entry;
    second.owner = &one.entry;
    first.action = second.action = [](bell& self) { self.owner->reset(); };
    REQUIRE(!one.entry->wait_readable(first));
    REQUIRE(!other.entry->wait_readable(second));
    one.send("x");
    other.send("x");
    turn(r);
    CHECK(first.rung + second.rung == 1); // The first one that was woken closed the other.
}

TEST_CASE("a level-triggered entry repeats its event while bytes are left")
{
    readiness r;
    watched w{r, readiness::entry::trigger::level};
    bell b;
    REQUIRE(!w.entry->wait_readable(b));
    w.send("xy");
    turn(r);
    w.entry->use_up_read();
    char one = 0;
    REQUIRE(::read(w.entry->fd(), &one, 1) == 1);
    REQUIRE(!w.entry->wait_readable(b));
    turn(r);
    CHECK(b.rung == 2);
}

TEST_CASE("an entry that is not watched makes no events until the next wait")
{
    readiness r;
    watched w{r, readiness::entry::trigger::level};
    bell b;
    REQUIRE(!w.entry->wait_readable(b));
    w.entry->forget(b);
    w.entry->unwatch();
    w.entry->unwatch();
    w.send("x");
    turn(r);
    CHECK(!w.entry->readable());
    REQUIRE(!w.entry->wait_readable(b));
    turn(r);
    CHECK(b.rung == 1);
}

TEST_CASE("a level-triggered event that nobody waits for can leave the waits alone")
{
    readiness r;
    watched w{r, readiness::entry::trigger::level};
    bell b;
    REQUIRE(!w.entry->wait_readable(b));
    w.send("x");
    turn(r);
    REQUIRE(b.rung == 1);
    auto const is_found = [&r] {
        pollfd set{r.native_handle(), POLLIN, 0};
        return ::poll(&set, 1, 0) == 1;
    };
    turn(r);
    CHECK(is_found()); // The byte is still there.
    r.wait({});
    r.dispatch(readiness::unheard::unwatch);
    CHECK(!is_found());
    REQUIRE(!w.entry->wait_readable(b));
    turn(r);
    CHECK(b.rung == 2);
}

TEST_CASE("a wait has parts of a millisecond")
{
    readiness r;
    auto const before = std::chrono::steady_clock::now();
    r.wait(std::chrono::microseconds{1'300});
    CHECK(std::chrono::steady_clock::now() - before >= std::chrono::microseconds{1'300});
}

TEST_CASE("a descriptor that cannot be watched is an error of the wait")
{
    readiness r;
    entry_ptr const nothing{new readiness::entry{r, unique_fd{}}};
    bell b;
    CHECK(nothing->wait_readable(b) == boost::system::errc::bad_file_descriptor);
    CHECK(nothing->wait_writable(b) == boost::system::errc::bad_file_descriptor);
}

TEST_CASE("events of many descriptors come batch after batch")
{
    readiness r;
    std::vector<watched> all;
    std::vector<bell> bells(2 * limits::events_per_wait);
    for (bell& b : bells) {
        all.emplace_back(r);
        REQUIRE(!all.back().entry->wait_readable(b));
        all.back().send("x");
    }
    turn(r);
    turn(r);
    for (bell const& b : bells)
        CHECK(b.rung == 1);
}

} // namespace
} // namespace cleat::net::readiness_test
