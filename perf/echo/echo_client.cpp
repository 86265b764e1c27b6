// perf-echo-client: connections to an echo server, on bare epoll, which do what each line of
// standard input says. Every answer is compared with its message. A line of JSON says that a
// command is done, so that the caller can read what the server has used between two commands.
//
//     open COUNT                   connections until there are COUNT, with their handshakes
//     echo SIZE COUNT AT_ONCE      COUNT messages in all, each connection in its turn
//     handshakes COUNT AT_ONCE     so many connections: handshake, a message of 64 bytes, close
//
// The first failure ends the program.

#include "block_bio.hpp"
#include "loopback.hpp"
#include "tls13_suite.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <deque>
#include <exception>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/epoll.h>
#include <unistd.h>

namespace {

constexpr std::size_t piece_size = 256 * 1024;
constexpr std::size_t short_message = 64;
constexpr int patience_ms = 20'000;

struct options
{
    std::string server;
    bool websocket = false;
    bool resume = false;
};

enum class stage
{
    handshake,
    upgrade, // to a WebSocket
    idle,
    message, // sent, and its answer awaited
    close
};

struct connection
{
    SSL* tls = nullptr;
    int fd = -1;
    stage now = stage::handshake;
    bool is_last_message = false;
    std::string unsent;       // ciphertext
    std::size_t sealed = 0;   // bytes of the message
    std::size_t answered = 0; // bytes of the answer
    std::string head;         // of the answer to an upgrade
};

class client
{
public:
    explicit client(options const& use);
    void obey(std::string const& line);

private:
    void open(std::size_t count);
    void echo(std::size_t size, std::uint64_t count, std::size_t at_once);
    void handshakes(std::uint64_t count, std::size_t at_once);
    void report() const;

    void make_message(std::size_t size);
    void connect_one();
    void wait_for_events();
    void drive(connection& c);
    void begin_message(connection& c);
    void receive(connection& c);
    void handshake(connection& c);
    void take(connection& c, std::string_view bytes);
    void end_message(connection& c);
    void begin_close(connection& c);
    void drop(connection& c);
    void send_message(connection& c);
    void send_sealed(connection& c);
    void flush(connection& c);

    options use_;
    sockaddr_in server_;
    SSL_CTX* context_;
    perf::block_bio bio_;
    std::vector<char> cipher_;
    std::vector<char> plain_;
    int epoll_;
    std::string message_;
    std::string answer_;
    std::deque<connection*> idle_;
    std::size_t open_ = 0;     // connections, with those that are in their handshake
    std::uint64_t done_ = 0;   // messages of this command
    std::uint64_t closed_ = 0; // connections of this command
    std::uint64_t resumed_ = 0;
    std::uint64_t to_begin_ = 0; // messages
};

[[noreturn]] void give_up(char const* what)
{
    throw std::runtime_error(what);
}

SSL_SESSION* kept_session = nullptr; // The newest. This program has one thread.

int keep_session(SSL*, SSL_SESSION* session)
{
    SSL_SESSION_free(std::exchange(kept_session, session));
    return 1; // It is ours now.
}

// One version, group and suite, so that each server has the same work.
SSL_CTX* make_context(options const& use)
{
    SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
    if (SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set1_groups_list(context, "X25519") != 1 ||
        !set_tls13_suite(context, "TLS_AES_128_GCM_SHA256"))
        give_up("the TLS library does not know this version, group or suite");
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    if (use.resume) {
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
        SSL_CTX_sess_set_new_cb(context, keep_session);
    }
    return context;
}

client::client(options const& use)
    : use_(use)
    , server_(perf::parse_address(use.server))
    , context_(make_context(use))
    , bio_(perf::block_size(piece_size))
    , cipher_(piece_size)
    , plain_(perf::block_size(piece_size))
    , epoll_(epoll_create1(EPOLL_CLOEXEC))
{
    if (epoll_ < 0)
        perf::fail("epoll_create1");
}

void client::obey(std::string const& line)
{
    std::istringstream words{line};
    std::string command;
    std::uint64_t numbers[3] = {};
    words >> command;
    for (std::uint64_t& each : numbers)
        words >> each;
    done_ = closed_ = resumed_ = 0;
    if (command == "open")
        open(numbers[0]);
    else if (command == "echo")
        echo(numbers[0], numbers[1], numbers[2]);
    else if (command == "handshakes")
        handshakes(numbers[0], numbers[1]);
    else
        give_up("there are open, echo and handshakes");
    report();
}

void client::report() const
{
    fmt::print(
        R"({{"open": {}, "messages": {}, "closed": {}, "resumed": {}}})"
        "\n",
        open_, done_, closed_, resumed_);
    std::fflush(stdout);
}

void client::open(std::size_t count)
{
    constexpr std::size_t at_once = 64;
    to_begin_ = 0;
    while (idle_.size() < count) {
        while (open_ < count && open_ - idle_.size() < at_once)
            connect_one();
        wait_for_events();
    }
}

void client::echo(std::size_t size, std::uint64_t count, std::size_t at_once)
{
    make_message(size);
    to_begin_ = count;
    for (std::size_t i = 0; i < at_once && to_begin_ > 0 && !idle_.empty(); ++i) {
        connection* const next = idle_.front();
        idle_.pop_front();
        begin_message(*next);
    }
    while (done_ < count)
        wait_for_events();
}

void client::handshakes(std::uint64_t count, std::size_t at_once)
{
    make_message(short_message);
    to_begin_ = 0;
    std::size_t const before = open_;
    while (closed_ < count) {
        while (open_ - before < at_once && closed_ + (open_ - before) < count) {
            to_begin_ += 1;
            connect_one();
        }
        wait_for_events();
    }
}

// A WebSocket's frames: RFC 6455, section 5.2.
std::string frame(std::string_view content, bool masked)
{
    constexpr unsigned char key[4] = {0x37, 0xfa, 0x21, 0x3d};
    std::string made{'\x82'}; // The only frame of a binary message.
    unsigned const mask_bit = masked ? 0x80 : 0;
    int const length_bytes = content.size() < 126 ? 0 : content.size() < 65'536 ? 2 : 8;
    std::size_t const first = length_bytes == 0 ? content.size() : length_bytes == 2 ? 126 : 127;
    made += static_cast<char>(mask_bit | first);
    for (int i = length_bytes - 1; i >= 0; --i)
        made += static_cast<char>(content.size() >> (8 * static_cast<unsigned>(i)));
    if (!masked)
        return made.append(content);
    made.append(reinterpret_cast<char const*>(key), sizeof key);
    for (std::size_t i = 0; i < content.size(); ++i)
        made += static_cast<char>(static_cast<unsigned char>(content[i]) ^ key[i % sizeof key]);
    return made;
}

void client::make_message(std::size_t size)
{
    std::string content(size, ' ');
    for (std::size_t i = 0; i < size; ++i)
        content[i] = static_cast<char>('a' + i % 23);
    message_ = use_.websocket ? frame(content, true) : content;
    answer_ = use_.websocket ? frame(content, false) : content;
}

void client::connect_one()
{
    auto* const c = new connection;
    ++open_;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0)
        perf::fail("socket");
    perf::set_option(c->fd, IPPROTO_TCP, TCP_NODELAY, 1);
    c->tls = SSL_new(context_);
    bio_.attach(c->tls);
    SSL_set_connect_state(c->tls);
    if (kept_session != nullptr && SSL_set_session(c->tls, kept_session) != 1)
        give_up("SSL_set_session failed");
    if (connect(c->fd, perf::generic(server_), sizeof server_) != 0 && errno != EINPROGRESS)
        perf::fail("connect");
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    event.data.ptr = c;
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, c->fd, &event) != 0)
        perf::fail("epoll_ctl");
    bio_.clear();
    SSL_do_handshake(c->tls);
    send_sealed(*c);
}

void client::wait_for_events()
{
    epoll_event events[256];
    int const count = epoll_wait(epoll_, events, 256, patience_ms);
    if (count < 0 && errno != EINTR)
        perf::fail("epoll_wait");
    if (count == 0)
        give_up("the server does not answer");
    for (int i = 0; i < count; ++i)
        drive(*static_cast<connection*>(events[i].data.ptr));
}

void client::drive(connection& c)
{
    flush(c);
    if (c.now == stage::message)
        send_message(c);
    receive(c); // The connection may be gone after it.
}

void client::begin_message(connection& c)
{
    --to_begin_;
    c.now = stage::message;
    c.sealed = c.answered = 0;
    send_message(c);
}

void client::receive(connection& c)
{
    for (;;) {
        ssize_t const got = recv(c.fd, cipher_.data(), cipher_.size(), 0);
        if (got < 0 && errno == EAGAIN)
            return;
        if (got <= 0) {
            if (c.now != stage::close)
                give_up("the server has closed a connection");
            return drop(c);
        }
        auto const size = static_cast<std::size_t>(got);
        bio_.receive({cipher_.data(), size});
        bio_.clear();
        if (c.now == stage::handshake)
            handshake(c);
        int read = 0;
        while (c.now != stage::handshake && c.now != stage::close &&
               (read = SSL_read(c.tls, plain_.data(), static_cast<int>(plain_.size()))) > 0)
            take(c, {plain_.data(), static_cast<std::size_t>(read)});
        bio_.receive({}); // Bytes behind the server's close_notify are for nobody.
        // A short count says that the socket is drained. The server's FIN may be behind it.
        if (size < cipher_.size() && c.now != stage::close)
            return;
    }
}

void client::handshake(connection& c)
{
    int const result = SSL_do_handshake(c.tls);
    if (result != 1 && SSL_get_error(c.tls, result) != SSL_ERROR_WANT_READ)
        give_up("a handshake has failed");
    if (result == 1) {
        resumed_ += SSL_session_reused(c.tls) != 0 ? 1U : 0U;
        constexpr std::string_view upgrade =
            "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
        if (use_.websocket &&
            SSL_write(c.tls, upgrade.data(), static_cast<int>(upgrade.size())) <= 0)
            give_up("SSL_write failed");
    }
    if (result != 1 || use_.websocket) {
        send_sealed(c);
        c.now = result == 1 ? stage::upgrade : stage::handshake;
        return;
    }
    c.unsent.append(bio_.outgoing().data(), bio_.outgoing().size());
    bio_.clear();
    c.is_last_message = to_begin_ > 0;
    if (c.is_last_message)
        return begin_message(c); // It leaves with the client's Finished.
    flush(c);
    c.now = stage::idle;
    idle_.push_back(&c);
}

void client::take(connection& c, std::string_view bytes)
{
    if (c.now == stage::upgrade) {
        c.head.append(bytes);
        if (!c.head.ends_with("\r\n\r\n"))
            return;
        if (!c.head.starts_with("HTTP/1.1 101"))
            give_up("the server speaks no WebSocket");
        c.head = {};
        c.now = stage::idle;
        return idle_.push_back(&c);
    }
    if (c.now != stage::message || answer_.compare(c.answered, bytes.size(), bytes) != 0)
        give_up("an answer is not the message");
    c.answered += bytes.size();
    if (c.answered == answer_.size())
        end_message(c);
}

void client::end_message(connection& c)
{
    ++done_;
    if (c.is_last_message)
        return begin_close(c);
    c.now = stage::idle;
    idle_.push_back(&c);
    if (to_begin_ == 0)
        return;
    connection* const next = idle_.front();
    idle_.pop_front();
    begin_message(*next);
}

void client::begin_close(connection& c)
{
    c.now = stage::close;
    bio_.clear();
    SSL_shutdown(c.tls);
    send_sealed(c);
}

void client::drop(connection& c)
{
    ++closed_;
    --open_;
    SSL_free(c.tls);
    ::close(c.fd);
    delete &c;
}

// send_message seals pieces of the message as long as the socket takes them.
void client::send_message(connection& c)
{
    while (c.sealed < message_.size() && c.unsent.size() < piece_size) {
        std::size_t const size = std::min(message_.size() - c.sealed, piece_size);
        bio_.clear();
        if (SSL_write(c.tls, message_.data() + c.sealed, static_cast<int>(size)) <= 0)
            give_up("SSL_write failed");
        c.sealed += size;
        send_sealed(c);
    }
}

void client::send_sealed(connection& c)
{
    std::span<char const> const block = bio_.outgoing();
    c.unsent.append(block.data(), block.size());
    bio_.clear();
    flush(c);
}

void client::flush(connection& c)
{
    if (c.unsent.empty())
        return;
    ssize_t const sent = send(c.fd, c.unsent.data(), c.unsent.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && c.now != stage::close)
        perf::fail("send");
    if (sent > 0)
        c.unsent.erase(0, static_cast<std::size_t>(sent));
}

} // namespace

int main(int argc, char** argv)
try {
    options use;
    CLI::App app{"Connections to an echo server: open, echo, handshakes, as each line says"};
    app.add_option("server", use.server, "address and port")->required();
    app.add_flag("--websocket", use.websocket, "messages are a WebSocket's");
    app.add_flag("--resume", use.resume, "each connection offers the newest session");
    CLI11_PARSE(app, argc, argv);
    perf::raise_open_files();
    client asking{use};
    for (std::string line; std::getline(std::cin, line);)
        asking.obey(line);
    return 0;
} catch (std::exception const& e) {
    std::fprintf(stderr, "echo_client: %s\n", e.what());
    return 1;
}
