// cleat-bench measures TLS servers and compares them. The life of one connection is in
// generate/transaction.cpp; pacer.cpp beside it decides when a connection begins.

#include "commands/as_host.hpp"
#include "commands/command_line.hpp"
#include "commands/idle.hpp"
#include "commands/load.hpp"
#include "commands/load_on_hosts.hpp"
#include "commands/staircase.hpp"
#include "commands/transfer.hpp"
#include "probe/probe_all.hpp"
#include "report/documents.hpp"
#include "report/report.hpp"
#include "result/output.hpp"
#include "result/result_json.hpp"
#include "standard_error.hpp"
#include "standard_output.hpp"
#include "system/files.hpp"
#include "system/interruption.hpp"
#include "text/usage_error.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <utility>

namespace cleat::bench {
namespace {

int run(load_request const& request)
{
    if (request.as_host)
        return load_as_host(request);
    return finish_load(request, request.hosts ? run_on_hosts(request) : run_in_view(request));
}

int run(staircase_request const& request)
{
    return staircase(request);
}

int run(transfer_request const& request)
{
    return transfer(request);
}

int run(idle_request const& request)
{
    return idle(request);
}

int run(probe_request const& request)
{
    return probe_all(request);
}

// A staircase and a transfer are loads too, with figures that do not add up.
result read_part(std::string const& path)
try {
    load_document found = read_load(read_file(path), path);
    if (found.subcommand != "load")
        throw std::runtime_error{
            fmt::format("{}: it is a {}'s result, which does not add up", path, found.subcommand)};
    return std::move(found.content);
} catch (std::runtime_error const& e) {
    throw std::runtime_error{
        fmt::format("{}: name files that `cleat-bench load --json` wrote", e.what())};
}

int run(merge_request const& request)
{
    refuse_overwriting(request.files, files_of(request.output));
    check_writable(files_of(request.output));
    std::vector<result> parts;
    for (std::string const& path : request.files)
        parts.push_back(read_part(path));
    result sum = merge(parts);
    if (!request.name.empty())
        sum.name = request.name;
    return write_result(sum, request.output) ? EXIT_SUCCESS : EXIT_FAILURE;
}

int run(report_request const& request)
{
    refuse_overwriting(request.files, {{"--out", request.out}});
    drawable found;
    for (std::string const& path : request.files)
        add_document(found, read_file(path), path);
    write_file(request.out, page_for(found));
    fmt::print("written: {}\n", request.out);
    return EXIT_SUCCESS;
}

int run(compare_request const& request)
{
    return compare(request);
}

int run(serve_request const& request)
{
    return serve(request);
}

int run(print_request const& request)
{
    if (request.exit_code == 0)
        fmt::print("{}", request.text);
    else
        complain("{}", request.text);
    return request.exit_code;
}

} // namespace
} // namespace cleat::bench

int main(int argc, char** argv)
{
    using namespace cleat::bench;
    try {
        command const request = parse_command_line({argv, static_cast<std::size_t>(argc)});
        int const code = std::visit([](auto const& each) { return run(each); }, request);
        cleat::flush_standard_output();
        return code;
    } catch (interrupted const&) {
        cleat::complain("cleat-bench: interrupted before there was anything to tell\n");
        return 130;
    } catch (usage_error const& e) {
        cleat::complain("cleat-bench: {}\n", e.what());
        return 2;
    } catch (std::exception const& e) {
        cleat::complain("cleat-bench: {}\n", e.what());
        return EXIT_FAILURE;
    }
}
