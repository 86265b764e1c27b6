#include "admission/admission.hpp"
#include "client_address.hpp"
#include "limits/half_open.hpp"
#include "overload/handshake_line.hpp"
#include "overload/triage.hpp"
#include "serve_by_hello.hpp"
#include "worker_service.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/net/scratch.hpp>

#include <cerrno>
#include <cstddef>
#include <new>
#include <span>

#include <sys/socket.h>

namespace cleat::app {
namespace {

using status = tls::client_hello_reader::status;

// TLS has the first byte, and this cleat the answer to it.
bool terminates_all(frontend_socket const& frontend) noexcept
{
    config const& settings = frontend.service.configuration().settings;
    return !frontend.plan.takes_plaintext && !reads_hello_first(frontend) &&
           !expects_proxy_header(settings, frontend.plan.admission.get());
}

// No error while the client waits for an answer.
error_code presence_of(net::socket& client) noexcept
{
    std::byte next{};
    ssize_t const n = ::recv(client.native_handle(), &next, 1, MSG_PEEK | MSG_DONTWAIT);
    if (n == 0)
        return error::truncated;
    bool const is_here = n > 0 || errno == EAGAIN || errno == EINTR;
    return is_here ? error_code{} : last_system_error();
}

} // namespace

bool is_shed_unread(frontend_socket const& frontend, int fd) noexcept
{
    if (!frontend.service.connections().line().is_full() || !terminates_all(frontend))
        return false;
    std::span<std::byte> const block =
        net::scratch::of_this_thread().received().first(limits::turn_min);
    ssize_t const n = ::recv(fd, block.data(), block.size(), MSG_PEEK | MSG_DONTWAIT);
    if (n <= 0)
        return false;
    try {
        tls::client_hello_reader reader;
        status const found = reader.read(
            {reinterpret_cast<std::uint8_t const*>(block.data()), static_cast<std::size_t>(n)});
        return found == status::complete && !reader.facts().offers_session;
    } catch (std::bad_alloc const&) {
        return false;
    }
}

net::task<error_code> wait_in_line(
    net::interrupt& interrupt, worker_service const& service, net::socket& socket,
    tls::hello_facts const& hello, claim_credit*& claim)
{
    handshake_line& line = service.connections().line();
    if (hello.offers_session && line.claims().take(interrupt.worker().now())) {
        claim = &line.claims();
        co_return error_code{};
    }
    if (line.is_full())
        co_return error::handshake_shed;
    half_open unfinished{service.connections().half_open(), interrupt};
    unfinished.on_input();
    error_code const ended = co_await handshake_line::turn{line, interrupt};
    co_return ended ? ended : presence_of(socket);
}

} // namespace cleat::app
