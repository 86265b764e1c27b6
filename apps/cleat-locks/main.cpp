// cleat-locks: shows where threads of any program wait for each other. What is recorded, inside
// that program, is in preload/; what becomes of it is in report/.

#include "report/command_line.hpp"
#include "report/diff.hpp"
#include "report/folded.hpp"
#include "report/html.hpp"
#include "report/per_operation.hpp"
#include "report/profile.hpp"
#include "report/report_json.hpp"
#include "report/report_text.hpp"
#include "report/run.hpp"
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

profile read(from_trace const& from)
{
    profile found = profile_of(read_trace(from.trace), from.pid);
    // Not every way of showing it has room for this, and each is wrong without.
    for (process_note const& each : found.processes)
        if (each.blocks_cut > 0)
            complain(
                "cleat-locks: {}: process {}: {}\n", from.trace.string(), each.pid,
                cut_short(each));
    if (std::string const said = changed_text(found); !said.empty())
        complain("cleat-locks: {}: {}\n", from.trace.string(), said);
    return found;
}

// say puts text on standard output. The end of it may wait for the end of the program.
void say(std::string_view text)
{
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
        throw std::system_error{errno, std::generic_category(), "standard output"};
}

// write puts text into a file, or on standard output for "-".
void write(std::string const& to, std::string_view text)
{
    if (to == "-") {
        say(text);
        return;
    }
    std::ofstream file{to, std::ios::binary};
    file << text << std::flush;
    if (!file)
        throw std::runtime_error{fmt::format("{}: {}", to, std::generic_category().message(errno))};
}

int run(run_wish const& wish)
{
    return run_traced(wish);
}

int run(do_report const& wish)
{
    profile const found = read(wish.from);
    if (!wish.json.empty())
        write(wish.json, boost::json::serialize(to_json(found)) + "\n");
    if (!wish.pprof.empty())
        write(wish.pprof, pprof_bytes(found));
    if (wish.json != "-" && wish.pprof != "-")
        say(report_text(found, wish.most));
    return EXIT_SUCCESS;
}

int run(do_diff const& wish)
{
    say(diff_text(read(wish.before), read(wish.after), wish.most));
    return EXIT_SUCCESS;
}

int run(do_folded const& wish)
{
    say(folded_text(read(wish.from), wish.what));
    return EXIT_SUCCESS;
}

int run(do_html const& wish)
{
    write(wish.out, to_html(read(wish.from), wish.operations));
    return EXIT_SUCCESS;
}

int run(do_per_operation const& wish)
{
    profile const found = read(wish.from);
    operation_prices const prices = per_operation(found, wish.operations);
    if (!wish.json.empty())
        write(wish.json, boost::json::serialize(to_json(prices)) + "\n");
    if (wish.json != "-")
        say(per_operation_text(prices, wish.most));
    return EXIT_SUCCESS;
}

int run(do_print const& wish)
{
    if (wish.exit_code == 0)
        say(wish.text);
    else
        complain("{}", wish.text);
    return wish.exit_code;
}

} // namespace
} // namespace cleat::locks

int main(int argc, char** argv)
{
    using namespace cleat::locks;
    try {
        command const wish = parse_command_line({argv, static_cast<std::size_t>(argc)});
        int const code = std::visit([](auto const& w) { return run(w); }, wish);
        cleat::flush_standard_output();
        return code;
    } catch (std::exception const& e) {
        cleat::complain("cleat-locks: {}\n", e.what());
        return EXIT_FAILURE;
    }
}
