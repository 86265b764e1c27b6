#include "admin/admin_pages.hpp"
#include "admin/http_session.hpp"
#include "admin/request_rules.hpp"

#include <cleat/core/limits.hpp>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/socket_base.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <sys/socket.h>

namespace cleat::app {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

using request = http::request<http::string_body>;
using parser = http::request_parser<http::string_body>;

asio::generic::stream_protocol::socket adopted_socket(
    asio::io_context& io, unique_fd fd, int family)
{
    asio::generic::stream_protocol::socket made{io};
    made.assign(asio::generic::stream_protocol{family, 0}, fd.get());
    static_cast<void>(fd.release());
    return made;
}

std::optional<std::string_view> header(request const& asked, http::field name)
{
    auto const found = asked.find(name);
    if (found == asked.end())
        return std::nullopt;
    return std::string_view{found->value().data(), found->value().size()};
}

std::string string_from(boost::beast::string_view text)
{
    return {text.data(), text.size()};
}

http_answer refusal_answer(unsigned status, std::string_view why)
{
    return {.status = status, .content_type = "application/json", .body = problem_json(why)};
}

// To close with bytes that nobody has read would reset the connection, which can destroy the answer
// before the client has it.
void discard_received(int fd) noexcept
{
    std::array<char, 4096> unread; // NOLINT: filled by recv
    std::size_t left = limits::admin_linger_max;
    for (ssize_t n = 1; n > 0 && left != 0;) {
        n = ::recv(fd, unread.data(), std::min(unread.size(), left), MSG_DONTWAIT);
        left -= n > 0 ? static_cast<std::size_t>(n) : 0;
    }
}

// No answer for a client that is gone or too slow.
std::optional<http_answer> answer_to_broken(error_code why)
{
    if (why == http::error::header_limit || why == http::error::buffer_overflow)
        return refusal_answer(431, "the header is too long");
    if (why == http::error::body_limit)
        return refusal_answer(413, "the body is too long");
    if (why == http::error::end_of_stream || why == http::error::partial_message)
        return std::nullopt;
    if (why.category() == http::make_error_code(http::error::bad_version).category())
        return refusal_answer(400, "this is no HTTP/1.1 request: " + why.message());
    return std::nullopt;
}

// A request that no browser of another site can have sent.
std::optional<http_answer> answer_to_forbidden(
    request const& asked, request_target const& target, net::address const& server)
{
    request_facts facts{
        header(asked, http::field::host), header(asked, http::field::origin),
        asked.method() == http::verb::post};
    if (!facts.host && asked.version() >= 11)
        return refusal_answer(400, "a request of HTTP/1.1 has a Host header");
    if (target.path.empty())
        return refusal_answer(
            400, "the target of a request is a path, a URL that begins with http://, or with "
                 "OPTIONS a *");
    if (target.host) // RFC 9112, section 3.2.2: the Host header does not count.
        facts.host = *target.host;
    if (std::optional<std::string> const why = refusal_of(facts, server))
        return refusal_answer(403, *why);
    return std::nullopt;
}

} // namespace

http_session::http_session(
    asio::io_context& io, unique_fd fd, net::address const& server, responder respond)
    : stream_{adopted_socket(io, std::move(fd), server.family())}
    , buffer_{limits::admin_header_max + limits::admin_body_max}
    , server_{server}
    , respond_{std::move(respond)}
{
}

asio::awaitable<void> http_session::run()
{
    // No co_await in a condition: g++ 12 puts the negated value of one where the frame's pointer to
    // its code is.
    for (bool is_open = true; is_open;) {
        is_open = co_await wait_for_first_byte();
        if (is_open)
            is_open = co_await serve_one();
    }
    if (!is_finishing_)
        co_await linger();
    discard_received(stream_.socket().native_handle());
    stream_.close();
}

// The client may be sending still: see discard_received.
asio::awaitable<void> http_session::linger()
{
    error_code ec;
    stream_.socket().shutdown(asio::socket_base::shutdown_send, ec);
    buffer_.clear();
    stream_.expires_after(limits::admin_linger_time);
    for (std::size_t left = limits::admin_linger_max; !ec;) {
        std::size_t const n = co_await stream_.async_read_some(
            buffer_.prepare(4096), asio::redirect_error(asio::use_awaitable, ec));
        if (n >= left)
            co_return;
        left -= n;
    }
}

void http_session::finish()
{
    is_finishing_ = true;
    if (!is_answering_)
        stream_.cancel();
}

// A pipelined request may be there already.
asio::awaitable<bool> http_session::wait_for_first_byte()
{
    bool const is_first = std::exchange(is_first_, false);
    if (is_finishing_)
        co_return false;
    if (buffer_.size() != 0)
        co_return true;
    stream_.expires_after(is_first ? limits::admin_request_time : limits::admin_idle_time);
    error_code ec;
    is_idle_ = !is_first;
    std::size_t const n = co_await stream_.async_read_some(
        buffer_.prepare(1024), asio::redirect_error(asio::use_awaitable, ec));
    is_idle_ = false;
    buffer_.commit(n);
    co_return !ec && n != 0 && !is_finishing_;
}

// False: the connection ends.
asio::awaitable<bool> http_session::serve_one()
{
    parser reading;
    reading.header_limit(limits::admin_header_max);
    reading.body_limit(limits::admin_body_max);
    stream_.expires_after(limits::admin_request_time);
    error_code ec;
    co_await http::async_read(
        stream_, buffer_, reading, asio::redirect_error(asio::use_awaitable, ec));
    if (ec) {
        if (std::optional<http_answer> answer = answer_to_broken(ec))
            co_await send(*std::move(answer), 11, false, false);
        co_return false;
    }
    is_answering_ = true;
    request const& asked = reading.get();
    std::string const method = string_from(asked.method_string());
    request_target const target = target_of(method, string_from(asked.target()));
    http_answer answer;
    if (std::optional<http_answer> forbidden = answer_to_forbidden(asked, target, server_)) {
        answer = *std::move(forbidden);
    } else {
        http_request const wanted{method, target.path, string_from(asked[http::field::accept])};
        stream_.expires_never(); // A reload takes its time; the others have limits of their own.
        answer = co_await respond_(wanted);
    }
    bool const keep_alive = asked.keep_alive() && !is_finishing_;
    bool const is_open = co_await send(
        std::move(answer), asked.version(), keep_alive, asked.method() == http::verb::head);
    is_answering_ = false;
    co_return is_open&& keep_alive;
}

asio::awaitable<bool> http_session::send(
    http_answer answer, unsigned version, bool keep_alive, bool is_head)
{
    http::response<http::string_body> made{http::int_to_status(answer.status), version};
    if (!answer.content_type.empty())
        made.set(http::field::content_type, answer.content_type);
    made.set(http::field::cache_control, "no-store");
    made.set("X-Content-Type-Options", "nosniff");
    if (!answer.allow.empty())
        made.set(http::field::allow, answer.allow);
    if (!answer.policy.empty()) {
        made.set("Content-Security-Policy", answer.policy);
        made.set("Referrer-Policy", "no-referrer");
    }
    made.keep_alive(keep_alive);
    if (answer.status != 204) // RFC 9110, section 8.6.
        made.content_length(answer.body.size());
    if (!is_head)
        made.body() = std::move(answer.body);
    stream_.expires_after(limits::admin_request_time);
    error_code ec;
    co_await http::async_write(stream_, made, asio::redirect_error(asio::use_awaitable, ec));
    co_return !ec;
}

} // namespace cleat::app
