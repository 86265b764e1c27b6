#include "result/environment.hpp"
#include "text/times.hpp"

#include <cleat/core/cpu_topology.hpp>
#include <cleat/tls/context.hpp>

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <string>

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace cleat::bench {
namespace {

std::string first_line_with(char const* path, std::string_view beginning)
{
    std::ifstream file{path};
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(beginning)) {
            std::size_t const colon = line.find(':');
            std::size_t const begin =
                colon == std::string::npos ? 0 : line.find_first_not_of(" \t", colon + 1);
            return begin == std::string::npos ? "" : line.substr(begin);
        }
    return {};
}

std::string first_line(char const* path)
{
    std::ifstream file{path};
    std::string line;
    std::getline(file, line);
    return line;
}

} // namespace

std::string program_version()
{
    return fmt::format("cleat-bench {} on {}", CLEAT_VERSION, tls::library_version());
}

std::vector<fact> describe_environment()
{
    std::vector<fact> found;
    found.emplace_back("program", "cleat-bench " CLEAT_VERSION);
    found.emplace_back("TLS library", tls::library_version());
    found.emplace_back("processor", first_line_with("/proc/cpuinfo", "model name"));
    if (auto const topology = read_cpu_topology())
        found.emplace_back(
            "cores", fmt::format(
                         "{} that may be used, on {} physical", topology->cpus.size(),
                         topology->physical_cores()));
    utsname kernel{};
    if (::uname(&kernel) == 0)
        found.emplace_back("kernel", fmt::format("{} {}", kernel.sysname, kernel.release));
    found.emplace_back("memory", first_line_with("/proc/meminfo", "MemTotal"));
    std::array<double, 3> load{};
    if (::getloadavg(load.data(), 3) == 3)
        found.emplace_back(
            "load before", fmt::format("{:.2f} {:.2f} {:.2f}", load[0], load[1], load[2]));
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) == 0)
        found.emplace_back("open files", std::to_string(files.rlim_cur));
    found.emplace_back("ports", first_line("/proc/sys/net/ipv4/ip_local_port_range"));
    std::string const hypervisor =
        first_line_with("/proc/cpuinfo", "flags").find(" hypervisor") != std::string::npos ? "yes"
                                                                                           : "no";
    found.emplace_back("virtual machine", hypervisor);
    found.emplace_back("date", in_utc(std::chrono::system_clock::now()));
    return found;
}

std::size_t ephemeral_ports() noexcept
{
    unsigned first = 32768;
    unsigned last = 60999;
    if (std::FILE* const file = std::fopen("/proc/sys/net/ipv4/ip_local_port_range", "re")) {
        if (std::fscanf(file, "%u %u", &first, &last) != 2 || last < first) {
            first = 32768;
            last = 60999;
        }
        std::fclose(file);
    }
    return last - first + 1;
}

} // namespace cleat::bench
