// cleat-locks: shows where threads of any program wait for each other. preload/ records inside that
// program; report/ reads the recording.

#include "lines/line_moves.hpp"
#include "lines/lines_record.hpp"
#include "lines/lines_report.hpp"
#include "lines/lines_run.hpp"
#include "report/command_line.hpp"
#include "report/diff.hpp"
#include "report/folded.hpp"
#include "report/html.hpp"
#include "report/per_operation.hpp"
#include "report/profile.hpp"
#include "report/report_json.hpp"
#include "report/report_text.hpp"
#include "report/run.hpp"
#include "report/window.hpp"
#include "standard_error.hpp"
#include "standard_output.hpp"

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace cleat::locks {
namespace {

profile read(trace_selection const& selection)
{
    profile found = make_profile(read_trace(selection.trace), selection.pid);
    if (!selection.pid)
        found.unrecorded = read_unrecorded(selection.trace);
    // On standard error, for not every output has room for it, and each is misleading without it.
    for (process_note const& each : found.processes)
        for (std::string const& remark : {cut_short(each), lost_text(each)})
            if (!remark.empty())
                complain(
                    "cleat-locks: {}: process {}: {}\n", selection.trace.string(), each.pid,
                    remark);
    if (std::string const remark = changed_text(found); !remark.empty())
        complain("cleat-locks: {}: {}\n", selection.trace.string(), remark);
    return found;
}

// say puts text on standard output. The last of it may be written as the program ends.
void say(std::string_view text)
{
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
        throw std::system_error{errno, std::generic_category(), "standard output"};
}

// write puts text into a file, or on standard output for "-".
void write(std::string const& file_name, std::string_view text)
{
    if (file_name == "-") {
        say(text);
        return;
    }
    std::ofstream file{file_name, std::ios::binary};
    file << text << std::flush;
    if (!file)
        throw std::runtime_error{
            fmt::format("{}: {}", file_name, std::generic_category().message(errno))};
}

int run(run_request const& request)
{
    return run_traced(request);
}

int run(report_request const& request)
{
    profile const found = read(request.selection);
    if (!request.json.empty())
        write(request.json, boost::json::serialize(to_json(found)) + "\n");
    if (!request.pprof.empty())
        write(request.pprof, pprof_bytes(found));
    if (request.json != "-" && request.pprof != "-")
        say(report_text(found, request.most));
    return EXIT_SUCCESS;
}

int run(diff_request const& request)
{
    say(diff_text(read(request.before), read(request.after), request.most));
    return EXIT_SUCCESS;
}

int run(folded_request const& request)
{
    say(folded_text(read(request.selection), request.measured));
    return EXIT_SUCCESS;
}

int run(html_request const& request)
{
    write(request.out, to_html(read(request.selection), request.operations));
    return EXIT_SUCCESS;
}

int run(per_operation_request const& request)
{
    profile const found = read(request.selection);
    operation_prices const prices = per_operation(found, request.operations);
    if (!request.json.empty())
        write(request.json, boost::json::serialize(to_json(prices)) + "\n");
    if (request.json != "-")
        say(per_operation_text(prices, request.most));
    return EXIT_SUCCESS;
}

int run(attach_request const& request)
{
    say(attach_text(request));
    return EXIT_SUCCESS;
}

int run(lines_run_request const& request)
{
    return run_with_lines(request);
}

int run(lines_report_request const& request)
{
    line_moves const found = name_moves(read_lines(request.file));
    if (!request.json.empty())
        write(request.json, boost::json::serialize(to_json(found, request.view)) + "\n");
    if (request.json != "-")
        say(lines_text(found, request.view));
    return EXIT_SUCCESS;
}

int run(lines_mark_request const& request)
{
    set_counting(request.file, request.edge == window_edge::begin);
    return EXIT_SUCCESS;
}

int run(lines_flags_request const&)
{
    say(lines_flags());
    return EXIT_SUCCESS;
}

int run(mark_request const& request)
{
    mark(request.trace, request.edge);
    return EXIT_SUCCESS;
}

int run(print_request const& request)
{
    if (request.exit_code == 0)
        say(request.text);
    else
        complain("{}", request.text);
    return request.exit_code;
}

} // namespace
} // namespace cleat::locks

int main(int argc, char** argv)
{
    using namespace cleat::locks;
    try {
        command const request = parse_command_line({argv, static_cast<std::size_t>(argc)});
        int const code = std::visit([](auto const& w) { return run(w); }, request);
        cleat::flush_standard_output();
        return code;
    } catch (std::exception const& e) {
        cleat::complain("cleat-locks: {}\n", e.what());
        return EXIT_FAILURE;
    }
}
