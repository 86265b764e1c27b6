#include "result/output.hpp"
#include "system/files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <vector>

#include <unistd.h>

namespace cleat::bench {

void check_writable(output const& to)
{
    std::vector<std::string> made;
    for (std::string const& path : {to.json, to.html})
        if (!path.empty()) {
            if (path == "-")
                throw std::runtime_error{
                    "-: name a file; what is printed goes to the standard output"};
            bool const was_there = ::access(path.c_str(), F_OK) == 0;
            // Who reads from a pipe would see its end.
            if (std::error_code none; was_there && !std::filesystem::is_regular_file(path, none) &&
                                      !std::filesystem::is_directory(path, none))
                continue;
            std::ofstream file{path, std::ios::app};
            if (!file)
                throw std::runtime_error{
                    fmt::format("{}: cannot be written: {}", path, std::strerror(errno))};
            if (!was_there)
                made.push_back(path);
        }
    // Both are there now, so that they can be told apart whatever they are called.
    bool const one = !to.json.empty() && !to.html.empty() && same_file(to.json, to.html);
    for (std::string const& path : made)
        std::remove(path.c_str());
    if (one)
        throw std::runtime_error{fmt::format(
            "--json {} --html {}: that is one file: give each its own", to.json, to.html)};
}

} // namespace cleat::bench
