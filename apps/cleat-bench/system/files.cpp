#include "system/files.hpp"
#include "text/usage_error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

namespace cleat::bench {

std::string read_file(std::string const& path)
{
    if (std::error_code none; std::filesystem::is_directory(path, none))
        throw std::runtime_error{fmt::format("{}: is a folder; name a file", path)};
    std::ifstream file{path, std::ios::binary};
    if (!file)
        throw std::runtime_error{fmt::format("{}: cannot be read: {}", path, std::strerror(errno))};
    return {std::istreambuf_iterator<char>{file}, {}};
}

void write_file(std::string const& path, std::string const& text)
{
    std::ofstream file{path, std::ios::binary | std::ios::trunc};
    file << text << std::flush;
    if (!file)
        throw std::runtime_error{
            fmt::format("{}: cannot be written: {}", path, std::strerror(errno))};
}

bool same_file(std::string const& one, std::string const& other)
{
    std::error_code none; // If a name has no file, the two differ.
    return std::filesystem::is_regular_file(one, none) &&
           std::filesystem::equivalent(one, other, none);
}

void refuse_overwriting(
    std::vector<std::string> const& read, std::vector<named_file> const& written)
{
    for (auto const& [option, path] : written)
        for (std::string const& each : read)
            if (!path.empty() && same_file(each, path))
                throw usage_error{fmt::format(
                    "{} {}: that would overwrite {}, which is to be read: give another file",
                    option, path, each)};
}

} // namespace cleat::bench
