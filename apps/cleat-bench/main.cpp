// cleat-bench: finds out what a TLS server can do, and lays servers side by side. The life of one
// connection is in transaction.cpp; when it begins is decided in pacer.cpp.

#include "commands/command_line.hpp"
#include "commands/idle.hpp"
#include "commands/load.hpp"
#include "commands/staircase.hpp"
#include "commands/transfer.hpp"
#include "probe/probe_all.hpp"
#include "report/documents.hpp"
#include "report/report.hpp"
#include "result/output.hpp"
#include "standard_error.hpp"
#include "standard_output.hpp"
#include "system/files.hpp"
#include "system/interruption.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

namespace cleat::bench {
namespace {

int run(do_load const& wish)
{
    return load(wish);
}

int run(do_staircase const& wish)
{
    return staircase(wish);
}

int run(do_transfer const& wish)
{
    return transfer(wish);
}

int run(do_idle const& wish)
{
    return idle(wish);
}

int run(do_probe const& wish)
{
    return probe_all(wish);
}

int run(do_merge const& wish)
{
    keep_from(wish.files, "--json", wish.to.json);
    keep_from(wish.files, "--html", wish.to.html);
    check_writable(wish.to);
    std::vector<result> parts;
    for (std::string const& path : wish.files)
        parts.push_back(read_result(path));
    result sum = merge(parts);
    if (!wish.name.empty())
        sum.name = wish.name;
    return finish_with(sum, wish.to) ? EXIT_SUCCESS : EXIT_FAILURE;
}

int run(do_report const& wish)
{
    keep_from(wish.files, "--out", wish.out);
    drawable found;
    for (std::string const& path : wish.files)
        add_document(found, read_file(path), path);
    write_file(wish.out, page_for(found));
    fmt::print("written: {}\n", wish.out);
    return EXIT_SUCCESS;
}

int run(do_compare const& wish)
{
    return compare(wish);
}

int run(do_serve const& wish)
{
    return serve(wish);
}

int run(do_print const& wish)
{
    if (wish.exit_code == 0)
        fmt::print("{}", wish.text);
    else
        complain("{}", wish.text);
    return wish.exit_code;
}

} // namespace
} // namespace cleat::bench

int main(int argc, char** argv)
{
    using namespace cleat::bench;
    try {
        command const wish = parse_command_line({argv, static_cast<std::size_t>(argc)});
        int const code = std::visit([](auto const& w) { return run(w); }, wish);
        cleat::flush_standard_output();
        return code;
    } catch (interrupted const&) {
        cleat::complain("cleat-bench: interrupted before there was anything to tell\n");
        return 130;
    } catch (std::exception const& e) {
        cleat::complain("cleat-bench: {}\n", e.what());
        return EXIT_FAILURE;
    }
}
