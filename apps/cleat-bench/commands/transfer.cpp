#include "commands/load.hpp"
#include "commands/transfer.hpp"
#include "report/documents.hpp"
#include "result/result_json.hpp"
#include "text/times.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <optional>

namespace cleat::bench {
namespace {

// The figures of a transfer, for the text and the JSON.
struct transfer_figures
{
    std::string_view direction;
    double bytes_per_s = 0;
    std::optional<double> generator_ns_per_gb;
    std::optional<double> server_ns_per_gb;
};

transfer_figures sum_of(result const& found, transfer_request const& request)
{
    bool const both = request.up && request.down;
    double const bytes = static_cast<double>(found.counts.ok * request.size) * (both ? 2 : 1);
    transfer_figures sum;
    sum.direction = both ? "both ways" : request.up ? "up" : "down";
    sum.bytes_per_s = bytes / in_seconds(found.measured);
    if (bytes > 0) {
        sum.generator_ns_per_gb = static_cast<double>(found.counts.cpu.count()) / (bytes / 1e9);
        if (found.server)
            sum.server_ns_per_gb = static_cast<double>(found.server->cpu.count()) / (bytes / 1e9);
    }
    return sum;
}

std::string per_gb(std::optional<double> ns)
{
    return ns ? fmt::format("{:.3f} s per GB", *ns / 1e9) : "not known: no message was ok";
}

} // namespace

int transfer(transfer_request const& request)
{
    load_request const& base = request.load;
    result const found = run_in_view(base);

    transfer_figures const sum = sum_of(found, request);
    fmt::print(
        "{}{}: {} messages of {} {} in {:.3f} s: {:.1f} MB/s\n"
        "CPU of the generator: {}\n",
        found.partial ? "PARTIAL: this run was ended before its time\n" : "", found.target,
        found.counts.ok, bytes_in_words(static_cast<double>(request.size)), sum.direction,
        in_seconds(found.measured), sum.bytes_per_s / 1e6, per_gb(sum.generator_ns_per_gb));
    if (found.server)
        fmt::print("CPU of the server: {}\n", per_gb(sum.server_ns_per_gb));
    fmt::print("\n{}", to_text(found));
    std::fflush(stdout);

    json::object document = document_of(found); // Also a load's result, for merge and report.
    document["transfer"] = json::object{
        {"direction", sum.direction},
        {"message_bytes", request.size},
        {"bytes_per_s", sum.bytes_per_s},
        {"generator_cpu_ns_per_gb", in_json(sum.generator_ns_per_gb)},
        {"server_cpu_ns_per_gb", in_json(sum.server_ns_per_gb)}};
    write_documents(document, base.output);
    return found.partial ? 130 : found.counts.failed() != 0 ? 1 : 0;
}

} // namespace cleat::bench
