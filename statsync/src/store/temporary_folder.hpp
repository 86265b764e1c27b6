// temporary_folder: a folder for as long as this object lives.

#pragma once

#include "core/failure.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

namespace statsync {

class temporary_folder
{
public:
    /// Throws failure(problem::unwritten) where there is no place for temporary files.
    temporary_folder()
    {
        std::error_code error;
        std::string name = std::filesystem::temp_directory_path(error) / "statsync.XXXXXX";
        if (error || ::mkdtemp(name.data()) == nullptr) {
            throw failure(
                problem::unwritten, "cannot make a temporary folder " + name + ": " +
                                        (error ? "TMPDIR is no folder" : std::strerror(errno)));
        }
        path_ = name;
    }
    temporary_folder(temporary_folder const&) = delete;
    temporary_folder& operator=(temporary_folder const&) = delete;
    ~temporary_folder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    std::filesystem::path const& path() const { return path_; }
    std::filesystem::path operator/(std::string const& name) const { return path_ / name; }

private:
    std::filesystem::path path_;
};

} // namespace statsync
