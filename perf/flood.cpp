// flood.cpp: clients that open connections from many addresses of 127.0.0.0/8, send the bytes of a
// file (a ClientHello), and leave with a reset at the first answer.
//
// One thread, and as cheap as it can be: on a machine with two cores honest clients would wait for
// the flood's own work. A start that is late by more than late_max is left out, so that
// a flood which was held up does not make up for it in a burst. The addresses begin at times that
// are spread over the first second: if all began at once, a limit of one in a second would let all
// of them in at the same time, once in each second. The result is one line of JSON.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

using clock_type = std::chrono::steady_clock;

constexpr std::chrono::milliseconds late_max{10};
constexpr std::chrono::seconds beginning{1};
constexpr std::uint64_t spread = 7919; // A prime: neighbours begin at times far from each other.
constexpr std::size_t started_at_once = 16; // Before answers are read again.
constexpr rlim_t spare_descriptors = 64;

struct options
{
    std::uint16_t port = 0;
    double rate = 0;    // Connections a second.
    double seconds = 0; // Of the flood.
    std::string first;  // The first source address; the others follow it.
    std::uint32_t addresses = 1;
    std::string hello;
};

struct counts
{
    std::uint64_t sent = 0;
    std::uint64_t left_out = 0; // Late, or no descriptor was free.
    std::uint64_t refused = 0;  // Reset or closed before the first byte of an answer.
    std::uint64_t let_in = 0;   // The server has begun a handshake.
};

sockaddr_in address_of(std::uint32_t host, std::uint16_t port)
{
    sockaddr_in made{};
    made.sin_family = AF_INET;
    made.sin_port = htons(port);
    made.sin_addr.s_addr = htonl(host);
    return made;
}

class flood
{
public:
    flood(options const& asked, std::string const& hello)
        : options_{asked}, hello_{hello}, poll_{epoll_create1(EPOLL_CLOEXEC)}
    {
        in_addr first{};
        if (poll_ < 0 || inet_pton(AF_INET, asked.first.c_str(), &first) != 1)
            throw std::runtime_error{"no epoll, or no address of IPv4: " + asked.first};
        first_ = ntohl(first.s_addr);
        rlimit limit{};
        if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max <= spare_descriptors)
            throw std::runtime_error{"too few descriptors"};
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
        open_max_ = limit.rlim_max - spare_descriptors;
    }
    flood(flood const&) = delete;
    flood& operator=(flood const&) = delete;
    ~flood() { close(poll_); }

    counts run()
    {
        clock_type::time_point const begin = clock_type::now();
        auto const total = static_cast<std::uint64_t>(options_.rate * options_.seconds);
        std::uint64_t number = 0;
        while (number < total) {
            std::size_t started = 0;
            clock_type::time_point const now = clock_type::now();
            for (; number < total && started < started_at_once && due(begin, number) <= now;
                 ++number) {
                auto const source = static_cast<std::uint32_t>(number % options_.addresses);
                if (due(begin, number) < begin_of(begin, source))
                    continue;
                if (now - due(begin, number) > late_max || open_ >= open_max_) {
                    ++counts_.left_out;
                    continue;
                }
                start(source);
                ++started;
            }
            receive(started != 0 ? clock_type::duration{} : due(begin, number) - clock_type::now());
        }
        return counts_; // Connections that are open end with the process.
    }

private:
    [[nodiscard]] clock_type::time_point due(
        clock_type::time_point begin, std::uint64_t number) const
    {
        std::chrono::duration<double> const after{static_cast<double>(number) / options_.rate};
        return begin + std::chrono::duration_cast<clock_type::duration>(after);
    }

    [[nodiscard]] clock_type::time_point begin_of(
        clock_type::time_point begin, std::uint32_t source) const
    {
        std::uint64_t const place = source * spread % options_.addresses;
        return begin + clock_type::duration{beginning} * place / options_.addresses;
    }

    void start(std::uint32_t source)
    {
        ++counts_.sent;
        int const fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd < 0)
            throw std::runtime_error{"socket"};
        ++open_;
        int const on = 1;
        setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
        sockaddr_in const from = address_of(first_ + source, 0);
        sockaddr_in const to = address_of(INADDR_LOOPBACK, options_.port);
        if (bind(fd, reinterpret_cast<sockaddr const*>(&from), sizeof from) != 0)
            throw std::runtime_error{"bind"};
        // On loopback the connection is there when connect() returns, unless the queue is full.
        bool const failed = connect(fd, reinterpret_cast<sockaddr const*>(&to), sizeof to) != 0 &&
                            errno != EINPROGRESS;
        if (failed)
            return end(fd, counts_.refused);
        bool const sent = send(fd, hello_.data(), hello_.size(), MSG_NOSIGNAL) > 0;
        if (!sent && errno != EAGAIN && errno != ENOTCONN)
            return end(fd, counts_.refused);
        epoll_event event{};
        event.events = sent ? EPOLLIN : EPOLLOUT;
        event.data.fd = fd;
        epoll_ctl(poll_, EPOLL_CTL_ADD, fd, &event);
    }

    void receive(clock_type::duration wait)
    {
        wait = std::max(wait, clock_type::duration{});
        auto const whole = std::chrono::duration_cast<std::chrono::seconds>(wait);
        timespec const timeout{
            whole.count(),
            std::chrono::duration_cast<std::chrono::nanoseconds>(wait - whole).count()};
        std::array<epoll_event, 256> events{};
        int const found =
            epoll_pwait2(poll_, events.data(), static_cast<int>(events.size()), &timeout, nullptr);
        for (int i = 0; i < found; ++i)
            on_event(events[static_cast<std::size_t>(i)]);
    }

    void on_event(epoll_event const& event)
    {
        int const fd = event.data.fd;
        if (event.events == EPOLLOUT) { // It is connected only now.
            if (send(fd, hello_.data(), hello_.size(), MSG_NOSIGNAL) <= 0)
                return end(fd, counts_.refused);
            epoll_event next{};
            next.events = EPOLLIN;
            next.data.fd = fd;
            epoll_ctl(poll_, EPOLL_CTL_MOD, fd, &next);
            return;
        }
        std::array<char, 64> bytes{};
        if (recv(fd, bytes.data(), bytes.size(), 0) <= 0)
            return end(fd, counts_.refused);
        linger const reset{1, 0};
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        end(fd, counts_.let_in);
    }

    void end(int fd, std::uint64_t& counted)
    {
        ++counted;
        close(fd);
        --open_;
    }

    options const& options_;
    std::string const& hello_;
    int poll_;
    std::uint32_t first_ = 0;
    std::uint64_t open_ = 0;
    std::uint64_t open_max_ = 0;
    counts counts_;
};

void run(options const& asked)
{
    std::ifstream file{asked.hello, std::ios::binary};
    std::string const hello{std::istreambuf_iterator<char>{file}, {}};
    if (hello.empty())
        throw std::runtime_error{asked.hello + ": there is no ClientHello"};
    counts const found = flood{asked, hello}.run();
    fmt::print(
        "{{\"asked_per_s\": {}, \"seconds\": {}, \"sent\": {}, \"left_out\": {}, \"refused\": {}, "
        "\"let_in\": {}, \"unanswered\": {}}}\n",
        asked.rate, asked.seconds, found.sent, found.left_out, found.refused, found.let_in,
        found.sent - found.refused - found.let_in);
}

} // namespace

int main(int argc, char** argv)
{
    options asked;
    CLI::App app{"Connections from many addresses, which send a ClientHello and leave."};
    app.add_option("port", asked.port, "of the server, on 127.0.0.1")->required();
    app.add_option("--rate", asked.rate, "connections a second")->required();
    app.add_option("--seconds", asked.seconds, "how long")->required();
    app.add_option("--first", asked.first, "the first source address")->required();
    app.add_option("--addresses", asked.addresses, "source addresses, from the first on");
    app.add_option("--hello", asked.hello, "a file with a ClientHello")->required();
    CLI11_PARSE(app, argc, argv);
    try {
        run(asked);
    } catch (std::exception const& error) {
        fmt::print(stderr, "perf-flood: {}\n", error.what());
        return 1;
    }
    return 0;
}
