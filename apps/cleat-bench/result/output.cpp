#include "result/output.hpp"
#include "system/files.hpp"
#include "text/usage_error.hpp"

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

void check_writable(output const& output)
{
    std::vector<std::string> made;
    for (std::string const& path : {output.json, output.html})
        if (!path.empty()) {
            if (path == "-")
                throw usage_error{"-: name a file; what is printed goes to the standard output"};
            bool const was_there = ::access(path.c_str(), F_OK) == 0;
            // Opening and closing a pipe would end it for its reader.
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
    // Both files exist now, so that two names of one file are found.
    bool const one =
        !output.json.empty() && !output.html.empty() && same_file(output.json, output.html);
    for (std::string const& path : made)
        std::remove(path.c_str());
    if (one)
        throw usage_error{fmt::format(
            "--json {} --html {}: that is one file: give each its own", output.json, output.html)};
}

} // namespace cleat::bench
