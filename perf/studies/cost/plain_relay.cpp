// The relay of the study of what TLS costs: what is left of cleat without TLS.
//
// Same worker, readiness, sockets and coroutines, same turns and socket options, and the client's
// first bytes go out with the connection to the upstream: what cleat needs beyond this is TLS. It
// has no log, no PROXY protocol, and no upstream with several addresses or with an answer before
// the request's end.
#include "loopback.hpp"

#include <cleat/core/adaptive_turn.hpp>
#include <cleat/core/byte_queue.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/net/acceptor.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/scratch.hpp>
#include <cleat/net/socket.hpp>
#include <cleat/net/task.hpp>
#include <cleat/net/worker_pool.hpp>

#include <CLI/CLI.hpp>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include <malloc.h>

namespace {

namespace limits = cleat::limits;
namespace net = cleat::net;

constexpr std::chrono::seconds connect_timeout{30};

// side is one of a connection's two sockets, with the bytes that it did not take yet.
struct side
{
    side(net::worker& worker, cleat::unique_fd fd) : socket{worker, std::move(fd)} {}

    [[nodiscard]] net::readiness::entry& entry() const noexcept { return socket.entry(); }
    [[nodiscard]] bool full() const noexcept { return !unsent.empty(); }

    // send keeps what the socket does not take; an error says that the connection is broken.
    [[nodiscard]] cleat::error_code send(std::span<std::byte const> bytes, bool more)
    {
        set_no_delay();
        net::io_result const r = socket.send(bytes, more);
        if (r.error || r.bytes == bytes.size() ||
            unsent.append(bytes.subspan(r.bytes), limits::unsent_max))
            return r.error;
        return make_error_code(boost::system::errc::not_enough_memory);
    }

    [[nodiscard]] cleat::error_code flush()
    {
        set_no_delay();
        net::io_result const r = socket.send(unsent.front());
        unsent.consume(r.bytes);
        return r.error;
    }

    // One request needs no such call: Nagle's algorithm holds back no first packet.
    void set_no_delay() noexcept
    {
        if (sends++ == 1)
            net::set_no_delay(socket.native_handle());
    }

    net::socket socket;
    cleat::byte_queue unsent;
    int sends = 0;
};

// half is one direction: bytes, then the end of them. A sink that is full stops the source.
class half
{
public:
    half(side& from, side& to) noexcept : from_{from}, to_{to} {}

    [[nodiscard]] bool reads() const noexcept { return open_ && !to_.full(); }
    [[nodiscard]] bool passes_end() const noexcept { return !open_ && !to_.full() && !over_; }
    [[nodiscard]] bool over() const noexcept { return over_; }
    void end_passed() noexcept { over_ = true; }

    // take_turn moves at most one turn; false when a side is broken.
    [[nodiscard]] bool take_turn()
    {
        if (to_.full() && to_.entry().writable() && to_.flush())
            return false;
        return !reads() || !from_.entry().readable() || move();
    }

private:
    [[nodiscard]] bool move()
    {
        std::span<std::byte> const block =
            net::scratch::of_this_thread().plaintext().first(turn_.size());
        bool const ended = from_.entry().ended();
        net::io_result const r = from_.socket.receive(block);
        if (r.would_block)
            return true;
        if (r.error) {
            open_ = false;
            return r.error == cleat::error::closed;
        }
        bool const whole = r.bytes == block.size();
        open_ = !ended || whole; // A short read behind which the FIN is was the last one.
        if (whole)
            from_.entry().more_to_read();
        if (to_.send(block.first(r.bytes), !open_))
            return false;
        if (to_.full())
            turn_.shrink();
        else
            turn_.used(r.bytes);
        return true;
    }

    side& from_;
    side& to_;
    cleat::adaptive_turn<limits::turn_min, limits::turn_max> turn_;
    bool open_ = true;
    bool over_ = false; // Its end has been passed on.
};

// connect begins, and sends the client's first bytes at once: on loopback the connection is there
// by then. It gives the error of the connection.
net::task<cleat::error_code> connect(
    net::interrupt& interrupt, side& upstream, net::address const& upstream_address,
    std::span<std::byte const> first)
{
    int const fd = upstream.socket.native_handle();
    if (::connect(fd, upstream_address.data(), upstream_address.size) != 0 && errno != EINPROGRESS)
        co_return cleat::last_system_error();
    cleat::error_code const sent = upstream.send(first, false);
    if (sent || !upstream.full())
        co_return sent;
    interrupt.expires_in(connect_timeout, cleat::error::connect_timeout);
    net::interest const writable{&upstream.entry(), false, true};
    cleat::error_code const interrupted = co_await net::ready{interrupt, writable};
    interrupt.clear();
    co_return interrupted ? interrupted : upstream.socket.error();
}

// relay_both copies both ways until both have ended (true), or a side has broken.
net::task<bool> relay_both(net::interrupt& interrupt, side& client, side& upstream)
{
    half up{client, upstream};
    half down{upstream, client};
    for (;;) {
        if (!down.take_turn() || !up.take_turn())
            co_return false;
        if (up.passes_end()) {
            up.end_passed();
            if (!down.over()) // Closing sends the same FIN, with one system call less.
                upstream.socket.shutdown_send();
        }
        if (down.passes_end()) {
            down.end_passed();
            if (!up.over())
                client.socket.shutdown_send();
        }
        if (up.over() && down.over())
            co_return true;
        if (down.over())
            interrupt.expires_in(limits::linger_timeout, cleat::error::idle_timeout);
        // A side that is not read may break all the same; where it is read, reading reports it.
        net::interest const client_interest{&client.entry(), up.reads(), client.full(), true};
        net::interest const upstream_interest{
            &upstream.entry(), down.reads(), upstream.full(), true};
        if ((!client_interest.read && client.entry().broken()) ||
            (!upstream_interest.read && upstream.entry().broken()))
            co_return false;
        cleat::error_code const interrupted =
            co_await net::ready{interrupt, client_interest, upstream_interest};
        if (interrupted)
            co_return false;
    }
}

net::detached serve(
    net::worker& worker, net::address const& upstream_address, cleat::unique_fd accepted)
{
    net::interrupt interrupt{worker};
    side client{worker, std::move(accepted)};
    client.sends = 2; // It has TCP_NODELAY from the listening socket.

    // It was accepted when its first bytes were there.
    std::span<std::byte> const block =
        net::scratch::of_this_thread().plaintext().first(limits::turn_min);
    net::io_result const first = client.socket.receive(block);
    if (first.error && first.error != cleat::error::closed)
        co_return;
    if (first.error || first.bytes == block.size())
        client.entry().more_to_read();

    side upstream{
        worker, cleat::unique_fd{::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)}};
    cleat::error_code const failed =
        co_await connect(interrupt, upstream, upstream_address, block.first(first.bytes));
    if (!failed) {
        bool const whole = co_await relay_both(interrupt, client, upstream);
        if (whole)
            co_return;
    }
    // An RST for an RST: no peer may take half of the data for all of it.
    client.socket.reset();
    upstream.socket.reset();
}

net::address address_of(std::string const& text)
{
    std::size_t const colon = text.rfind(':');
    if (colon == std::string::npos)
        throw std::invalid_argument{text + " is no address with a port"};
    return net::resolve(text.substr(0, colon), text.substr(colon + 1)).value().front();
}

void run(std::string const& listen, std::string const& upstream)
{
    sigset_t signals;
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGINT);
    ::sigaddset(&signals, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr); // For the worker's thread as well.

    // As cleat does: memory that a turn has needed is not given back to be asked for again.
    constexpr int kept = 32 * 1024 * 1024;
    ::mallopt(M_TRIM_THRESHOLD, kept);
    ::mallopt(M_MMAP_THRESHOLD, kept);

    net::address const upstream_address = address_of(upstream);
    net::listen_options options;
    options.backlog = 4096;
    cleat::unique_fd listener = net::listen_on(address_of(listen), options).value();
    perf::announce(listener.get());
    std::unique_ptr<net::acceptor> accepting;
    net::worker_pool_spec spec;
    spec.workers = 1;
    spec.pin = false;
    spec.begin = [&](net::worker& worker) {
        net::acceptor_spec connections{
            .serve =
                [&](cleat::unique_fd accepted, net::address const&) {
                    serve(worker, upstream_address, std::move(accepted));
                    return cleat::error_code{};
                },
            .backlog = options.backlog};
        accepting =
            std::make_unique<net::acceptor>(worker, std::move(listener), std::move(connections));
    };
    spec.end = [&](net::worker&) { accepting.reset(); };
    net::worker_pool pool{std::move(spec)};
    int signal = 0;
    ::sigwait(&signals, &signal);
    pool.interrupt_all();
    pool.drain(limits::handler_end_max);
    pool.stop();
}

} // namespace

int main(int argc, char** argv)
try {
    std::string listen = "127.0.0.1:0";
    std::string upstream;
    CLI::App app{"The relay of cleat without TLS, for the study of what TLS costs"};
    app.add_option("--listen", listen, "address and port; port 0 picks one");
    app.add_option("--upstream", upstream, "address and port")->required();
    CLI11_PARSE(app, argc, argv);
    perf::raise_open_files();
    run(listen, upstream);
    return 0;
} catch (std::exception const& e) {
    std::fprintf(stderr, "study-plain-relay: %s\n", e.what());
    return 1;
}
