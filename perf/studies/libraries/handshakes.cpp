// The command line and the line of JSON, the same for every library; the program of rustls has its
// own of both, in Rust.
#include "handshakes.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

namespace study {
namespace {

std::string described(task const& use, std::string const& library)
{
    return fmt::format(
        R"("library": "{}", "version": "{}", "kind": "{}", "key": "{}", "group": "{}", )"
        R"("threads": {}, "contexts": "{}")",
        library, use.version, use.kind_name, use.key, use.group, use.threads, use.contexts_name);
}

} // namespace

task task_of(int argc, char** argv)
{
    std::map<std::string, handshake_kind> const kinds{
        {"full", handshake_kind::full},
        {"ticket", handshake_kind::ticket},
        {"id", handshake_kind::id},
        {"renegotiate", handshake_kind::renegotiate}};
    std::map<std::string, sharing> const sharings{
        {"shared", sharing::shared}, {"thread", sharing::thread}, {"library", sharing::library}};
    task use;
    CLI::App app{"Makes TLS handshakes in memory, and counts them."};
    app.add_option("--version", use.version, "of TLS")->check(CLI::IsMember({"1.2", "1.3"}));
    app.add_option("--kind", use.kind_name, "full, ticket, id or renegotiate")
        ->check(CLI::IsMember(kinds));
    app.add_option("--key", use.key, "which the certificate has")
        ->check(CLI::IsMember({"rsa-2048", "ecdsa-p256"}));
    app.add_option("--group", use.group, "of the key exchange")
        ->check(CLI::IsMember({"x25519", "x25519mlkem768"}));
    app.add_option(
           "--contexts", use.contexts_name,
           "shared, thread (one for each) or library "
           "(and a library context for each)")
        ->check(CLI::IsMember(sharings));
    app.add_option("--certificate", use.certificate, "PEM file with certificate and key")
        ->required()
        ->check(CLI::ExistingFile);
    app.add_option("--threads", use.threads)->check(CLI::Range(1, 1024));
    app.add_option("--seconds", use.seconds)->check(CLI::Range(0.0, 3600.0));
    try {
        app.parse(argc, argv);
    } catch (CLI::ParseError const& e) {
        std::exit(app.exit(e));
    }
    use.kind = kinds.at(use.kind_name);
    use.contexts = sharings.at(use.contexts_name);
    return use;
}

void print(task const& use, std::string const& library, std::vector<tally> const& tallies)
{
    tally sum;
    // From when the first thread began to when the last one ended.
    sum.began = tallies.front().began;
    sum.ended = tallies.front().ended;
    double client_us = 0;
    double server_us = 0;
    for (tally const& each : tallies) {
        sum.handshakes += each.handshakes;
        sum.resumed += each.resumed;
        sum.cpu += each.cpu;
        sum.began = std::min(sum.began, each.began);
        sum.ended = std::max(sum.ended, each.ended);
        double const timed = static_cast<double>(each.client + each.server + each.neither);
        double const cpu_us = static_cast<double>(each.cpu) / 1000;
        client_us += cpu_us * static_cast<double>(each.client) / timed;
        server_us += cpu_us * static_cast<double>(each.server) / timed;
    }
    auto const count = static_cast<double>(sum.handshakes);
    std::chrono::duration<double> const took = sum.ended - sum.began;
    fmt::print(
        "{{{}, \"handshakes\": {}, \"resumed\": {}, \"seconds\": {:.4f}, "
        "\"server_cpu_us\": {:.2f}, \"client_cpu_us\": {:.2f}, \"cpu_seconds\": {:.4f}}}\n",
        described(use, library), sum.handshakes, sum.resumed, took.count(), server_us / count,
        client_us / count, static_cast<double>(sum.cpu) / 1e9);
}

void print_unsupported(task const& use, std::string const& library, char const* why)
{
    fmt::print("{{{}, \"unsupported\": \"{}\"}}\n", described(use, library), why);
}

} // namespace study
