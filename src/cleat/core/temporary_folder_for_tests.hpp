// temporary_folder: a folder for one test, removed at its end.

#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include <stdlib.h>

namespace cleat {

/// temporary_folder makes a folder, and removes it with all that is in it.
class temporary_folder
{
public:
    temporary_folder()
    {
        std::string name = (std::filesystem::temp_directory_path() / "cleat-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    temporary_folder(temporary_folder&&) = delete;
    ~temporary_folder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] std::filesystem::path const& path() const noexcept { return path_; }

    /// write makes a file, and its parent folders.
    void write(std::filesystem::path const& name, std::string_view text) const
    {
        std::filesystem::create_directories((path_ / name).parent_path());
        std::ofstream{path_ / name} << text;
    }

    /// replace puts a whole file in the place of one that a program may be reading, as a renewal of
    /// a certificate does.
    void replace(std::filesystem::path const& name, std::string_view text) const
    {
        std::filesystem::path const made = name.parent_path() / ("." + name.filename().string());
        write(made, text);
        std::filesystem::rename(path_ / made, path_ / name);
    }

    /// read is the whole text of a file.
    [[nodiscard]] std::string read(std::filesystem::path const& name) const
    {
        std::ostringstream text;
        text << std::ifstream{path_ / name}.rdbuf();
        return text.str();
    }

private:
    std::filesystem::path path_;
};

} // namespace cleat
