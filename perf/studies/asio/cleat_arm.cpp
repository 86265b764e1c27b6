// cleat's workers: each has a listening socket, an event loop and TLS contexts of its own. Clients
// live on the same workers, so that this arm has no more threads than the others.

#include "measure.hpp"

#include <cleat/core/unique_fd.hpp>
#include <cleat/net/server.hpp>
#include <cleat/net/socket.hpp>
#include <cleat/net/stream.hpp>
#include <cleat/tls/context.hpp>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <sys/socket.h>

namespace study {
namespace {

namespace net = cleat::net;
namespace tls = cleat::tls;

// As asio_arms.cpp pins its contexts. A spec without a secret for tickets gives none.
tls::context_spec pinned(tls::role role)
{
    tls::context_spec spec;
    spec.role = role;
    spec.version_min = tls::protocol_version::tls_1_3;
    spec.groups = "X25519";
    spec.ciphersuites = "TLS_AES_128_GCM_SHA256";
    return spec;
}

std::string text_of(std::string const& path)
{
    std::ifstream file{path};
    if (!file)
        throw std::runtime_error{path + " cannot be read"};
    return {std::istreambuf_iterator<char>{file}, {}};
}

class cleat_arm
{
public:
    using stream = net::stream<net::socket>;

    explicit cleat_arm(load const& what) : what_{what}, clients_(what.threads)
    {
        net::server_spec spec;
        spec.tls = pinned(tls::role::server);
        std::string const pem = text_of(what.pem);
        spec.tls.certificates.push_back({pem, pem, what.pem});
        spec.workers = what.threads;
        spec.pin = false; // No other arm pins its threads.
        spec.on_failure = [](net::connection_failure const& f) {
            give_up((f.error.message() + " " + std::string{f.reason}).c_str());
        };
        server_.emplace(std::move(spec), net::handler_for{[this](net::worker& worker) {
                            clients_[worker.number()].emplace(pinned(tls::role::client));
                            return [this](net::connection c) { return session(std::move(c)); };
                        }});
    }

    net::executor executor(std::size_t client) { return place(client).get_executor(); }

    asio::awaitable<stream> connect(std::size_t client)
    {
        net::address const& address = server_->local_address();
        cleat::unique_fd fd{
            ::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
        if (!fd || (::connect(fd.get(), address.data(), address.size) != 0 && errno != EINPROGRESS))
            throw std::system_error{errno, std::system_category(), "connect"};
        net::set_no_delay(fd.get());
        net::worker& worker = place(client);
        stream made{net::socket{worker, std::move(fd)}, *clients_[worker.number()]};
        co_await made.async_handshake(net::stream_base::client, asio::use_awaitable);
        co_return made;
    }

    seen const& found() const { return found_; }

private:
    net::worker& place(std::size_t client)
    {
        return server_->workers()[client % server_->workers().size()];
    }

    asio::awaitable<void> session(net::connection c) { co_await serve(c.stream, what_, found_); }

    load const& what_;
    seen found_;
    std::vector<std::optional<tls::context>> clients_; // One for each worker, made on its thread.
    std::optional<net::server> server_;
};

} // namespace

figures run_cleat(load const& what)
{
    cleat_arm arm{what};
    return measure(arm, what);
}

} // namespace study
