// files: reading, writing and comparing whole files.

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

/// named_file is a file that an option of the command line names.
struct named_file
{
    std::string option;
    std::string path; ///< Empty: the option was not given.
};

/// refuse_overwriting throws usage_error if a file to write is one of those to read. An empty name
/// is no file.
void refuse_overwriting(
    std::vector<std::string> const& read, std::vector<named_file> const& written);

} // namespace cleat::bench
