// socket: a connected stream socket of a worker, with non-blocking calls and waits of every style.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/core/unique_fd.hpp>
#include <cleat/net/executor.hpp>
#include <cleat/net/readiness.hpp>
#include <cleat/net/socket_options.hpp>
#include <cleat/net/worker.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/socket_base.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace cleat::net {

/// io_result is what one non-blocking call gave: bytes, "would block" (no bytes, no error), or an
/// error.
struct io_result
{
    std::size_t bytes = 0;
    bool would_block = false;
    error_code error{}; ///< error::closed: the peer's FIN.
};

/// socket owns a connected TCP or UNIX stream socket and its place in the worker's readiness. It
/// lives on its worker's thread. It models Asio's AsyncReadStream and AsyncWriteStream.
class socket
{
public:
    using executor_type = executor;
    using lowest_layer_type = socket;
    using wait_type = boost::asio::socket_base::wait_type;
    static constexpr wait_type wait_read = boost::asio::socket_base::wait_read;
    static constexpr wait_type wait_write = boost::asio::socket_base::wait_write;

    socket(worker& on, unique_fd fd)
        : on_{&on}, entry_{new readiness::entry{on.readiness(), std::move(fd)}}
    {
    }

    socket(socket&&) noexcept = default;
    socket& operator=(socket&& other) noexcept
    {
        if (this != &other) {
            close();
            on_ = other.on_;
            entry_ = std::move(other.entry_);
        }
        return *this;
    }
    ~socket() { close(); }

    [[nodiscard]] executor get_executor() const noexcept { return on_->get_executor(); }
    [[nodiscard]] worker& on() const noexcept { return *on_; }
    [[nodiscard]] socket& lowest_layer() noexcept { return *this; }
    [[nodiscard]] socket const& lowest_layer() const noexcept { return *this; }
    [[nodiscard]] bool is_open() const noexcept { return entry_ != nullptr; }
    [[nodiscard]] int native_handle() const noexcept { return entry_ ? entry_->fd() : -1; }
    [[nodiscard]] readiness::entry& entry() const noexcept { return *entry_; }

    /// set_priority says how what waits for this socket is served where its worker has much to do.
    void set_priority(priority p) const noexcept { entry_->set_priority(p); }

    /// receive reads what is there, into all of `into` if there is that much.
    [[nodiscard]] io_result receive(std::span<std::byte> into) noexcept;

    /// send writes what the socket takes. With `more`, the rest of a packet is known to follow at
    /// once.
    [[nodiscard]] io_result send(std::span<std::byte const> from, bool more = false) noexcept;

    /// error takes what broke the connection, once; no error where nothing has.
    [[nodiscard]] error_code error() noexcept;

    /// unacknowledged is how much of what was sent the peer's kernel has not got or not taken:
    /// bytes, and 1 for a FIN (SIOCOUTQ, tcp(7)). 0 where that is not known.
    [[nodiscard]] std::size_t unacknowledged() const noexcept;

    /// unsent is how much of what was sent this machine's kernel still holds back, since the peer
    /// or the network takes no more: an RST now would destroy it. Bytes (SIOCOUTQNSD of
    /// linux/sockios.h). 0 where that is not known.
    [[nodiscard]] std::size_t unsent() const noexcept;

    /// shutdown_send sends FIN behind everything sent.
    void shutdown_send() noexcept;

    /// reset closes with RST instead of FIN: the peer learns that this was no clean end.
    void reset() noexcept;

    /// close closes the descriptor; waits of Asio operations end with operation_aborted.
    void close() noexcept;

    /// cancel ends waits with operation_aborted.
    void cancel() noexcept;

    /// async_wait completes when the socket is readable or writable. Honours per-operation
    /// cancellation.
    template <class Token>
    auto async_wait(wait_type what, Token&& token)
    {
        return boost::asio::async_initiate<Token, void(error_code)>(
            [this](auto&& handler, wait_type w) { this->start_wait(handler, w); }, token, what);
    }

    template <class Buffers, class Token>
    auto async_read_some(Buffers const& buffers, Token&& token);

    template <class Buffers, class Token>
    auto async_write_some(Buffers const& buffers, Token&& token);

private:
    template <class Handler>
    class wait_op;
    template <class Handler>
    void start_wait(Handler& handler, wait_type what);

    worker* on_;
    entry_ptr entry_;
};

/// socket::wait_op is one async_wait: it lives until its handler is on its way.
template <class Handler>
class socket::wait_op : waiter, task_node
{
public:
    /// start moves the handler away once there is memory for the wait, and not before: whoever
    /// finds none still has it.
    static void start(socket& s, Handler& handler, wait_type what)
    {
        auto allocator = boost::asio::get_associated_allocator(handler);
        using rebound =
            typename std::allocator_traits<decltype(allocator)>::template rebind_alloc<wait_op>;
        rebound memory{allocator};
        wait_op* const op = std::allocator_traits<rebound>::allocate(memory, 1);
        new (op) wait_op{s, std::move(handler)};
        op->begin(what);
    }

private:
    wait_op(socket& s, Handler handler)
        : waiter{&wait_op::on_wake}
        , on_{s.on_}
        , entry_{s.entry_.get()}
        , handler_{std::move(handler)}
    {
    }

    void begin(wait_type what)
    {
        readiness::entry& e = *entry_;
        bool const read = what != wait_write;
        error_code ec;
        if (read ? e.readable() : e.writable())
            return complete(ec);
        ec = read ? e.wait_readable(*this) : e.wait_writable(*this);
        if (ec)
            return complete(ec);
        auto slot = boost::asio::get_associated_cancellation_slot(handler_);
        if (slot.is_connected())
            slot.assign([this](boost::asio::cancellation_type) {
                entry_->forget(*this);
                complete(boost::asio::error::operation_aborted);
            });
    }

    static void on_wake(waiter& w, error_code ec) noexcept
    {
        static_cast<wait_op&>(w).complete(ec);
    }

    // Queued, not called: the wake may come from the initiating function, or from inside a close.
    // The operation is its own place in the queue, so that a wait that has begun can always end.
    void complete(error_code ec) noexcept
    {
        auto slot = boost::asio::get_associated_cancellation_slot(handler_);
        if (slot.is_connected())
            slot.clear();
        ec_ = ec;
        finish = &wait_op::on_turn;
        on_->push_here(*this, ec ? priority::established : entry_->priority());
    }

    static void on_turn(task_node& node, bool run)
    {
        wait_op& self = static_cast<wait_op&>(node);
        Handler handler{std::move(self.handler_)};
        executor const on = self.on_->get_executor();
        error_code const ec = self.ec_;
        auto allocator = boost::asio::get_associated_allocator(handler);
        using rebound =
            typename std::allocator_traits<decltype(allocator)>::template rebind_alloc<wait_op>;
        rebound memory{allocator};
        self.~wait_op();
        std::allocator_traits<rebound>::deallocate(memory, &self, 1);
        if (!run)
            return;
        auto const where = boost::asio::get_associated_executor(handler, on);
        boost::asio::dispatch(
            where, [handler = std::move(handler), ec]() mutable { std::move(handler)(ec); });
    }

    worker* on_;
    readiness::entry* entry_;
    Handler handler_;
    error_code ec_{};
};

template <class Handler>
void socket::start_wait(Handler& handler, wait_type what)
{
    wait_op<Handler>::start(*this, handler, what);
}

namespace detail {

/// transfer_op is a read or a write of one go: try, and wait only when the socket says so.
template <bool Reading, class Buffers>
struct transfer_op
{
    socket& on;
    Buffers buffers;
    enum class state : char
    {
        starting,
        waiting,
        done
    } at = state::starting;
    error_code result{};
    std::size_t bytes = 0;

    template <class Self>
    void operator()(Self& self, error_code ec = {})
    {
        if (at == state::done)
            return self.complete(result, bytes);
        bool const first = at == state::starting;
        if (!ec) {
            if (!attempt(ec)) {
                at = state::waiting;
                return on.async_wait(
                    Reading ? socket::wait_read : socket::wait_write, std::move(self));
            }
        }
        result = ec;
        at = state::done;
        if (first) // Never inside the initiating function.
            return boost::asio::post(on.get_executor(), std::move(self));
        self.complete(result, bytes);
    }

private:
    // False: it would block.
    bool attempt(error_code& ec)
    {
        if (boost::asio::buffer_size(buffers) == 0)
            return true;
        for (auto i = boost::asio::buffer_sequence_begin(buffers);
             i != boost::asio::buffer_sequence_end(buffers); ++i) {
            io_result const r = transfer(*i);
            bytes += r.bytes;
            if (r.would_block || r.error) {
                if (bytes == 0 && r.error)
                    ec = r.error == error::closed ? error_code{boost::asio::error::eof} : r.error;
                return bytes != 0 || r.error;
            }
            if (r.bytes < boost::asio::const_buffer{*i}.size())
                return true;
        }
        return true;
    }

    io_result transfer(boost::asio::const_buffer b)
        requires(!Reading)
    {
        return b.size() == 0 ? io_result{}
                             : on.send({static_cast<std::byte const*>(b.data()), b.size()});
    }
    io_result transfer(boost::asio::mutable_buffer b)
        requires Reading
    {
        return b.size() == 0 ? io_result{}
                             : on.receive({static_cast<std::byte*>(b.data()), b.size()});
    }
};

} // namespace detail

template <class Buffers, class Token>
auto socket::async_read_some(Buffers const& buffers, Token&& token)
{
    return boost::asio::async_compose<Token, void(error_code, std::size_t)>(
        detail::transfer_op<true, Buffers>{*this, buffers}, token, get_executor());
}

template <class Buffers, class Token>
auto socket::async_write_some(Buffers const& buffers, Token&& token)
{
    return boost::asio::async_compose<Token, void(error_code, std::size_t)>(
        detail::transfer_op<false, Buffers>{*this, buffers}, token, get_executor());
}

} // namespace cleat::net
