// study-asio: TLS server and clients in one process, on three kinds of threads.
//
//     study-asio --arm naive --threads 8 --connections 20 --messages 100 --size 1048576 --pem FILE
//     study-asio --arm cleat --threads 8 --connections 20 --handshakes 4000 --pem FILE
//
// Each connection carries so many messages from its client to the server, which verifies them; or
// each does connect, full handshake and close, so many in all. One line of JSON says what it took.
// TLS 1.3, X25519, AES-128-GCM, no session is resumed. docs/studies/asio.md explains it.

#include "load.hpp"

#include <cleat/tls/context.hpp>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <string>

namespace {

using run = study::figures (*)(study::load const&);

std::map<std::string, run> const arms{
    {"naive", study::run_naive},
    {"per-core", study::run_per_core},
    {"cleat", study::run_cleat},
};

double rate(double count, double seconds)
{
    return seconds > 0 ? count / seconds : 0;
}

void print(std::string const& arm, study::load const& what, study::figures const& found)
{
    auto const messages = static_cast<double>(found.messages_verified);
    double const mb = messages * static_cast<double>(what.size) / 1e6;
    fmt::print(
        R"({{"arm": "{}", "library": "{}", "threads": {}, "connections": {}, )"
        R"("size": {}, "messages": {}, "seconds": {:.6f}, "cpu_seconds": {:.6f}, )"
        R"("mb_per_second": {:.3f}, "messages_per_second": {:.3f}, )"
        R"("handshakes": {}, "handshake_seconds": {:.6f}, "handshake_cpu_seconds": {:.6f}, )"
        R"("handshakes_per_second": {:.3f}}})"
        "\n",
        arm, cleat::tls::library_version(), what.threads, what.connections, what.size,
        found.messages_verified, found.messages.seconds, found.messages.cpu_seconds,
        rate(mb, found.messages.seconds), rate(messages, found.messages.seconds),
        found.handshakes_verified, found.handshakes.seconds, found.handshakes.cpu_seconds,
        rate(static_cast<double>(found.handshakes_verified), found.handshakes.seconds));
}

} // namespace

int main(int argc, char** argv)
try {
    std::string arm;
    study::load what;
    CLI::App app{"TLS server and clients in one process: how does it scale with threads?"};
    app.add_option("--arm", arm, "naive: one io_context; per-core: one for each thread; cleat")
        ->required()
        ->check(CLI::IsMember(arms));
    app.add_option("--pem", what.pem, "file with the certificate and its key")->required();
    app.add_option("--threads", what.threads, "threads, which server and clients share")
        ->check(CLI::Range(1, 1024));
    app.add_option("--connections", what.connections, "connections at the same time")
        ->check(CLI::Range(1, 10'000));
    auto* const messages =
        app.add_option("--messages", what.messages, "messages of each connection")
            ->check(CLI::PositiveNumber);
    auto* const size = app.add_option("--size", what.size, "bytes of a message")
                           ->check(CLI::Range(sizeof(std::uint64_t), std::size_t{1} << 30U))
                           ->needs(messages);
    messages->needs(size);
    app.add_option("--handshakes", what.handshakes, "full handshakes in all, and no messages")
        ->check(CLI::PositiveNumber)
        ->excludes(messages);
    CLI11_PARSE(app, argc, argv);
    if (what.messages == 0 && what.handshakes == 0)
        throw std::invalid_argument{"give --messages and --size, or --handshakes"};
    print(arm, what, arms.at(arm)(what));
    return 0;
} catch (std::exception const& e) {
    fmt::print(stderr, "study-asio: {}\n", e.what());
    return 1;
}
