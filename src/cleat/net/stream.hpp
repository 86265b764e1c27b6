// stream: TLS as an Asio stream, over a socket or over any other stream. A drop-in for
// asio::ssl::stream.
//
//     net::stream<tcp::socket> s{std::move(socket), context};
//     co_await s.async_handshake(stream_base::server, use_awaitable);
//     std::size_t n = co_await s.async_read_some(buffer(block), use_awaitable);
//
// As in asio::ssl::stream: the names, the completion signatures, one read and one write at
// the same time, calls from one thread or strand at a time, and a stream that is not moved or
// destroyed while an operation is pending.
//
// Better:
//  - Over a socket a stream waits for readiness and then works in its thread's memory: an idle one
//    holds no buffer. Over another stream it holds a block of one record only while a read waits.
//  - A read decrypts all records that have come. A write seals up to one turn of any
//    ConstBufferSequence (64 KiB, and over a socket up to 1 MiB) into full 16 KiB records, and
//    sends them with one system call.
//  - Each operation can be cancelled. A cancelled read loses nothing, nor does a write that has
//    not begun. A write that has begun can be cancelled with terminal and partial: it completes
//    with the bytes that were taken, and those leave with the next write. A handshake or a shutdown
//    that was cancelled goes on when called again.
//
// Different:
//  - The context decides whether this is a server: a handshake with the other role is
//    error::wrong_role.
//  - A read gives asio::error::eof after the peer's close_notify, and error::truncated at a FIN
//    without one. Where a read finds bytes and the end, the next read completes with the end.
//  - Both shutdowns end without an error when the peer's close_notify has come; Asio's blocking one
//    gives eof. They discard what the peer sends before it, up to limits::turn_max bytes; more is
//    asio::error::message_size.
//  - Reading and writing before the handshake is error::no_handshake.
//  - set_verify_mode, set_verify_depth and set_verify_callback are called before the handshake, and
//    are an error after. A verify callback turns verification on where it was off.

#pragma once

#include <cleat/net/any_layer.hpp>
#include <cleat/net/engine_op.hpp>
#include <cleat/net/socket_layer.hpp>
#include <cleat/net/stream_actions.hpp>
#include <cleat/net/stream_settings.hpp>
#include <cleat/tls/context.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/detail/throw_error.hpp>
#include <boost/asio/error.hpp>
#include <boost/beast/core/role.hpp>

#include <type_traits>
#include <utility>

namespace cleat::net {

namespace detail {

// A layer without lowest_layer_type is its own lowest layer: beast::tcp_stream.
template <class Next>
struct lowest_layer_of
{
    using type = Next;
    static type& find(Next& next) noexcept { return next; }
    static type const& find(Next const& next) noexcept { return next; }
};
template <class Next>
    requires requires { typename Next::lowest_layer_type; }
struct lowest_layer_of<Next>
{
    using type = typename Next::lowest_layer_type;
    static type& find(Next& next) noexcept { return next.lowest_layer(); }
    static type const& find(Next const& next) noexcept { return next.lowest_layer(); }
};

} // namespace detail

/// stream_base has Asio's names for a handshake's role.
struct stream_base
{
    /// handshake_type is the role of this side.
    enum handshake_type
    {
        client,
        server
    };

    /// role_of is the role as tls::context_spec has it.
    static constexpr tls::role role_of(handshake_type type) noexcept
    {
        return type == server ? tls::role::server : tls::role::client;
    }
    static constexpr tls::role role_of(tls::role role) noexcept { return role; }
};

/// stream is TLS over a next layer, which it owns, or borrows where NextLayer is a reference. The
/// context must outlive it.
template <class NextLayer>
class stream : public stream_base, public stream_settings<stream<NextLayer>>
{
    using default_token = boost::asio::default_completion_token_t<
        typename std::remove_reference_t<NextLayer>::executor_type>;

public:
    /// The names that Asio's streams have.
    using next_layer_type = std::remove_reference_t<NextLayer>;
    using lowest_layer_type = typename detail::lowest_layer_of<next_layer_type>::type;
    using executor_type = typename next_layer_type::executor_type;
    using native_handle_type = ssl_st*;

    /// rebind_executor is this stream with operations that use another executor by default.
    template <class Executor>
    struct rebind_executor
    {
        /// The type of that stream.
        using other = stream<typename next_layer_type::template rebind_executor<Executor>::other>;
    };

    /// A stream whose next layer is made from `next`. Throws std::bad_alloc.
    template <class Arg>
    stream(Arg&& next, tls::context& context) : next_{std::forward<Arg>(next)}, core_{context}
    {
    }
    stream(stream&&) = default;
    stream& operator=(stream&&) = default;

    /// get_executor is the next layer's executor.
    [[nodiscard]] executor_type get_executor() noexcept { return next_.get_executor(); }
    /// next_layer is the stream below TLS.
    [[nodiscard]] next_layer_type& next_layer() noexcept { return next_; }
    [[nodiscard]] next_layer_type const& next_layer() const noexcept { return next_; }
    /// lowest_layer is the next layer's lowest layer, such as its socket, or else the next layer
    /// itself.
    [[nodiscard]] lowest_layer_type& lowest_layer() noexcept { return lowest::find(next_); }
    [[nodiscard]] lowest_layer_type const& lowest_layer() const noexcept
    {
        return lowest::find(next_);
    }

    /// info is the result of the handshake; see tls::handshake_info for when it is valid.
    [[nodiscard]] tls::handshake_info info() const noexcept { return engine().info(); }

    /// engine is the TLS state itself, for what the stream has no function for: failure(),
    /// peer_common_name(), fingerprint_client(). Bytes move only through the stream's own
    /// operations: the engine's handshake, read, write and close would lose them.
    [[nodiscard]] tls::engine& engine() noexcept { return core_.layer.engine(); }
    [[nodiscard]] tls::engine const& engine() const noexcept { return core_.layer.engine(); }

    /// native_handle is the TLS library's SSL.
    [[nodiscard]] native_handle_type native_handle() const noexcept
    {
        return engine().native_handle();
    }

    /// async_handshake: void(error_code). The role is a handshake_type or a tls::role.
    template <class Role, class Token = default_token>
        requires(!boost::asio::is_const_buffer_sequence<std::remove_cvref_t<Token>>::value)
    auto async_handshake(Role role, Token&& token = default_token())
    {
        return start<void(error_code)>(handshake_action{role_of(role)}, std::forward<Token>(token));
    }

    /// async_handshake with a peer whose first bytes the caller has read already: void(error_code,
    /// std::size_t) with the number of bytes taken. All are taken, unless there is an error:
    /// asio::error::no_buffer_space where they are more than limits::unsent_max. Bytes after the
    /// handshake's are for the reads that follow.
    template <class Role, class Buffers, class Token = default_token>
        requires boost::asio::is_const_buffer_sequence<Buffers>::value
    auto async_handshake(Role role, Buffers const& buffers, Token&& token = default_token())
    {
        return start<void(error_code, std::size_t)>(
            buffered_handshake_action<Buffers>{{role_of(role)}, buffers},
            std::forward<Token>(token));
    }

    /// async_read_some: void(error_code, std::size_t).
    template <class Buffers, class Token = default_token>
    auto async_read_some(Buffers const& buffers, Token&& token = default_token())
    {
        return start<void(error_code, std::size_t)>(
            read_action<Buffers>{buffers}, std::forward<Token>(token));
    }

    /// async_write_some: void(error_code, std::size_t). It takes at most limits::pending_writes_max
    /// buffers.
    template <class Buffers, class Token = default_token>
    auto async_write_some(Buffers const& buffers, Token&& token = default_token())
    {
        return start<void(error_code, std::size_t)>(
            write_action<Buffers>{buffers}, std::forward<Token>(token));
    }

    /// async_shutdown: void(error_code).
    template <class Token = default_token>
    auto async_shutdown(Token&& token = default_token())
    {
        return start<void(error_code)>(shutdown_action{}, std::forward<Token>(token));
    }

    /// handshake is async_handshake, blocking. This and the other blocking calls would block all
    /// connections of a worker. Without `ec` they throw boost::system::system_error.
    template <class Role>
    error_code handshake(Role role, error_code& ec)
    {
        handshake_action action{role_of(role)};
        return ec = block_on(core_, next_, action);
    }
    template <class Role>
    void handshake(Role role)
    {
        error_code ec;
        throw_if(handshake(role, ec), "handshake");
    }

    /// handshake with a peer whose first bytes the caller has read already: see async_handshake.
    template <class Role, class Buffers>
        requires boost::asio::is_const_buffer_sequence<Buffers>::value
    std::size_t handshake(Role role, Buffers const& buffers, error_code& ec)
    {
        buffered_handshake_action<Buffers> action{{role_of(role)}, buffers};
        ec = block_on(core_, next_, action);
        return action.bytes;
    }
    template <class Role, class Buffers>
        requires boost::asio::is_const_buffer_sequence<Buffers>::value
    std::size_t handshake(Role role, Buffers const& buffers)
    {
        error_code ec;
        std::size_t const bytes = handshake(role, buffers, ec);
        throw_if(ec, "handshake");
        return bytes;
    }

    /// read_some is async_read_some, blocking.
    template <class Buffers>
    std::size_t read_some(Buffers const& buffers, error_code& ec)
    {
        read_action<Buffers> action{buffers};
        ec = block_on(core_, next_, action);
        return action.bytes;
    }
    template <class Buffers>
    std::size_t read_some(Buffers const& buffers)
    {
        error_code ec;
        std::size_t const bytes = read_some(buffers, ec);
        throw_if(ec, "read_some");
        return bytes;
    }

    /// write_some is async_write_some, blocking.
    template <class Buffers>
    std::size_t write_some(Buffers const& buffers, error_code& ec)
    {
        write_action<Buffers> action{buffers};
        ec = block_on(core_, next_, action);
        return action.bytes;
    }
    template <class Buffers>
    std::size_t write_some(Buffers const& buffers)
    {
        error_code ec;
        std::size_t const bytes = write_some(buffers, ec);
        throw_if(ec, "write_some");
        return bytes;
    }

    /// shutdown is async_shutdown, blocking.
    error_code shutdown(error_code& ec)
    {
        shutdown_action action;
        return ec = block_on(core_, next_, action);
    }
    void shutdown()
    {
        error_code ec;
        throw_if(shutdown(ec), "shutdown");
    }

private:
    friend class stream_settings<stream>;

    using lowest = detail::lowest_layer_of<next_layer_type>;
    using layer = std::conditional_t<waitable_socket<next_layer_type>, socket_layer, any_layer>;
    using core = stream_core<layer, executor_type>;

    // Token is a reference where the caller keeps its handler, which is copied then.
    template <class Signature, class Action, class Token>
    auto start(Action action, Token&& token)
    {
        using op = engine_op<core, next_layer_type, Action>;
        return boost::asio::async_compose<Token, Signature>(
            op{core_, next_, std::move(action)}, token, next_.get_executor());
    }

    static void throw_if(error_code const& ec, char const* what)
    {
        boost::asio::detail::throw_error(ec, what);
    }

    NextLayer next_;
    core core_;
};

// boost::beast::websocket finds these functions by argument-dependent lookup.

/// teardown ends a WebSocket's TLS, and blocks until it has ended.
template <class NextLayer>
void teardown(boost::beast::role_type, stream<NextLayer>& s, error_code& ec)
{
    s.shutdown(ec);
}

/// async_teardown ends a WebSocket's TLS.
template <class NextLayer, class Handler>
void async_teardown(boost::beast::role_type, stream<NextLayer>& s, Handler&& handler)
{
    s.async_shutdown(std::forward<Handler>(handler));
}

/// beast_close_socket closes a worker's socket at the end of a WebSocket's timeout.
void beast_close_socket(socket& s);

} // namespace cleat::net
