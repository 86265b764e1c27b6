#include "compare/strace.hpp"
#include "system/files.hpp"

#include <fmt/format.h>

#include <chrono>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace cleat::bench {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr auto attach_patience = 20s;
constexpr auto between_looks = 5ms;

launch strace_for(
    std::vector<int> const& pids, fs::path const& folder, fs::path const& table,
    sigset_t const& mask)
{
    launch made;
    made.command = {
        system_program("strace", "counts system calls"), "-c", "-f", "-o", table.string()};
    for (int const pid : pids) {
        made.command.emplace_back("-p");
        made.command.push_back(std::to_string(pid));
    }
    made.log = folder / "strace.log";
    made.mask = mask;
    return made;
}

// strace has a line for each process that it has attached to.
std::size_t attached(std::string const& log)
{
    std::size_t found = 0;
    for (std::size_t i = log.find(" attached"); i != std::string::npos;
         i = log.find(" attached", i + 1))
        ++found;
    return found;
}

} // namespace

call_counts parse_summary(std::string_view table)
{
    call_counts found;
    bool ends_with_total = false;
    std::istringstream lines{std::string{table}};
    for (std::string line; std::getline(lines, line);) {
        // % time, seconds, usecs/call, calls, errors where there were any, and the name.
        std::istringstream words{line};
        double percent = 0;
        double seconds = 0;
        double each = 0;
        std::uint64_t calls = 0;
        if (!(words >> percent >> seconds >> each >> calls))
            continue;
        std::string name;
        for (std::string word; words >> word;)
            name = word;
        ends_with_total = name == "total";
        if (!ends_with_total)
            found[name] += calls;
    }
    if (!ends_with_total)
        throw std::runtime_error{
            fmt::format("strace has written no summary of system calls: '{}'", table)};
    return found;
}

call_counter::call_counter(
    std::vector<int> const& pids, fs::path const& folder, sigset_t const& mask)
    : table_{folder / "strace.txt"}, strace_{strace_for(pids, folder, table_, mask)}
{
    auto const deadline = clock::now() + attach_patience;
    while (attached(strace_.output()) < pids.size()) {
        if (strace_.ended() || clock::now() > deadline) {
            strace_.stop();
            throw std::runtime_error{fmt::format(
                "strace cannot attach to the server: run as root, or set kernel.yama.ptrace_scope "
                "to 0:\n{}",
                strace_.output())};
        }
        std::this_thread::sleep_for(between_looks);
    }
}

call_counts call_counter::stop()
{
    strace_.stop();
    return parse_summary(read_file(table_.string()));
}

} // namespace cleat::bench
