#include "commands/load_paths.hpp"
#include "commands/transfer_options.hpp"
#include "text/lists.hpp"
#include "text/times.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace cleat::bench {
namespace {

constexpr char const* transfer_epilogue =
    "\nExamples:\n"
    "  cleat-bench transfer -s 10M https://localhost:8443/10M       4 connections, 100 messages "
    "each\n"
    "  cleat-bench transfer --direction up -s 1M -m 500 localhost:8443\n"
    "  cleat-bench transfer 8 4 250 10M localhost:8443              threads, connections, "
    "messages, size\n";

} // namespace

void transfer_options::add_to(CLI::App& app)
{
    app.add_option("-c,--connections", connections, "connections at once")->capture_default_str();
    app.add_option("-m,--messages", messages, "messages on each connection")->capture_default_str();
    app.add_option("-s,--size", size, "size of a message: 10M")->capture_default_str();
    app.add_option(
           "--direction", direction,
           "down: GET PATH or /SIZE; up: POST; both: what is sent comes back (an echo server, no "
           "HTTP)")
        ->check(CLI::IsMember({"down", "up", "both"}))
        ->capture_default_str();
    app.add_option("--path", path, "path of the request");
    load.add_start(app);
    load.add_limits(app);
    // The old benchmark's word for the same.
    app.remove_option(app.get_option("--workers"));
    app.add_option("-t,--threads,--workers", threads, "threads of the generator")
        ->capture_default_str();
    load.add_tls(app);
    load.add_output(app);
    app.add_option("--target", target, "HOST:PORT or https://HOST:PORT/PATH");
    app.add_option(
           "words", positionals, "TARGET, or THREADS CONNECTIONS MESSAGES SIZE with --target")
        ->expected(1, 5);
    app.footer(transfer_epilogue);
}

transfer_request transfer_options::make()
{
    read_positionals();
    auto const bytes = parse_size(size);
    if (!bytes || *bytes == 0)
        throw std::runtime_error{
            fmt::format("--size {}: write a number of bytes like 1024, 16K or 10M", size)};
    if (threads == 0 || connections == 0 || messages == 0)
        throw std::runtime_error{"--threads, --connections and --messages: at least 1 each"};
    transfer_request request;
    request.size = *bytes;
    request.up = direction != "down";
    request.down = direction != "up";
    load.target = target;
    load.workers = std::to_string(threads);
    load.connections = connections;
    load.requests = messages;
    load.transactions = std::uint64_t{connections} * messages;
    load.duration = "1h";
    std::string cure;
    if (direction == "down") {
        cure = fmt::format(
            "name what has {} bytes with --path, or say its size with --size; the demo origin "
            "has --path /bytes/{}",
            *bytes, *bytes);
        if (path.empty())
            path = fmt::format("/{}", *bytes);
        load.size = std::to_string(*bytes);
    } else if (direction == "up") {
        cure = "name what takes a POST of that size with --path";
        load.method = "POST";
        load.body_size = std::to_string(*bytes);
    } else {
        cure = "both ways, the server has to send back what it gets";
        if (!path.empty())
            throw std::runtime_error{
                "--path: has no effect here: both ways there is no HTTP; leave it out"};
        if (*bytes > (std::uint64_t{256} << 20))
            throw std::runtime_error{fmt::format("--size {}: at most 256M", size)};
        load.raw = std::string(*bytes, 'x');
        load.size = std::to_string(*bytes);
    }
    if (!path.empty()) {
        check_path("--path", path); // It is the only one: a weight has no effect.
        load.paths = {path};
    }
    request.load = load.make();
    request.load.asked.emplace_back(
        "transfer", fmt::format("{}, messages of {}, {} threads", direction, size, threads));
    request.load.wrong_answer_cure = std::move(cure);
    return request;
}

void transfer_options::read_positionals()
{
    if (positionals.size() == 1 || positionals.size() == 5) {
        if (!target.empty())
            throw std::runtime_error{"the target is given twice"};
        target = positionals.back();
        positionals.pop_back();
    }
    if (!positionals.empty() && positionals.size() != 4)
        throw std::runtime_error{
            "give THREADS CONNECTIONS MESSAGES SIZE and the target: 8 4 250 10M HOST:PORT"};
    if (target.empty())
        throw std::runtime_error{"the target is missing: add HOST:PORT"};
    if (positionals.empty())
        return;
    for (char const* const option : {"--threads", "--connections", "--messages", "--size"})
        if (load.given(option))
            throw std::runtime_error{fmt::format(
                "{}: THREADS CONNECTIONS MESSAGES SIZE say it already; leave it out", option)};
    unsigned* const values[] = {&threads, &connections, &messages};
    for (std::size_t i = 0; i != 3; ++i) {
        auto const number = parse_size(positionals[i]);
        if (!number || *number == 0 || *number > 1'000'000'000)
            throw std::runtime_error{fmt::format("{}: not a number from 1", positionals[i])};
        *values[i] = static_cast<unsigned>(*number);
    }
    size = positionals[3];
}

} // namespace cleat::bench
