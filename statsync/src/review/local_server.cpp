#include "core/failure.hpp"
#include "review/local_server.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <random>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace statsync {
namespace {

constexpr std::string_view end_of_head = "\r\n\r\n";

struct connection
{
    int descriptor = -1;
    std::string received = {};
};

[[noreturn]] void cannot_serve()
{
    throw failure(
        problem::unread, std::string("cannot serve a page on 127.0.0.1: ") + std::strerror(errno));
}

std::string random_name()
{
    std::random_device random;
    std::string name;
    for (int digit = 0; digit < 32; ++digit) {
        name += "0123456789abcdef"[random() % 16];
    }
    return name;
}

/// header: the value of a header of a request, with any case of its name.
std::string header(std::string_view head, std::string_view name)
{
    auto const is_same = [](char left, char right) {
        return std::tolower(static_cast<unsigned char>(left)) == right;
    };
    std::size_t line = head.find("\r\n");
    while (line != std::string_view::npos) {
        std::string_view const text = head.substr(line + 2, head.find("\r\n", line + 2) - line - 2);
        std::size_t const colon = text.find(':');
        if (std::ranges::equal(text.substr(0, colon), name, is_same)) {
            std::string_view value = text.substr(std::min(colon + 1, text.size()));
            value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
            return std::string(value);
        }
        line = head.find("\r\n", line + 2);
    }
    return {};
}

/// body_size: of a request whose head is complete; too much where it makes no sense.
std::size_t body_size(std::string_view head)
{
    std::string const text = header(head, "content-length");
    std::size_t size = 0;
    char const* const end = text.data() + text.size();
    std::from_chars_result const read = std::from_chars(text.data(), end, size);
    bool const is_number = read.ec == std::errc() && read.ptr == end;
    return text.empty() ? 0 : is_number ? size : local_server::request_size_max;
}

bool is_complete(std::string_view received)
{
    std::size_t const head = received.find(end_of_head);
    return head != std::string_view::npos &&
           received.size() - head - end_of_head.size() >= body_size(received.substr(0, head));
}

/// receive returns false where the connection is to be closed.
bool receive(connection& from)
{
    char buffer[4096];
    ssize_t const size = ::recv(from.descriptor, buffer, sizeof buffer, MSG_DONTWAIT);
    if (size < 0) {
        return errno == EAGAIN || errno == EINTR;
    }
    from.received.append(buffer, static_cast<std::size_t>(size));
    return size > 0 && from.received.size() <= local_server::request_size_max;
}

void send_answer(int descriptor, web_answer const& answer)
{
    std::string const text =
        "HTTP/1.1 " + std::to_string(answer.status) + (answer.status == 200 ? " OK" : " Refused") +
        "\r\nContent-Type: " + answer.type +
        "; charset=utf-8\r\nContent-Length: " + std::to_string(answer.body.size()) +
        "\r\nConnection: close\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
        "X-Content-Type-Options: nosniff\r\n"
        "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
        "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'\r\n\r\n" +
        answer.body;
    std::string_view rest = text;
    while (!rest.empty()) {
        ssize_t const sent = ::send(descriptor, rest.data(), rest.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) {
            return; // The browser has gone, or does not read.
        }
        rest.remove_prefix(sent < 0 ? 0 : static_cast<std::size_t>(sent));
    }
}

/// accept_from adds a connection, unless there are too many.
void accept_from(int listener, std::vector<connection>& connections)
{
    int const descriptor = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor < 0) {
        return;
    }
    if (connections.size() >= local_server::connection_count_max) {
        ::close(descriptor);
        return;
    }
    timeval const patience{5, 0};
    ::setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    connections.push_back({descriptor});
}

} // namespace

local_server::local_server() : secret_(random_name())
{
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    sockaddr* const any = reinterpret_cast<sockaddr*>(&address);
    if (listener_ < 0 || ::bind(listener_, any, size) != 0 || ::listen(listener_, 16) != 0 ||
        ::getsockname(listener_, any, &size) != 0) {
        cannot_serve();
    }
    host_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

local_server::~local_server()
{
    ::close(listener_);
}

std::string local_server::address() const
{
    return "http://" + host_ + "/" + secret_ + "/";
}

web_answer local_server::answer(std::string const& request, web_handler const& handler) const
{
    std::size_t const head_size = request.find(end_of_head);
    std::string const head = request.substr(0, head_size);
    std::size_t const first = head.find(' ');
    std::size_t const second = head.find(' ', first + 1);
    if (second == std::string::npos || header(head, "host") != host_) {
        return {"no", "text/plain", 400, false};
    }
    std::string const path = head.substr(first + 1, second - first - 1);
    std::string const prefix = "/" + secret_ + "/";
    if (!path.starts_with(prefix)) {
        return {"no", "text/plain", 404, false};
    }
    return handler(
        {head.substr(0, first), path.substr(prefix.size()),
         request.substr(head_size + end_of_head.size())});
}

void local_server::serve(web_handler const& handler)
{
    std::vector<connection> connections;
    bool is_over = false;
    while (!is_over) {
        std::vector<pollfd> waiting{{listener_, POLLIN, 0}};
        for (connection const& one : connections) {
            waiting.push_back({one.descriptor, POLLIN, 0});
        }
        if (::poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) {
            cannot_serve();
        }
        // From the last one on: a closed connection leaves the places before it as they are.
        for (std::size_t i = connections.size(); i-- > 0;) {
            if (waiting[i + 1].revents == 0) {
                continue;
            }
            bool const is_open = receive(connections[i]);
            bool const is_answered = is_open && is_complete(connections[i].received);
            if (is_answered && !is_over) {
                web_answer const sent = answer(connections[i].received, handler);
                send_answer(connections[i].descriptor, sent);
                is_over = sent.is_last;
            }
            if (is_answered || !is_open) {
                ::close(connections[i].descriptor);
                connections.erase(connections.begin() + static_cast<std::ptrdiff_t>(i));
            }
        }
        if (waiting[0].revents != 0) {
            accept_from(listener_, connections);
        }
    }
    for (connection const& one : connections) {
        ::close(one.descriptor);
    }
}

} // namespace statsync
