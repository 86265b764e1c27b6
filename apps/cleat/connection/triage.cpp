#include "connection/triage.hpp"
#include "overload/handshake_line.hpp"
#include "overload/session_claim.hpp"
#include "worker/worker_service.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/net/scratch.hpp>
#include <cleat/net/worker_sessions.hpp>

#include <boost/system/errc.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <new>
#include <span>

#include <poll.h>
#include <sys/socket.h>

namespace cleat::app {
namespace {

using status = tls::client_hello_reader::status;

// No error while the client waits for an answer.
error_code presence_of(net::socket const& client) noexcept
{
    pollfd state{client.native_handle(), POLLRDHUP, 0};
    if (::poll(&state, 1, 0) <= 0)
        return {};
    if ((state.revents & (POLLERR | POLLHUP)) != 0)
        return make_error_code(boost::system::errc::connection_reset);
    return error::truncated;
}

// The credit that the client's claim to a session takes from; null: it claims none that may be
// here. Routes with their own context have the keys of the frontend's.
claim_credit* credit_for(frontend_socket const& frontend, tls::hello_facts const& hello) noexcept
{
    worker_connections& all = frontend.service.connections();
    net::worker_sessions* const sessions = all.sessions();
    return all.line().claims(claim_of(
        hello, *frontend.policy.context, sessions == nullptr ? nullptr : &sessions->cache()));
}

} // namespace

bool is_line_full(frontend_socket const& frontend, signature_cost cost) noexcept
{
    worker_connections& all = frontend.service.connections();
    std::chrono::milliseconds const timeout =
        *frontend.service.configuration().settings.ssl_handshake_timeout;
    std::size_t const connections_max =
        std::min(all.limits().connections_max(), frontend.connections_max);
    return all.line().is_full(
        cost, std::min(limits::line_size_max, connections_max / 2),
        std::min(limits::line_wait_max, timeout / 2));
}

std::optional<signature_cost> full_handshake_of(frontend_socket const& frontend, int fd) noexcept
{
    std::span<std::byte> const block =
        net::scratch::of_this_thread().received().first(limits::turn_min);
    ssize_t const n = ::recv(fd, block.data(), block.size(), MSG_PEEK | MSG_DONTWAIT);
    if (n <= 0)
        return {};
    try {
        tls::client_hello_reader reader;
        status const found = reader.read(
            {reinterpret_cast<std::uint8_t const*>(block.data()), static_cast<std::size_t>(n)});
        if (found != status::complete || credit_for(frontend, reader.facts()) != nullptr)
            return {};
        return cost_of(reader.facts(), *frontend.policy.context);
    } catch (std::bad_alloc const&) {
        return {};
    }
}

net::task<error_code> take_turn(
    net::interrupt& interrupt, frontend_socket const& frontend, net::socket& socket,
    tls::context const& server, tls::hello_facts const& hello, claim_credit*& claim)
{
    claim_credit* const credit = credit_for(frontend, hello);
    if (credit != nullptr && credit->take(interrupt.worker().now())) {
        claim = credit;
        co_return error_code{};
    }
    signature_cost const cost = cost_of(hello, server);
    if (is_line_full(frontend, cost))
        co_return error::handshake_shed;
    handshake_line& line = frontend.service.connections().line();
    error_code const ended = co_await handshake_line::turn{line, interrupt, cost};
    co_return ended ? ended : presence_of(socket);
}

} // namespace cleat::app
