#include "admin/accept_header.hpp"
#include "admin/admin_pages.hpp"
#include "admin/http_session.hpp"
#include "admin/server_order.hpp"
#include "targets.hpp"

#include <cleat/core/assert.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/core/unique_fd.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <array>
#include <exception>
#include <string>
#include <utility>

#include <sys/socket.h>

namespace cleat::fuzz {
namespace {

namespace asio = boost::asio;

// The parts of a request that the admin server reads, without the workers that it would ask.
app::http_answer answer_for(app::http_request const& asked)
{
    app::admin_path const* const path = app::find_path(asked.target);
    if (path == nullptr)
        return {.status = 404, .content_type = "text/plain", .body = app::paths_text()};
    static_cast<void>(app::prefers_html(asked.accept));
    std::string body{app::value_in(asked.target, "level")};
    body += app::decoded(app::value_in(asked.target, "server"));
    if (app::server_order_in(asked.target))
        body += "order";
    return {.status = 200, .content_type = "text/plain", .body = std::move(body)};
}

} // namespace

// The input is what a client sends on one connection to the admin server, before its FIN.
void admin_http(octets input)
{
    if (input.size() > limits::admin_header_max * 2)
        return; // A socket may not take more at once.
    std::array<int, 2> ends{};
    CLEAT_ASSERT(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    unique_fd const client{ends[0]};
    unique_fd server{ends[1]};
    CLEAT_ASSERT(
        ::send(client.get(), input.data(), input.size(), MSG_NOSIGNAL) ==
        static_cast<ssize_t>(input.size()));
    ::shutdown(client.get(), SHUT_WR);

    net::address address{};
    address.storage.ss_family = AF_UNIX;
    asio::io_context io{1};
    app::http_session session{
        io, std::move(server), address,
        [](app::http_request const& asked) -> asio::awaitable<app::http_answer> {
            co_return answer_for(asked);
        }};
    asio::co_spawn(io, session.run(), [](std::exception_ptr const& failed) {
        CLEAT_ASSERT(!failed); // It would end the admin server's thread.
    });
    io.run();
}

} // namespace cleat::fuzz
