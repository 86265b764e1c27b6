// epoll_client.cpp: the bar for the load generator: full handshakes by a closed loop on bare epoll,
// on the TLS library of cleat-bench, with nothing measured.
//
// It verifies every answer, and no certificate. Its last line on stdout is JSON.
#include "block_bio.hpp"
#include "loopback.hpp"
#include "tls13_suite.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/epoll.h>
#include <unistd.h>

namespace {

constexpr std::size_t piece_size = 256 * 1024;

struct options
{
    std::string server;
    std::uint64_t count = 1000;     // connections in all
    std::uint64_t concurrency = 32; // of them at once
    std::uint64_t bytes = 1024;     // of the answer's body
};

struct session
{
    SSL* tls = nullptr;
    int fd = -1;
    bool handshaken = false;
    bool readable = false;
    bool hung_up = false; // the server's FIN is behind what can still be received
    bool writable_awaited = false;
    bool queued = false;
    std::string head; // of the answer, until it is complete
    bool head_read = false;
    std::uint64_t body_size = 0;
    std::string unsent;
};

// outcome of driving a session: go on, done, or the kind of its failure.
using outcome = char const*;
constexpr outcome going_on = "";
constexpr outcome done = "ok";

class client
{
public:
    explicit client(options const& use);
    int run();

private:
    void open_one();
    void drive(session* s);
    outcome advance(session& s);
    outcome receive(session& s);
    outcome read_answer(session& s);
    outcome judge(session const& s) const;
    void take_answer(session& s, std::string_view bytes);
    bool write_request(session& s);
    bool flush(session& s);
    void finish(session* s, outcome how);
    void report() const;

    options use_;
    sockaddr_in server_;
    SSL_CTX* context_;
    perf::block_bio bio_;
    std::vector<char> cipher_;
    std::vector<char> plain_;
    int epoll_;
    std::string request_;
    std::uint64_t opened_ = 0;
    std::uint64_t open_ = 0;
    std::uint64_t ok_ = 0;
    std::map<std::string, std::uint64_t> failures_;
    std::vector<session*> again_;
};

// One version, group and suite, so that every client asks the server for the same work.
SSL_CTX* make_context()
{
    SSL_CTX* context = SSL_CTX_new(TLS_client_method());
    if (SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set1_groups_list(context, "X25519") != 1 ||
        !set_tls13_suite(context, "TLS_AES_128_GCM_SHA256"))
        throw std::runtime_error("the TLS library does not know this version, group or suite");
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    return context;
}

client::client(options const& use)
    : use_(use)
    , server_(perf::parse_address(use.server))
    , context_(make_context())
    , bio_(perf::block_size(piece_size))
    , cipher_(piece_size)
    , plain_(perf::block_size(piece_size))
    , epoll_(epoll_create1(EPOLL_CLOEXEC))
    , request_(fmt::format("GET /{} HTTP/1.0\r\n\r\n", use.bytes))
{
    if (epoll_ < 0)
        perf::fail("epoll_create1");
}

int client::run()
{
    epoll_event events[256];
    std::vector<session*> now;
    while (ok_ < use_.count && !perf::stop_asked) {
        while (open_ < use_.concurrency && opened_ < use_.count)
            open_one();
        if (open_ == 0 && opened_ == use_.count)
            break; // the rest has failed
        int const count = epoll_wait(epoll_, events, 256, again_.empty() ? 10000 : 0);
        if (count == 0 && again_.empty()) {
            failures_["stalled"] += open_;
            break;
        }
        for (int i = 0; i < count; ++i) {
            auto* const s = static_cast<session*>(events[i].data.ptr);
            s->readable |= (events[i].events & ~std::uint32_t{EPOLLOUT}) != 0;
            s->hung_up |= (events[i].events & ~std::uint32_t{EPOLLIN | EPOLLOUT}) != 0;
            drive(s);
        }
        now.swap(again_);
        for (session* s : now)
            if (std::exchange(s->queued, false))
                drive(s);
        now.clear();
    }
    report();
    return failures_.empty() ? 0 : 1;
}

void client::open_one()
{
    auto* const s = new session;
    ++opened_;
    ++open_;
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s->fd < 0)
        perf::fail("socket");
    perf::set_option(s->fd, IPPROTO_TCP, TCP_NODELAY, 1);
    s->tls = SSL_new(context_);
    bio_.attach(s->tls);
    SSL_set_connect_state(s->tls);
    if (connect(s->fd, perf::generic(server_), sizeof server_) != 0 && errno != EINPROGRESS)
        return finish(s, "connect");
    epoll_event event{};
    event.events = EPOLLIN | EPOLLRDHUP | EPOLLET;
    event.data.ptr = s;
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, s->fd, &event) != 0)
        perf::fail("epoll_ctl");
    bio_.clear();
    SSL_do_handshake(s->tls);
    s->unsent.assign(bio_.outgoing().begin(), bio_.outgoing().end());
    if (!flush(*s))
        finish(s, "connect");
}

void client::drive(session* s)
{
    outcome const how = advance(*s);
    if (how != going_on)
        finish(s, how);
    else if (s->readable && !std::exchange(s->queued, true))
        again_.push_back(s);
}

outcome client::advance(session& s)
{
    if (!flush(s))
        return "reset";
    while (s.readable)
        if (outcome const how = receive(s); how != going_on)
            return how;
    return going_on;
}

outcome client::receive(session& s)
{
    ssize_t const got = recv(s.fd, cipher_.data(), cipher_.size(), 0);
    if (got < 0) {
        s.readable = false;
        return errno == EAGAIN ? going_on : s.handshaken ? "reset" : "handshake";
    }
    auto const size = static_cast<std::size_t>(got);
    s.readable = size == cipher_.size() || (s.hung_up && size > 0);
    bio_.receive({cipher_.data(), size});
    bio_.clear();
    if (!s.handshaken) {
        int const result = SSL_do_handshake(s.tls);
        if (result == 1) {
            s.handshaken = true;
            if (!write_request(s))
                return "reset";
        } else if (SSL_get_error(s.tls, result) != SSL_ERROR_WANT_READ || size == 0)
            return "handshake";
        s.unsent.append(bio_.outgoing().data(), bio_.outgoing().size());
        bio_.clear();
        if (!flush(s))
            return "reset";
        if (!s.handshaken)
            return going_on;
    }
    outcome const how = read_answer(s);
    return how == going_on && size == 0 ? judge(s) : how;
}

// read_answer takes what the last receive brought, up to the end of the answer.
outcome client::read_answer(session& s)
{
    int read = 0;
    while ((read = SSL_read(s.tls, plain_.data(), static_cast<int>(plain_.size()))) > 0)
        take_answer(s, {plain_.data(), static_cast<std::size_t>(read)});
    int const why = SSL_get_error(s.tls, read);
    if (why == SSL_ERROR_ZERO_RETURN)
        return judge(s);
    return why == SSL_ERROR_WANT_READ ? going_on : "protocol";
}

// judge says whether an answer that has ended was the right one.
outcome client::judge(session const& s) const
{
    return s.head_read && s.body_size == use_.bytes ? done : "size";
}

void client::take_answer(session& s, std::string_view bytes)
{
    if (!s.head_read) {
        s.head.append(bytes);
        std::size_t const end = s.head.find("\r\n\r\n");
        if (end == std::string::npos)
            return;
        s.head_read = true;
        s.body_size = s.head.size() - (end + 4);
        s.head = {};
        return;
    }
    s.body_size += bytes.size();
}

bool client::write_request(session& s)
{
    return SSL_write(s.tls, request_.data(), static_cast<int>(request_.size())) > 0;
}

bool client::flush(session& s)
{
    if (s.unsent.empty())
        return true;
    ssize_t const sent = send(s.fd, s.unsent.data(), s.unsent.size(), 0);
    if (sent < 0 && errno != EAGAIN)
        return false;
    if (sent > 0)
        s.unsent.erase(0, static_cast<std::size_t>(sent));
    if (!s.unsent.empty() && !std::exchange(s.writable_awaited, true)) {
        epoll_event event{};
        event.events = EPOLLIN | EPOLLRDHUP | EPOLLOUT | EPOLLET;
        event.data.ptr = &s;
        return epoll_ctl(epoll_, EPOLL_CTL_MOD, s.fd, &event) == 0;
    }
    return true;
}

void client::finish(session* s, outcome how)
{
    if (how == done) {
        ++ok_;
        bio_.clear();
        SSL_shutdown(s->tls);
        s->unsent.assign(bio_.outgoing().data(), bio_.outgoing().size());
        // This close_notify may fail without harm: the server may be gone already.
        send(s->fd, s->unsent.data(), s->unsent.size(), 0);
    } else
        ++failures_[how];
    if (s->queued)
        std::erase(again_, s);
    --open_;
    SSL_free(s->tls);
    close(s->fd);
    delete s;
}

void client::report() const
{
    std::string failures;
    for (auto const& [kind, count] : failures_)
        failures += fmt::format("{}\"{}\": {}", failures.empty() ? "" : ", ", kind, count);
    fmt::print("{{\"ok\": {}, \"failures\": {{{}}}}}\n", ok_, failures);
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv)
try {
    options use;
    CLI::App app{"Full handshakes on bare epoll, for the cost of a load generator"};
    app.add_option("server", use.server, "address and port")->required();
    app.add_option("-n,--count", use.count, "connections in all");
    app.add_option("-c,--concurrency", use.concurrency, "connections at once");
    app.add_option("-b,--bytes", use.bytes, "of an answer's body");
    CLI11_PARSE(app, argc, argv);
    perf::raise_open_files();
    perf::stop_on_signals();
    return client{use}.run();
} catch (std::exception const& e) {
    std::fprintf(stderr, "epoll_client: %s\n", e.what());
    return 1;
}
