// temporary_folder: a folder for as long as this object lives.

#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace statsync {

class temporary_folder
{
public:
    temporary_folder()
    {
        std::string name = std::filesystem::temp_directory_path() / "statsync.XXXXXX";
        path_ = ::mkdtemp(name.data());
    }
    temporary_folder(temporary_folder const&) = delete;
    temporary_folder& operator=(temporary_folder const&) = delete;
    ~temporary_folder() { std::filesystem::remove_all(path_); }

    std::filesystem::path const& path() const { return path_; }
    std::filesystem::path operator/(std::string const& name) const { return path_ / name; }

private:
    std::filesystem::path path_;
};

} // namespace statsync
