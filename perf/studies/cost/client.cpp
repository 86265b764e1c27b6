// The client of the study of what TLS costs: the same requests with TLS and without.
//
// It is a closed loop on one thread, and verifies every answer, as perf-epoll-client does. It also
// works without TLS, makes several requests on a connection, and resumes sessions. Its last line on
// stdout is JSON.
//
// One request on a connection is HTTP/1.0, and the server ends it; of several, each is HTTP/1.1.
#include "loopback.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/net/channel.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/scratch.hpp>
#include <cleat/net/socket.hpp>
#include <cleat/net/task.hpp>
#include <cleat/net/worker.hpp>
#include <cleat/tls/context.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

namespace {

namespace net = cleat::net;
namespace tls = cleat::tls;

constexpr std::chrono::seconds patience{20};

struct options
{
    std::string server;
    bool plain = false;
    std::string tls = "1.3";
    std::string groups = "X25519:P-256";
    std::string suite;
    std::uint64_t connections = 1000; // In all.
    std::uint64_t concurrency = 16;   // At once, those that are being made included.
    std::uint64_t requests = 1;       // On each connection.
    std::uint64_t bytes = 1024;       // Of an answer's body.
    bool resume = false;              // Offer the sessions of earlier connections.
    bool hold = false;                // Keep connections open until stdin closes.
};

// peer is a connection, with TLS or without.
struct peer
{
    // send fails also where the socket is full: a request never fills it.
    cleat::error_code send(std::span<std::byte const> request)
    {
        constexpr auto full = boost::system::errc::no_buffer_space;
        if (!channel) {
            net::io_result const r = socket.send(request);
            return r.error || r.bytes == request.size() ? r.error : make_error_code(full);
        }
        net::channel::piece const pieces[] = {request};
        net::progress const p = channel->write(socket.native_handle(), pieces);
        return p.error || p.next == net::wait::none ? p.error : make_error_code(full);
    }

    // receive gives bytes with the end or the error that follows them at once.
    net::progress receive(std::span<std::byte> block)
    {
        net::readiness::entry& entry = socket.entry();
        bool const ended = entry.ended();
        if (channel) {
            entry.use_up_read();
            net::progress p = channel->read(entry.fd(), block, cleat::limits::turn_max, ended);
            if (p.next == net::wait::none && !p.error)
                entry.more_to_read();
            return p;
        }
        net::io_result const r = socket.receive(block);
        if (!r.error && !r.would_block && (ended || r.bytes == block.size()))
            entry.more_to_read();
        return {.bytes = r.bytes, .error = r.error};
    }

    net::socket socket;
    std::optional<net::channel> channel;
};

class load
{
public:
    load(options const& use, net::worker& worker);

    // begin starts the lanes: each opens one connection after the other.
    void begin();
    void report() const;
    [[nodiscard]] bool good() const noexcept { return failures_.empty(); }

private:
    net::detached lane();
    net::task<> one(net::interrupt& interrupt);
    net::task<cleat::error_code> establish(net::interrupt& interrupt, peer& connection);
    net::task<cleat::error_code> ask(net::interrupt& interrupt, peer& connection);
    void keep_sessions(peer& connection);
    void fail(std::string why) { ++failures_[std::move(why)]; }

    options use_;
    net::worker& worker_;
    sockaddr_in server_;
    std::unique_ptr<tls::context> context_;
    std::string request_;
    std::deque<tls::session> sessions_;
    std::vector<std::unique_ptr<peer>> held_;
    std::map<std::string, std::uint64_t> failures_;
    std::string agreed_ = "plain";
    std::uint64_t opened_ = 0;
    std::uint64_t lanes_ = 0;
    std::uint64_t ok_ = 0;
    std::uint64_t answers_ = 0;
    std::uint64_t resumed_ = 0;
};

std::unique_ptr<tls::context> make_context(options const& use)
{
    if (use.plain)
        return nullptr;
    tls::context_spec spec;
    spec.role = tls::role::client;
    spec.version_min = spec.version_max =
        use.tls == "1.2" ? tls::protocol_version::tls_1_2 : tls::protocol_version::tls_1_3;
    spec.groups = use.groups;
    if (!use.suite.empty())
        (use.tls == "1.2" ? spec.ciphers : spec.ciphersuites) = use.suite;
    spec.keep_sessions = use.resume;
    return std::make_unique<tls::context>(spec);
}

load::load(options const& use, net::worker& worker)
    : use_{use}
    , worker_{worker}
    , server_{perf::parse_address(use.server)}
    , context_{make_context(use)}
    , request_{fmt::format(
          "GET /{} HTTP/1.{}\r\n\r\n", use.bytes, use.requests == 1 && !use.hold ? 0 : 1)}
{
}

void load::begin()
{
    lanes_ = use_.concurrency;
    for (std::uint64_t i = 0; i < use_.concurrency; ++i)
        lane();
}

net::detached load::lane()
{
    net::interrupt interrupt{worker_};
    while (opened_ < use_.connections) {
        ++opened_;
        interrupt.expires_in(patience, cleat::error::idle_timeout);
        co_await one(interrupt);
        if (interrupt.raised())
            break;
    }
    if (--lanes_ == 0)
        worker_.stop();
}

net::task<> load::one(net::interrupt& interrupt)
{
    cleat::unique_fd fd{::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (!fd ||
        (::connect(fd.get(), perf::generic(server_), sizeof server_) != 0 && errno != EINPROGRESS))
        co_return fail("connect");
    net::set_no_delay(fd.get());
    auto connection = std::make_unique<peer>(net::socket{worker_, std::move(fd)}, std::nullopt);
    cleat::error_code ec = co_await establish(interrupt, *connection);
    if (ec)
        co_return fail("establish: " + ec.message());
    for (std::uint64_t i = 0; i < use_.requests && !ec; ++i) {
        ec = co_await ask(interrupt, *connection);
        answers_ += ec ? 0U : 1U;
    }
    if (ec)
        co_return fail("answer: " + ec.message());
    ++ok_;
    keep_sessions(*connection);
    if (use_.hold)
        held_.push_back(std::move(connection));
    else if (connection->channel) // The server's close_notify is not waited for.
        static_cast<void>(connection->channel->close(connection->socket.native_handle()));
}

// establish waits for TCP, then for the handshake, if there is TLS.
net::task<cleat::error_code> load::establish(net::interrupt& interrupt, peer& connection)
{
    net::interest const writable{&connection.socket.entry(), false, true};
    cleat::error_code ec = co_await net::ready{interrupt, writable};
    if (!ec)
        ec = connection.socket.error();
    if (ec || !context_)
        co_return ec;
    connection.channel.emplace(*context_);
    if (!sessions_.empty()) {
        connection.channel->engine().resume(sessions_.front());
        sessions_.pop_front();
    }
    for (;;) {
        net::readiness::entry& entry = connection.socket.entry();
        entry.use_up_read();
        entry.use_up_write();
        // The Finished leaves with the request.
        net::progress const p = connection.channel->handshake(
            entry.fd(), entry.ended(), net::channel::last_flight::with_first_write);
        if (p.error)
            co_return p.error;
        if (p.next == net::wait::none)
            break;
        net::interest const wanted{
            &entry, p.next == net::wait::readable, p.next == net::wait::writable};
        ec = co_await net::ready{interrupt, wanted};
        if (ec)
            co_return ec;
    }
    tls::handshake_info const found = connection.channel->engine().info();
    resumed_ += found.resumed ? 1U : 0U;
    if (!found.group.empty())
        agreed_ = fmt::format("{} {} {}", found.version, found.cipher, found.group);
    co_return cleat::error_code{};
}

// ask takes one answer. Where the server ends the connection, the end belongs to the answer.
net::task<cleat::error_code> load::ask(net::interrupt& interrupt, peer& connection)
{
    constexpr std::string_view end_of_head = "\r\n\r\n";
    cleat::error_code ec = connection.send(std::as_bytes(std::span{request_}));
    bool const server_ends = request_.find("HTTP/1.0") != std::string::npos;
    std::string head;
    bool in_body = false;
    std::uint64_t body = 0;
    std::span<std::byte> const block = net::scratch::of_this_thread().plaintext();
    while (!ec) {
        if (!connection.socket.entry().readable() &&
            !(connection.channel && connection.channel->unread())) {
            net::interest const readable{&connection.socket.entry(), true, false};
            ec = co_await net::ready{interrupt, readable};
            if (ec)
                break;
        }
        net::progress const p = connection.receive(block);
        body += in_body ? p.bytes : 0;
        if (!in_body) {
            head.append(reinterpret_cast<char const*>(block.data()), p.bytes);
            std::size_t const end = head.find(end_of_head);
            in_body = end != std::string::npos;
            body = in_body ? head.size() - end - end_of_head.size() : 0;
        }
        bool const whole = in_body && body == use_.bytes;
        if (whole && (server_ends ? p.error == cleat::error::closed : !p.error))
            co_return cleat::error_code{};
        ec = body > use_.bytes ? cleat::error::protocol_violation : p.error;
    }
    co_return ec;
}

void load::keep_sessions(peer& connection)
{
    if (!use_.resume || !connection.channel)
        return;
    for (tls::session& each : connection.channel->engine().take_sessions())
        sessions_.push_back(std::move(each));
}

void load::report() const
{
    std::string failures;
    for (auto const& [kind, count] : failures_)
        failures += fmt::format("{}\"{}\": {}", failures.empty() ? "" : ", ", kind, count);
    fmt::print(
        "{{\"ok\": {}, \"failures\": {{{}}}, \"answers\": {}, \"resumed\": {}, "
        "\"agreed\": \"{}\"}}\n",
        ok_, failures, answers_, resumed_, agreed_);
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv)
try {
    options use;
    CLI::App app{"Requests with TLS and without; the answer is one line of JSON"};
    app.add_option("server", use.server, "address and port")->required();
    app.add_flag("--plain", use.plain, "without TLS");
    app.add_option("-n,--connections", use.connections, "in all");
    app.add_option("-c,--concurrency", use.concurrency, "of them at once");
    app.add_option("-r,--requests", use.requests, "on each connection");
    app.add_option("-b,--bytes", use.bytes, "of an answer's body");
    app.add_option("--tls", use.tls, "the one version offered")
        ->check(CLI::IsMember({"1.2", "1.3"}));
    app.add_option("--groups", use.groups, "key exchange groups offered");
    app.add_option("--suite", use.suite, "cipher suites offered");
    app.add_flag("--resume", use.resume, "offer the sessions of connections before");
    app.add_flag("--hold", use.hold, "keep connections open until stdin closes");
    CLI11_PARSE(app, argc, argv);
    perf::raise_open_files();
    std::signal(SIGPIPE, SIG_IGN);
    net::worker worker;
    load all{use, worker};
    all.begin();
    worker.run();
    all.report();
    char ignored[64];
    while (use.hold && ::read(STDIN_FILENO, ignored, sizeof ignored) > 0)
        ;
    return all.good() ? 0 : 1;
} catch (std::exception const& e) {
    std::fprintf(stderr, "study-client: %s\n", e.what());
    return 1;
}
