// http_session: one connection of the admin server, request after request.

#pragma once

#include <cleat/core/unique_fd.hpp>
#include <cleat/net/socket_options.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/system/error_code.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace cleat::app {

/// http_request is what an answer depends on.
struct http_request
{
    std::string method; ///< "GET".
    std::string target; ///< "/metrics", or "*".
    std::string accept; ///< The Accept header's value.
};

struct http_answer
{
    unsigned status = 200;
    std::string_view content_type{}; ///< Outlives the answer.
    std::string body{};
    std::string_view allow{}; ///< For 405 and OPTIONS: the methods.
    std::string policy{};     ///< For a page: its Content-Security-Policy.
};

/// http_session belongs to the thread of its io_context.
class http_session
{
public:
    using responder = std::function<boost::asio::awaitable<http_answer>(http_request const&)>;

    /// `server` is the address that the client has connected to. `respond` is called with each
    /// request that request_rules let through, one after the other.
    http_session(
        boost::asio::io_context& io, unique_fd fd, net::address const& server, responder respond);
    http_session(http_session&&) = delete;
    ~http_session() = default;

    /// run serves until the client closes, breaks a rule or a limit, or `finish` is called. The
    /// session outlives it.
    [[nodiscard]] boost::asio::awaitable<void> run();

    /// finish ends the connection: at once where it waits for a request, else after the answer.
    void finish();

    /// is_idle: the last request was answered, and the client has sent no other since.
    [[nodiscard]] bool is_idle() const noexcept { return is_idle_ && !is_finishing_; }

private:
    [[nodiscard]] boost::asio::awaitable<void> linger();
    [[nodiscard]] boost::asio::awaitable<bool> wait_for_first_byte();
    [[nodiscard]] boost::asio::awaitable<bool> serve_one();
    [[nodiscard]] boost::asio::awaitable<bool> send(
        http_answer answer, unsigned version, bool keep_alive, bool is_head);

    boost::beast::basic_stream<boost::asio::generic::stream_protocol> stream_;
    boost::beast::flat_buffer buffer_;
    net::address server_;
    responder respond_;
    bool is_first_ = true;
    bool is_idle_ = false;
    bool is_answering_ = false;
    bool is_finishing_ = false;
};

} // namespace cleat::app
