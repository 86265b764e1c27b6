// files: whole files as strings, and names of files that may be of one file.

#pragma once

#include <string>
#include <vector>

namespace cleat::bench {

/// read_file gives a file's bytes. Throws std::runtime_error that names it.
[[nodiscard]] std::string read_file(std::string const& path);

/// write_file replaces a file. Throws std::runtime_error that names it.
void write_file(std::string const& path, std::string const& text);

/// same_file: both names are of one file.
[[nodiscard]] bool same_file(std::string const& one, std::string const& other);

/// keep_from refuses to write a file over one that is to be read. Throws std::runtime_error.
void keep_from(
    std::vector<std::string> const& read, std::string const& option, std::string const& written);

} // namespace cleat::bench
