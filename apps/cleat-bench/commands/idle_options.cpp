#include "commands/idle_options.hpp"
#include "text/lists.hpp"
#include "text/times.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace cleat::bench {
namespace {

constexpr char const* idle_epilogue =
    "\nIt needs --server-pid: the server's processes here, whose memory is measured.\n"
    "\nExamples:\n"
    "  cleat-bench idle --server-pid $(pgrep -o nginx) localhost:8443\n"
    "  cleat-bench idle --http2 --server-pid $(pgrep -o nginx) localhost:8443\n"
    "  cleat-bench idle -n 1000,5000,10000 --server-pid 4711 --source 127.0.0.1-127.0.0.4 \\\n"
    "      localhost:8443\n";

} // namespace

void idle_options::add_to(CLI::App& app)
{
    app.add_option("-n,--counts", counts, "how many connections are held, ascending")
        ->capture_default_str();
    app.add_option(
           "--settle", settle, "time from the last handshake of a level to reading the memory")
        ->capture_default_str();
    load.add_limits(app);
    load.add_tls(app);
    load.add_exchange(app);
    load.add_http2(app);
    load.add_output(app);
    load.add_target(app);
    app.footer(idle_epilogue);
}

idle_request idle_options::make()
{
    idle_request request;
    for (std::string_view const item : comma_separated(counts)) {
        auto const number = parse_size(item);
        if (!number || *number == 0 || *number > 1'000'000 ||
            (!request.counts.empty() && *number <= request.counts.back()))
            throw std::runtime_error{
                fmt::format("--counts {}: numbers that go up, such as 1000,2000,4000", counts)};
        request.counts.push_back(static_cast<unsigned>(*number));
    }
    auto const length = parse_length(settle);
    if (!length)
        throw std::runtime_error{fmt::format("--settle {}: a length of time", settle)};
    request.settle = *length;
    if (load.server_pids.empty())
        throw std::runtime_error{"--server-pid is missing: whose memory is to be measured?"};
    if (request.counts.empty())
        throw std::runtime_error{"--counts: say how many, such as 1000,2000,4000"};
    for (char const* const option : {"--reuse", "--resume-ratio", "--session-ids", "--early-data"})
        if (load.given(option))
            throw std::runtime_error{fmt::format(
                "{}: has no effect here: connections that are held leave no session to resume; "
                "leave it out",
                option)};
    if (load.given("--interval"))
        throw std::runtime_error{
            "--interval: has no effect here: there is no timeline; see --settle"};
    load.connections = request.counts.back();
    load.connections_option = "--counts";
    if (!load.http2)
        load.headers.emplace_back("Connection: keep-alive");
    load.keep_alive = true;
    request.load = load.make();
    return request;
}

} // namespace cleat::bench
