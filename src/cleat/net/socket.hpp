// socket: a connected stream socket of a worker: non-blocking calls for tasks, and asynchronous
// operations for Asio.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/core/unique_fd.hpp>
#include <cleat/net/executor.hpp>
#include <cleat/net/post_completion.hpp>
#include <cleat/net/queued_operation.hpp>
#include <cleat/net/readiness.hpp>
#include <cleat/net/socket_options.hpp>
#include <cleat/net/worker.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/socket_base.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace cleat::net {

/// io_result is the outcome of one non-blocking call: bytes, "would block" (no bytes, no error), or
/// an error.
struct io_result
{
    /// Bytes that were moved; would_block: none can be moved now.
    std::size_t bytes = 0;
    bool would_block = false;
    error_code error{}; ///< error::closed: the peer's FIN.
};

/// socket owns a connected TCP or UNIX stream socket and its entry in the worker's readiness. It
/// is used on its worker's thread. It models Asio's AsyncReadStream and AsyncWriteStream.
class socket
{
public:
    /// The names that Asio's streams have.
    using executor_type = executor;
    using lowest_layer_type = socket;
    using wait_type = boost::asio::socket_base::wait_type;
    static constexpr wait_type wait_read = boost::asio::socket_base::wait_read;
    static constexpr wait_type wait_write = boost::asio::socket_base::wait_write;

    /// Takes over a connected, non-blocking descriptor. Throws std::bad_alloc.
    socket(net::worker& owner, unique_fd fd)
        : worker_{&owner}, entry_{new readiness::entry{owner.readiness(), std::move(fd)}}
    {
    }

    socket(socket&&) noexcept = default;
    socket& operator=(socket&& other) noexcept
    {
        if (this != &other) {
            close();
            worker_ = other.worker_;
            entry_ = std::move(other.entry_);
        }
        return *this;
    }
    ~socket() { close(); }

    /// get_executor runs functions on the worker's thread.
    [[nodiscard]] executor get_executor() const noexcept { return worker_->get_executor(); }
    /// worker is the worker that the socket belongs to.
    [[nodiscard]] net::worker& worker() const noexcept { return *worker_; }
    /// lowest_layer is the socket itself.
    [[nodiscard]] socket& lowest_layer() noexcept { return *this; }
    [[nodiscard]] socket const& lowest_layer() const noexcept { return *this; }
    /// is_open: the socket was not closed.
    [[nodiscard]] bool is_open() const noexcept { return entry_ != nullptr; }
    /// native_handle is the descriptor; -1 after close.
    [[nodiscard]] int native_handle() const noexcept { return entry_ ? entry_->fd() : -1; }
    /// entry is the socket's entry in the worker's readiness. Not after close.
    [[nodiscard]] readiness::entry& entry() const noexcept { return *entry_; }

    /// set_priority sets the order in which a busy worker serves waits for this socket.
    void set_priority(priority p) const noexcept { entry_->set_priority(p); }

    /// receive reads what the kernel has, at most as much as `buffer` takes.
    [[nodiscard]] io_result receive(std::span<std::byte> buffer) noexcept;

    /// send writes what the socket takes. `more`: another send follows at once, so the kernel may
    /// hold a partial packet (MSG_MORE).
    [[nodiscard]] io_result send(std::span<std::byte const> bytes, bool more = false) noexcept;

    /// error is the error that broke the connection (SO_ERROR). The kernel reports it once.
    [[nodiscard]] error_code error() noexcept;

    /// unacknowledged is the number of bytes that were sent and that the peer's kernel has not
    /// acknowledged (SIOCOUTQ, tcp(7)). A FIN counts as one. 0 where that is not known.
    [[nodiscard]] std::size_t unacknowledged() const noexcept;

    /// unsent is the number of bytes that send took and this machine's kernel still holds, because
    /// the peer or the network takes no more (SIOCOUTQNSD of linux/sockios.h): an RST now would
    /// discard them. 0 where that is not known.
    [[nodiscard]] std::size_t unsent() const noexcept;

    /// shutdown_send sends FIN after all bytes.
    void shutdown_send() noexcept;

    /// reset closes with RST instead of FIN, so that the peer does not take this for a clean end.
    void reset() noexcept;

    /// close closes the descriptor; waits of Asio operations end with operation_aborted.
    void close() noexcept;

    /// cancel ends waits with operation_aborted.
    void cancel() noexcept;

    /// async_wait completes when the socket is readable or writable. Honours per-operation
    /// cancellation.
    template <class Token>
    auto async_wait(wait_type event, Token&& token)
    {
        return boost::asio::async_initiate<Token, void(error_code)>(
            [this](auto&& handler, wait_type w) { this->start_wait(handler, w); }, token, event);
    }

    /// async_read_some: void(error_code, std::size_t). asio::error::eof after the peer's FIN.
    template <class Buffers, class Token>
    auto async_read_some(Buffers const& buffers, Token&& token);

    /// async_write_some: void(error_code, std::size_t). It may take fewer bytes than all.
    template <class Buffers, class Token>
    auto async_write_some(Buffers const& buffers, Token&& token);

private:
    template <class Handler>
    class wait_op;
    template <class Handler>
    void start_wait(Handler& handler, wait_type event);

    net::worker* worker_;
    entry_ptr entry_;
};

/// socket::wait_op is one async_wait. It lives until its handler is dispatched.
template <class Handler>
class socket::wait_op : waiter, task_node
{
public:
    /// start allocates before it moves the handler: where it throws std::bad_alloc, the caller
    /// still has its handler.
    static void start(socket& s, Handler& handler, wait_type event)
    {
        auto* const op = allocate_operation<wait_op>(handler);
        new (op) wait_op{s, std::move(handler)};
        op->begin(event);
    }

private:
    wait_op(socket& s, Handler handler)
        : waiter{&wait_op::on_wake}
        , worker_{s.worker_}
        , entry_{s.entry_.get()}
        , handler_{std::move(handler)}
    {
    }

    void begin(wait_type event)
    {
        readiness::entry& e = *entry_;
        bool const read = event != wait_write;
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

    // The handler is queued, not called here, because the initiating function, or a close, may have
    // called this. The operation itself is the queue's node, so the end of a wait needs no memory.
    void complete(error_code ec) noexcept
    {
        auto slot = boost::asio::get_associated_cancellation_slot(handler_);
        if (slot.is_connected())
            slot.clear();
        ec_ = ec;
        finish = &wait_op::on_dequeued;
        worker_->push_here(*this, ec ? priority::established : entry_->priority());
    }

    static void on_dequeued(task_node& node, bool run)
    {
        wait_op& self = static_cast<wait_op&>(node);
        end_operation(self, self.handler_, self.worker_->get_executor(), self.ec_, run);
    }

    net::worker* worker_;
    readiness::entry* entry_;
    Handler handler_;
    error_code ec_{};
};

template <class Handler>
void socket::start_wait(Handler& handler, wait_type event)
{
    wait_op<Handler>::start(*this, handler, event);
}

namespace detail {

/// transfer_op is one read or write: it tries, and waits only where the socket would block.
template <bool Reading, class Buffers>
struct transfer_op
{
    socket& stream_socket;
    Buffers buffers;
    enum class stage : char
    {
        starting,
        waiting,
        done
    } current = stage::starting;
    error_code result{};
    std::size_t bytes = 0;

    template <class Self>
    void operator()(Self& self, error_code ec = {})
    {
        if (current == stage::done)
            return self.complete(result, bytes);
        bool const first = current == stage::starting;
        if (!ec) {
            if (!attempt(ec)) {
                current = stage::waiting;
                return stream_socket.async_wait(
                    Reading ? socket::wait_read : socket::wait_write, std::move(self));
            }
        }
        result = ec;
        current = stage::done;
        if (first)
            return post_completion(std::move(self), stream_socket.get_executor());
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
        return b.size() == 0
                   ? io_result{}
                   : stream_socket.send({static_cast<std::byte const*>(b.data()), b.size()});
    }
    io_result transfer(boost::asio::mutable_buffer b)
        requires Reading
    {
        return b.size() == 0 ? io_result{}
                             : stream_socket.receive({static_cast<std::byte*>(b.data()), b.size()});
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
