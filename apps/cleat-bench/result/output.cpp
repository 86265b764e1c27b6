#include "result/output.hpp"
#include "system/files.hpp"
#include "text/usage_error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <vector>

#include <unistd.h>

namespace cleat::bench {

namespace {

// made_files are those that exist only for the check; the destructor removes them.
struct made_files
{
    made_files() = default;
    made_files(made_files&&) = delete;
    ~made_files()
    {
        for (std::string const& path : paths)
            std::remove(path.c_str());
    }

    std::vector<std::string> paths;
};

// Opens a file for writing. True if the file did not exist before.
bool open_for_check(named_file const& named)
{
    auto const& [option, path] = named;
    if (path == "-")
        refuse_usage(
            fmt::format("{} -: name a file; what is printed goes to the standard output", option));
    bool const was_there = ::access(path.c_str(), F_OK) == 0;
    // Opening and closing a pipe would end it for its reader.
    if (std::error_code none; was_there && !std::filesystem::is_regular_file(path, none) &&
                              !std::filesystem::is_directory(path, none))
        return false;
    std::ofstream file{path, std::ios::app};
    if (!file)
        throw std::runtime_error{
            fmt::format("{} {}: cannot be written: {}", option, path, std::strerror(errno))};
    return !was_there;
}

} // namespace

std::vector<named_file> files_of(output const& output)
{
    return {{"--json", output.json}, {"--html", output.html}};
}

void check_writable(std::vector<named_file> const& files)
{
    made_files made;
    for (named_file const& each : files)
        if (!each.path.empty() && open_for_check(each))
            made.paths.push_back(each.path);
    // All files exist now, so that two names of one file are found.
    for (std::size_t i = 0; i != files.size(); ++i)
        for (std::size_t k = 0; k != i; ++k)
            if (same_file(files[k].path, files[i].path))
                refuse_usage(fmt::format(
                    "{} {} {} {}: that is one file: give each its own", files[k].option,
                    files[k].path, files[i].option, files[i].path));
}

} // namespace cleat::bench
