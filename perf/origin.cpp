// origin.cpp: the plain TCP origin behind the servers that are measured; as cheap as it can be.
//
//   GET /N HTTP/1.0      answers with N bytes and closes
//   GET /N HTTP/1.1      answers with N bytes and keeps the connection
//   POST / with a Content-Length   discards the body, answers with the count, and closes where GET
//                                  would, or after "Connection: close"
//
// A client that begins with the preface of HTTP/2 has the same by HTTP/2, and is kept.
//
// One thread. A connection that says nothing is held; so is one that was answered with HTTP/1.1.
#include "loopback.hpp"
#include "origin_http2.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <sys/epoll.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

constexpr std::size_t block_size = 1024 * 1024;
constexpr std::size_t head_size_max = 8192;

struct connection
{
    explicit connection(int accepted) : fd(accepted) {}
    connection(connection const&) = delete;
    connection& operator=(connection const&) = delete;
    ~connection() { close(fd); }

    int const fd;
    std::string head;             // of a request, until it is complete
    std::string answer_head;      // of the answer, until it is sent
    std::uint64_t to_send = 0;    // bytes of the answer's body
    std::uint64_t to_discard = 0; // bytes of the request's body
    std::uint64_t discarded = 0;
    bool close_after = false;
    bool waits_writable = false;
    std::unique_ptr<perf::http2_end> http2; // null: HTTP/1.x
    std::string unsent;                     // of HTTP/2
};

class origin
{
public:
    explicit origin(std::string const& listen);
    void run();

private:
    void accept_all();
    void serve(connection* c);
    bool receive(connection& c);
    bool on_head(connection& c, std::string_view body);
    bool discard(connection& c, std::size_t size);
    bool send_answer(connection* c);
    void wait_writable(connection* c, bool wanted);
    bool serve_http2(connection* c);
    bool send_frames(connection* c);
    void end(connection* c);

    int listener_;
    int epoll_;
    std::vector<char> block_;
    std::vector<char> body_;
    std::unordered_map<connection const*, std::unique_ptr<connection>> open_;
};

origin::origin(std::string const& listen)
    : listener_(perf::listen_on(perf::parse_address(listen), false))
    , epoll_(epoll_create1(EPOLL_CLOEXEC))
    , block_(block_size)
    , body_(block_size, 'x')
{
    if (epoll_ < 0)
        perf::fail("epoll_create1");
    epoll_event event{};
    event.events = EPOLLIN;
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, listener_, &event) != 0)
        perf::fail("epoll_ctl");
    perf::announce(listener_);
}

void origin::run()
{
    epoll_event events[256];
    while (!perf::stop_asked) {
        int const count = epoll_wait(epoll_, events, 256, -1);
        for (int i = 0; i < count; ++i) {
            if (events[i].data.ptr)
                serve(static_cast<connection*>(events[i].data.ptr));
            else
                accept_all();
        }
    }
}

void origin::accept_all()
{
    int const fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return;
    auto made = std::make_unique<connection>(fd);
    connection* const c = made.get();
    open_.emplace(c, std::move(made));
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = c;
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0)
        end(c);
}

// serve handles one event of a connection, which has one descriptor and so one event a wake-up.
void origin::serve(connection* c)
{
    if (c->http2) {
        if (!serve_http2(c))
            end(c);
        return;
    }
    bool const answering = c->to_send > 0 || !c->answer_head.empty();
    if (!answering && !receive(*c))
        return end(c);
    if (c->http2 && !send_frames(c))
        return end(c);
    if ((c->to_send > 0 || !c->answer_head.empty()) && !send_answer(c))
        return end(c);
}

bool origin::receive(connection& c)
{
    ssize_t const got = recv(c.fd, block_.data(), block_.size(), 0);
    if (got <= 0)
        return got < 0 && errno == EAGAIN;
    auto const size = static_cast<std::size_t>(got);
    if (c.to_discard > 0)
        return discard(c, size);
    c.head.append(block_.data(), size);
    if (perf::http2_end::begins_so(c.head)) {
        c.http2 = std::make_unique<perf::http2_end>();
        return c.http2->take(std::exchange(c.head, {}));
    }
    std::size_t const end_of_head = c.head.find("\r\n\r\n");
    if (end_of_head == std::string::npos)
        return c.head.size() < head_size_max;
    std::string const head = std::exchange(c.head, {});
    c.head = head.substr(0, end_of_head + 2); // Each line with its end.
    return on_head(c, std::string_view(head).substr(end_of_head + 4));
}

std::string head_of_answer(connection const& c, std::uint64_t size)
{
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) +
           (c.close_after ? "\r\nConnection: close\r\n\r\n" : "\r\n\r\n");
}

bool origin::on_head(connection& c, std::string_view body)
{
    std::string const head = std::exchange(c.head, {});
    auto const number = [&head](std::string_view after) {
        std::uint64_t value = 0;
        std::size_t const at = head.find(after);
        if (at != std::string::npos)
            std::from_chars(head.data() + at + after.size(), head.data() + head.size(), value);
        return value;
    };
    c.close_after = head.find("HTTP/1.0\r\n") != std::string::npos ||
                    head.find("Connection: close\r\n") != std::string::npos;
    if (head.starts_with("POST /")) {
        c.discarded = 0;
        c.to_discard = number("Content-Length: ");
        return c.to_discard > 0 && (body.empty() || discard(c, body.size()));
    }
    if (!head.starts_with("GET /"))
        return false;
    c.to_send = number("GET /");
    c.answer_head = head_of_answer(c, c.to_send);
    return true;
}

bool origin::discard(connection& c, std::size_t size)
{
    c.discarded += size;
    c.to_discard -= std::min<std::uint64_t>(c.to_discard, size);
    if (c.to_discard > 0)
        return true;
    std::string const count = std::to_string(c.discarded);
    c.answer_head = head_of_answer(c, count.size()) + count;
    return true;
}

// send_answer sends what the socket takes; false when the connection is to be closed.
bool origin::send_answer(connection* c)
{
    while (c->to_send > 0 || !c->answer_head.empty()) {
        std::size_t const piece = std::min<std::uint64_t>(c->to_send, body_.size());
        iovec parts[] = {
            {c->answer_head.data(), c->answer_head.size()},
            {body_.data(), piece},
        };
        msghdr message{};
        message.msg_iov = parts;
        message.msg_iovlen = piece > 0 ? 2 : 1;
        // An answer that fits leaves in one piece with the FIN of the close behind it, so that what
        // a relay sees does not hang on the moment at which it looks.
        bool const last = c->close_after && c->to_send == piece;
        ssize_t const sent = sendmsg(c->fd, &message, last ? MSG_MORE : 0);
        if (sent < 0 && errno != EAGAIN)
            return false;
        if (sent < 0) {
            wait_writable(c, true);
            return true;
        }
        std::size_t const of_head =
            std::min<std::size_t>(c->answer_head.size(), static_cast<std::size_t>(sent));
        c->answer_head.erase(0, of_head);
        c->to_send -= static_cast<std::size_t>(sent) - of_head;
    }
    if (c->close_after)
        return false;
    wait_writable(c, false);
    return true;
}

// wait_writable waits for room to send, and not for bytes, or the other way round.
void origin::wait_writable(connection* c, bool wanted)
{
    if (std::exchange(c->waits_writable, wanted) == wanted)
        return;
    epoll_event event{};
    event.events = wanted ? EPOLLOUT : EPOLLIN;
    event.data.ptr = c;
    epoll_ctl(epoll_, EPOLL_CTL_MOD, c->fd, &event);
}

// serve_http2 handles one event; false when the connection is to be closed.
bool origin::serve_http2(connection* c)
{
    if (!c->waits_writable) {
        ssize_t const got = recv(c->fd, block_.data(), block_.size(), 0);
        if (got <= 0)
            return got < 0 && errno == EAGAIN;
        if (!c->http2->take({block_.data(), static_cast<std::size_t>(got)}))
            return false;
    }
    return send_frames(c);
}

// send_frames sends what the socket takes; false when the connection is to be closed.
bool origin::send_frames(connection* c)
{
    for (;;) {
        if (c->unsent.empty()) {
            std::size_t const made = c->http2->make(block_);
            if (made == 0)
                break;
            ssize_t const sent = send(c->fd, block_.data(), made, 0);
            if (sent < 0 && errno != EAGAIN)
                return false;
            std::size_t const gone = sent < 0 ? 0 : static_cast<std::size_t>(sent);
            c->unsent.assign(block_.data() + gone, made - gone);
        } else {
            ssize_t const sent = send(c->fd, c->unsent.data(), c->unsent.size(), 0);
            if (sent < 0 && errno != EAGAIN)
                return false;
            c->unsent.erase(0, sent < 0 ? 0 : static_cast<std::size_t>(sent));
        }
        if (!c->unsent.empty()) {
            wait_writable(c, true);
            return true;
        }
    }
    wait_writable(c, false);
    return !c->http2->has_ended();
}

void origin::end(connection* c)
{
    open_.erase(c);
}

} // namespace

int main(int argc, char** argv)
try {
    std::string listen = "127.0.0.1:0";
    CLI::App app{"The plain origin behind the servers that are measured"};
    app.add_option("--listen", listen, "address and port; port 0 picks one");
    CLI11_PARSE(app, argc, argv);
    perf::raise_open_files();
    perf::stop_on_signals();
    origin{listen}.run();
    return 0;
} catch (std::exception const& e) {
    std::fprintf(stderr, "origin: %s\n", e.what());
    return 1;
}
