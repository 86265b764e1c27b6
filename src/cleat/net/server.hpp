// server: the shortest way to a TLS server on every core, from a spec and a coroutine.
//
//     net::server_spec spec;
//     spec.listen = "127.0.0.1:8443";
//     spec.tls.certificates.push_back({chain, key, "site.pem"});
//     net::server server{std::move(spec), [](net::connection c) -> asio::awaitable<void> {
//         ...
//     }};
//
// Each worker has a listening socket of its own on the port (SO_REUSEPORT), a TLS context of its
// own, and a copy of the handler. The kernel spreads connections over them, and none ever moves.

#pragma once

#include <cleat/core/unique_fd.hpp>
#include <cleat/net/connection.hpp>
#include <cleat/net/worker_pool.hpp>
#include <cleat/tls/context_spec.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/detail/scheduler_operation.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::net {

/// connection_failure is why a connection ended before its handler returned.
struct connection_failure
{
    /// The peer's address, which is valid during the call, and the number of the worker.
    address const& peer;
    std::size_t worker;
    bool in_handshake; ///< It failed before its handler was called.
    /// The error of the handshake, or of a handler's exception: the code of a
    /// boost::system::system_error, errc::not_enough_memory for std::bad_alloc,
    /// error::handler_exception for any other.
    error_code error;
    /// For a handshake: the TLS library's text, or the reason to refuse the peer's certificate;
    /// empty for other reasons, such as a deadline. For a handler's exception: its what().
    std::string_view reason;
};

/// listener_spec is one more place where a server listens.
struct listener_spec
{
    std::string listen; ///< As server_spec::listen.
    /// The listener's certificates and settings. Unset: those of the server, also after their
    /// reload.
    std::optional<tls::context_spec> tls{};
};

/// server_spec is what a server is made from: where it listens, its certificates, and its limits.
struct server_spec
{
    /// An address and a port: "127.0.0.1:8443", "[::1]:8443" (IPv6 in brackets), "*:8443" for every
    /// address of both families, or a name, for every address of it that this machine has. The port
    /// is a number; 0 is any that is free, the same for all addresses.
    ///
    /// "unix:/run/site.sock" is a UNIX socket. The socket's file of a process that has ended is
    /// replaced; any other file there is an error. When the server stops accepting it removes its
    /// file, unless another process has replaced it. "fd:3" is a descriptor that listens already,
    /// such as one of systemd's (sd_listen_fds(3)): the server takes it over, and leaves its file.
    std::string listen = "127.0.0.1:0";
    /// More places to listen. Connections of all of them have the same handler: facts::listener
    /// tells them apart.
    std::vector<listener_spec> listeners{};
    tls::context_spec tls;   ///< With `certificates`, or for many with a `certificate_store`.
    std::size_t workers = 0; ///< 0: as many as the CPUs that this process may use.
    bool pin = true;         ///< Each worker stays on a CPU of its own.
    listen_options socket{}; ///< reuse_port is always on: the workers share the port.

    /// A connection whose handshake takes longer is closed, also where it waits for a certificate
    /// of the store.
    std::chrono::milliseconds handshake_timeout = std::chrono::seconds{10};

    /// Called on the worker's thread for each connection that failed; for logs. Several workers may
    /// call it at the same time. Must not throw.
    std::function<void(connection_failure const&)> on_failure{};
};

/// handler serves one connection, in a coroutine of its own on the connection's worker. When it
/// returns or throws, the connection is closed. The handler itself makes a clean end of TLS
/// (async_shutdown).
using handler = std::function<boost::asio::awaitable<void>(connection)>;

/// handler_for makes the handler of one worker, on that worker's thread. The handler's captures are
/// that worker's own state: no other thread touches them.
struct handler_for
{
    /// Called once on each worker's thread before the worker serves. The server's constructor
    /// rethrows its exception.
    std::function<handler(worker&)> make;
};

/// asio_operation_size is the size of Asio's operations in this translation unit. Macros such as
/// BOOST_ASIO_ENABLE_HANDLER_TRACKING change it.
///
/// It is not inline, because each translation unit has its own: an inline variable is one object in
/// the whole program, for which the linker would take the value of the program or that of cleat,
/// and so hide the difference that server's constructor looks for.
constexpr std::size_t asio_operation_size = sizeof(boost::asio::detail::scheduler_operation);

/// server serves from its constructor to its destructor, on threads of its own. One thread uses it,
/// which is not a worker's. Other threads may call reload and serve.
class server
{
public:
    /// Throws before any worker starts. Wrong TLS settings are a tls::spec_error. A `listen` in no
    /// known form is a std::invalid_argument. An address on which it cannot listen is a
    /// std::system_error: address_in_use also where another server on the port has set
    /// SO_REUSEPORT. Then it starts the workers, and rethrows an exception of a handler_for.
    ///
    /// Leave `operation_size` at its default, which is the caller's. Where cleat was compiled with
    /// another size, caller and library would write into each other's objects: std::logic_error.
    server(server_spec spec, handler serve, std::size_t operation_size = asio_operation_size);
    server(
        server_spec spec, handler_for each_worker,
        std::size_t operation_size = asio_operation_size);
    server(server&&) = delete;
    ~server();

    /// local_address is the first of local_addresses, which are those of all listeners in their
    /// order: "*" has one for each family.
    [[nodiscard]] address const& local_address() const noexcept;
    [[nodiscard]] std::vector<address> const& local_addresses() const noexcept;
    /// port is the port of local_address.
    [[nodiscard]] unsigned port() const noexcept { return local_address().port(); }
    /// workers are the server's own: to broadcast to them, or to count.
    [[nodiscard]] worker_pool& workers() noexcept;

    /// reload gives later connections another TLS context on every worker; open connections keep
    /// theirs. It makes and tries out the contexts on the calling thread, and returns when all
    /// workers have taken theirs. Wrong settings are a tls::spec_error, and then nothing changes,
    /// as after any other exception: std::bad_alloc, std::system_error.
    ///
    /// With a certificate_store it looks at every file of the store, and reads the files that have
    /// changed since the constructor or the last reload. Where settings, types of keys and default
    /// certificate are the same, it makes each worker's new context from the present one, with the
    /// new certificates.
    ///
    /// Any thread but a worker's may call it: a worker would wait for itself, so there it ends the
    /// program. Of two concurrent calls the later one decides. It returns at once where the server
    /// has stopped. It may run beside drain and stop, but not beside the destructor.
    ///
    /// `listener` is a place as in facts::listener, with `tls` of its own; std::invalid_argument
    /// for any other. 0 is the server's own settings.
    ///
    /// Sessions resume after a reload if `spec` has the same secret in `tickets`, and the same
    /// `session_scope`: keep both. A replaced context ends with its last stream, on its worker's
    /// thread, and so does its copy of verify_function.
    void reload(tls::context_spec spec, std::size_t listener = 0);

    /// serve serves a connection that was accepted elsewhere, as if `listener` had accepted it: a
    /// connected stream socket, TCP or UNIX. The workers get such connections in turn. It returns
    /// an error where the socket is not connected or there is no such listener, and closes the
    /// socket. A server that has stopped closes it, too. Any thread may call serve, but not beside
    /// stop or the destructor.
    error_code serve(unique_fd accepted, std::size_t listener = 0);

    /// drain stops accepting, waits at most `timeout` for the connections to end, and stops.
    /// Returns how many were cut off.
    std::size_t drain(std::chrono::milliseconds timeout);

    /// stop cancels every handler's operation (asio::error::operation_aborted), so that its
    /// coroutine ends by itself. A handler that goes on regardless is abandoned after a second.
    void stop();

private:
    struct state;
    std::unique_ptr<state> state_;
    std::vector<address> addresses_;
};

} // namespace cleat::net
