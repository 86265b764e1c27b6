// epoll_relay.cpp: the bar for cleat. TLS in, TCP out, on bare epoll, with no features and no
// timeouts.
//
// One thread, edge-triggered, every descriptor registered once. It is cheap because:
//
// - The listener hands out connections whose ClientHello is already there (TCP_DEFER_ACCEPT), so
//   accepting one and reading it is one wake-up.
// - Ciphertext and plaintext live in blocks that belong to the thread; a connection keeps bytes
//   of its own only while a peer does not take them.
// - The upstream is connected after the handshake, and the request is sent at once: on a near
//   upstream the connection stands by then, and a far one answers EAGAIN and is waited for.
// - A receive that came back short has emptied the socket, and if the event had EPOLLRDHUP, that
//   was the end. Neither needs a second receive.
// - The session ticket, the answer and the close_notify leave together. The close_notify ends
//   the stream for a TLS client, so the FIN waits for its answer: no system call of its own, and
//   the TIME_WAIT is the client's. With --fin it leaves in the segment of the close_notify.
// - Nagle's algorithm cannot delay the first send on a connection, so TCP_NODELAY is set on the
//   upstream's socket before the second one only.
#include "alpn.hpp"
#include "block_bio.hpp"
#include "loopback.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <sys/epoll.h>
#include <unistd.h>

namespace {

constexpr std::size_t turn_min = 16 * 1024;
constexpr std::size_t turn_start = 64 * 1024;
constexpr int turns_per_wakeup_max = 4; // then the others have their turn

struct options
{
    std::string listen = "127.0.0.1:0";
    std::string upstream;
    std::string pem;
    std::string groups;
    std::string tls = "1.3";
    std::string alpn; // the protocol that it selects; empty: none
    std::size_t turn_max = 1024 * 1024;
    bool fin = false; // close_notify and FIN at once, not the FIN when the client has answered
};

// leftover is what a socket did not take; it owns memory only while there is some.
class leftover
{
public:
    bool empty() const { return begin_ == end_; }
    std::span<char const> bytes() const { return {data_.get() + begin_, end_ - begin_}; }
    void keep(std::span<char const> bytes)
    {
        auto grown = std::make_unique_for_overwrite<char[]>(end_ - begin_ + bytes.size());
        std::copy_n(data_.get() + begin_, end_ - begin_, grown.get());
        std::copy(bytes.begin(), bytes.end(), grown.get() + (end_ - begin_));
        end_ = end_ - begin_ + bytes.size();
        begin_ = 0;
        data_ = std::move(grown);
    }
    void drop(std::size_t count)
    {
        begin_ += count;
        if (empty()) {
            data_.reset();
            begin_ = end_ = 0;
        }
    }

private:
    std::unique_ptr<char[]> data_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

// peer is one of the two sockets of a connection, with the bytes that wait to be sent to it.
struct peer
{
    int fd = -1;
    std::size_t turn = turn_start; // how much is sent to it at once
    bool readable = false;         // a receive may find something
    bool hung_up = false;          // its FIN has arrived, behind what can still be received
    bool ended = false;            // its last byte was received, and passed on or waits
    bool ending_sent = false;      // the other side's end was sent to it
    bool waits_writable = false;   // EPOLLOUT is registered, from its first backpressure on
    bool sent_once = false;
    bool nodelay = false;
    leftover unsent;
};

struct connection
{
    connection() = default;
    connection(connection const&) = delete;
    connection& operator=(connection const&) = delete;
    ~connection()
    {
        SSL_free(tls);
        for (int const fd : {client.fd, upstream.fd})
            if (fd >= 0)
                close(fd);
    }

    SSL* tls = nullptr;
    peer client;
    peer upstream;
    leftover owed; // TLS records that may wait: they leave with the next answer
    bool handshaken = false;
    bool doomed = false;
    bool queued = false;
};

enum class side : std::uintptr_t
{
    client = 0,
    upstream = 1
};

class relay
{
public:
    explicit relay(options const& use);
    void run();

private:
    void accept_one();
    void watch(connection* c, side which, int operation);
    void on_event(epoll_event const& event);
    void serve(connection* c);
    bool client_turn(connection& c);
    bool upstream_turn(connection& c);
    bool connect_upstream(connection& c);
    bool handshake(connection& c);
    static bool receive(peer& source, std::span<char> buffer, std::span<char const>& received);
    bool send_to(connection& c, side which, std::span<char const> bytes, int flags);
    void adapt(peer& sink, std::size_t size) const;
    bool pass_endings_on(connection& c) const;
    void doom(connection* c);
    void bury();

    options use_;
    sockaddr_in upstream_;
    std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
    perf::block_bio bio_;
    std::vector<char> plain_;
    std::vector<char> cipher_;
    int listener_;
    int epoll_;
    std::vector<connection*> again_;
    std::vector<connection*> dead_;
    std::unordered_map<connection const*, std::unique_ptr<connection>> open_;
};

SSL_CTX* make_context(options const& use)
{
    SSL_CTX* context = SSL_CTX_new(TLS_server_method());
    auto const need = [](bool done, std::string const& what) {
        if (!done)
            throw std::runtime_error("cannot use " + what);
    };
    std::uint16_t const version = use.tls == "1.2" ? TLS1_2_VERSION : TLS1_3_VERSION;
    need(SSL_CTX_set_min_proto_version(context, version) == 1, "TLS " + use.tls);
    need(SSL_CTX_set_max_proto_version(context, version) == 1, "TLS " + use.tls);
    need(SSL_CTX_use_certificate_chain_file(context, use.pem.c_str()) == 1, use.pem);
    need(SSL_CTX_use_PrivateKey_file(context, use.pem.c_str(), SSL_FILETYPE_PEM) == 1, use.pem);
    if (!use.groups.empty())
        need(SSL_CTX_set1_groups_list(context, use.groups.c_str()) == 1, use.groups);
    else if (SSL_CTX_set1_groups_list(context, "X25519MLKEM768:X25519:P-256") != 1)
        need(SSL_CTX_set1_groups_list(context, "X25519:P-256") == 1, "X25519"); // OpenSSL 3.0
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context, 1);
    perf::select_protocol(context, use.alpn);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    return context;
}

// shed_handshake lets the library forget the handshake's settings after it, where it can.
void shed_handshake(auto* tls)
{
    if constexpr (requires { SSL_set_shed_handshake_config(tls, 1); })
        SSL_set_shed_handshake_config(tls, 1);
}

relay::relay(options const& use)
    : use_(use)
    , upstream_(perf::parse_address(use.upstream))
    , context_(make_context(use), &SSL_CTX_free)
    , bio_(perf::block_size(use.turn_max))
    , plain_(perf::block_size(use.turn_max))
    , cipher_(use.turn_max)
    , listener_(perf::listen_on(perf::parse_address(use.listen), true))
    , epoll_(epoll_create1(EPOLL_CLOEXEC))
{
    if (epoll_ < 0)
        perf::fail("epoll_create1");
    epoll_event event{};
    event.events = EPOLLIN; // level-triggered: one accept a wake-up needs no EAGAIN to end it
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, listener_, &event) != 0)
        perf::fail("epoll_ctl");
    perf::announce(listener_);
}

void relay::run()
{
    epoll_event events[256];
    std::vector<connection*> now;
    while (!perf::stop_asked) {
        int const count = epoll_wait(epoll_, events, 256, again_.empty() ? -1 : 0);
        for (int i = 0; i < count; ++i)
            on_event(events[i]);
        now.swap(again_);
        for (connection* c : now) {
            c->queued = false;
            if (!c->doomed)
                serve(c);
        }
        now.clear();
        bury();
    }
}

void relay::on_event(epoll_event const& event)
{
    if (event.data.u64 == 0)
        return accept_one();
    auto const tagged = static_cast<std::uintptr_t>(event.data.u64);
    auto* const c = reinterpret_cast<connection*>(tagged & ~std::uintptr_t{1});
    if (c->doomed)
        return;
    peer& source = (tagged & 1) ? c->upstream : c->client;
    if (event.events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        source.readable = true;
    if (event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        source.hung_up = true;
    serve(c);
}

void relay::accept_one()
{
    int const fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return;
    auto made = std::make_unique<connection>();
    connection* const c = made.get();
    open_.emplace(c, std::move(made));
    c->client.fd = fd;
    c->client.readable = true;
    c->tls = SSL_new(context_.get());
    bio_.attach(c->tls);
    SSL_set_accept_state(c->tls);
    shed_handshake(c->tls);
    watch(c, side::client, EPOLL_CTL_ADD);
    serve(c);
}

// watch registers a descriptor: for reading, and from its first backpressure on for writing too.
void relay::watch(connection* c, side which, int operation)
{
    peer const& p = which == side::client ? c->client : c->upstream;
    epoll_event event{};
    event.events = EPOLLIN | EPOLLRDHUP | EPOLLET | (p.waits_writable ? EPOLLOUT : 0u);
    event.data.u64 = reinterpret_cast<std::uintptr_t>(c) | static_cast<std::uintptr_t>(which);
    if (epoll_ctl(epoll_, operation, p.fd, &event) != 0)
        doom(c);
}

// serve moves what can be moved, for a few turns; what is left comes back through again_.
void relay::serve(connection* c)
{
    if (!send_to(*c, side::client, {}, 0) || !send_to(*c, side::upstream, {}, 0))
        return doom(c);
    int turn = 0;
    for (; turn < turns_per_wakeup_max; ++turn) {
        bool const up = c->client.readable && !c->client.ended && c->upstream.unsent.empty();
        if (up && !client_turn(*c))
            return doom(c);
        bool const down = c->upstream.readable && !c->upstream.ended && c->client.unsent.empty();
        if (down && !upstream_turn(*c))
            return doom(c);
        if (!up && !down)
            break;
    }
    if (!pass_endings_on(*c))
        return doom(c);
    if (turn == turns_per_wakeup_max && !c->queued) {
        c->queued = true;
        again_.push_back(c);
    }
}

// receive takes one piece, and learns from its size and the event before it whether it was the
// last. False is an error of the socket.
bool relay::receive(peer& source, std::span<char> buffer, std::span<char const>& received)
{
    received = {};
    ssize_t const count = recv(source.fd, buffer.data(), buffer.size(), 0);
    if (count < 0) {
        source.readable = false;
        return errno == EAGAIN;
    }
    received = buffer.first(static_cast<std::size_t>(count));
    if (received.size() < buffer.size()) {
        source.readable = false;
        source.ended = received.empty() || source.hung_up;
    }
    return true;
}

bool relay::client_turn(connection& c)
{
    std::span<char const> received;
    if (!receive(c.client, std::span(cipher_).first(c.upstream.turn), received))
        return false;
    bool const tcp_ended = std::exchange(c.client.ended, false); // TLS decides that
    bio_.receive(received);
    bio_.clear();
    if (!c.handshaken && !handshake(c))
        return false;
    if (!c.handshaken)
        return !tcp_ended;

    std::size_t size = 0;
    int read = 0;
    while ((read = SSL_read(c.tls, plain_.data() + size, static_cast<int>(plain_.size() - size))) >
           0)
        size += static_cast<std::size_t>(read);
    int const why = SSL_get_error(c.tls, read);
    if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_ZERO_RETURN)
        return false;
    // A FIN without a close_notify truncates the stream, unless both sides had ended before it.
    if (why == SSL_ERROR_WANT_READ && tcp_ended && !c.client.ending_sent)
        return false;
    c.client.ended = tcp_ended || why == SSL_ERROR_ZERO_RETURN;
    if (!bio_.outgoing().empty())
        c.owed.keep(bio_.outgoing());
    if (!send_to(c, side::upstream, {plain_.data(), size}, 0))
        return false;
    adapt(c.upstream, received.size());
    return true;
}

// handshake continues it, and connects the upstream at its end.
bool relay::handshake(connection& c)
{
    int const done = SSL_do_handshake(c.tls);
    bool const failed = done != 1 && SSL_get_error(c.tls, done) != SSL_ERROR_WANT_READ;
    c.handshaken = done == 1;
    // In TLS 1.3 the client sends last: what is there now is a ticket, which may wait.
    if (!c.handshaken || SSL_version(c.tls) != TLS1_3_VERSION) {
        if (!send_to(c, side::client, bio_.outgoing(), 0) || failed)
            return false;
        bio_.clear();
    }
    return !c.handshaken || connect_upstream(c);
}

bool relay::connect_upstream(connection& c)
{
    c.upstream.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c.upstream.fd < 0)
        return false;
    if (connect(c.upstream.fd, perf::generic(upstream_), sizeof upstream_) != 0 &&
        errno != EINPROGRESS)
        return false;
    watch(&c, side::upstream, EPOLL_CTL_ADD);
    return !c.doomed;
}

bool relay::upstream_turn(connection& c)
{
    std::span<char const> received;
    if (!receive(c.upstream, std::span(plain_).first(c.client.turn), received))
        return false;
    bio_.clear();
    bio_.put(c.owed.bytes());
    c.owed.drop(c.owed.bytes().size());
    if (!received.empty() &&
        SSL_write(c.tls, received.data(), static_cast<int>(received.size())) <= 0)
        return false;
    if (c.upstream.ended)
        SSL_shutdown(c.tls);
    // MSG_MORE: the FIN that follows leaves in the segment of the last bytes.
    if (!send_to(c, side::client, bio_.outgoing(), use_.fin && c.upstream.ended ? MSG_MORE : 0))
        return false;
    adapt(c.client, received.size());
    return true;
}

// adapt sizes the next turn by what the last one met: the socket took all of a full one, or did
// not.
void relay::adapt(peer& sink, std::size_t size) const
{
    if (!sink.unsent.empty())
        sink.turn = std::max(turn_min, sink.turn / 2);
    else if (size == sink.turn)
        sink.turn = std::min(use_.turn_max, sink.turn * 2);
}

// send_to sends `bytes` behind what waits already, and keeps what the socket does not take.
bool relay::send_to(connection& c, side which, std::span<char const> bytes, int flags)
{
    peer& sink = which == side::client ? c.client : c.upstream;
    bool const behind = !sink.unsent.empty();
    if (behind && !bytes.empty())
        sink.unsent.keep(bytes);
    if (behind)
        bytes = sink.unsent.bytes();
    if (bytes.empty())
        return true;
    if (which == side::upstream && sink.sent_once && !std::exchange(sink.nodelay, true))
        perf::set_option(sink.fd, IPPROTO_TCP, TCP_NODELAY, 1);
    ssize_t const sent = send(sink.fd, bytes.data(), bytes.size(), flags);
    if (sent < 0 && errno != EAGAIN)
        return false;
    std::size_t const taken = sent < 0 ? 0 : static_cast<std::size_t>(sent);
    sink.sent_once |= taken > 0;
    if (behind)
        sink.unsent.drop(taken);
    else if (taken < bytes.size())
        sink.unsent.keep(bytes.subspan(taken));
    if (!sink.unsent.empty() && !std::exchange(sink.waits_writable, true))
        watch(&c, which, EPOLL_CTL_MOD);
    return !c.doomed;
}

// pass_endings_on tells each side that the other one has ended; false when there is nothing left to
// do.
bool relay::pass_endings_on(connection& c) const
{
    bool const end_client = c.upstream.ended && c.client.unsent.empty() && !c.client.ending_sent;
    bool const end_upstream =
        c.client.ended && c.upstream.unsent.empty() && !c.upstream.ending_sent;
    c.client.ending_sent |= end_client;
    c.upstream.ending_sent |= end_upstream;
    if (c.client.ending_sent && c.upstream.ending_sent)
        return false; // closing ends both
    if (end_client && use_.fin)
        shutdown(c.client.fd, SHUT_WR);
    if (end_upstream)
        shutdown(c.upstream.fd, SHUT_WR);
    return true;
}

// doom marks a connection; it is buried when no event of this wake-up can name it any more.
void relay::doom(connection* c)
{
    if (!std::exchange(c->doomed, true))
        dead_.push_back(c);
}

void relay::bury()
{
    for (connection* c : dead_)
        open_.erase(c);
    dead_.clear();
}

} // namespace

int main(int argc, char** argv)
try {
    options use;
    CLI::App app{"A bare TLS to TCP relay on epoll: the control arm that cleat is held against"};
    app.add_option("--listen", use.listen, "address and port; port 0 picks one");
    app.add_option("--upstream", use.upstream, "address and port")->required();
    app.add_option("--pem", use.pem, "file with the certificate chain and its key")->required();
    app.add_option("--groups", use.groups, "key exchange groups, in order");
    app.add_option("--tls", use.tls, "the one protocol version")
        ->check(CLI::IsMember({"1.2", "1.3"}));
    app.add_option("--alpn", use.alpn, "the one protocol that it selects by ALPN");
    app.add_option("--turn", use.turn_max, "most bytes moved at once")
        ->check(CLI::Range(turn_start, std::size_t{16} * 1024 * 1024));
    app.add_flag("--fin", use.fin, "send the FIN with the close_notify");
    app.set_version_flag("--version", OpenSSL_version(OPENSSL_VERSION));
    CLI11_PARSE(app, argc, argv);
    perf::raise_open_files();
    perf::stop_on_signals();
    relay{use}.run();
    return 0;
} catch (std::exception const& e) {
    std::fprintf(stderr, "epoll_relay: %s\n", e.what());
    return 1;
}
