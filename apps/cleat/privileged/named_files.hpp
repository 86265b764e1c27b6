// named_files: the files and ports that root's configuration names, as its file is on disk now.

#pragma once

#include "privileged/permissions.hpp"
#include "privileged/trusted_path.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include <sys/stat.h>

namespace cleat::app {

struct serve;

/// named_files reads the configuration again whenever its file has changed, and only while nobody
/// but root can change it. Files of earlier readings stay allowed, because connections last longer
/// than a configuration: a certificate of the one that they began with may be loaded later. cleat
/// has been allowed to have these files before. The last readings_max readings count.
class named_files
{
public:
    /// The words of the command line, and the folder, are those of the start.
    named_files(serve const& start, std::string folder, trusted_paths const& paths);

    /// allows: a reading has what `is_allowed` looks for.
    [[nodiscard]] bool allows(std::function<bool(permissions const&)> const& is_allowed);

    /// fault is why the configuration could not be read now; empty where it could.
    [[nodiscard]] std::string const& fault() const noexcept { return fault_; }

private:
    static constexpr std::size_t readings_max = 16;

    // Which content the file had.
    struct version
    {
        dev_t device = 0;
        ino_t inode = 0;
        off_t size = 0;
        timespec modified{};
        timespec changed{};
    };

    void read_again();
    void parse(unique_fd file);
    void keep(permissions made);

    serve const& start_;
    std::string folder_;
    trusted_paths const& paths_;
    std::deque<permissions> readings_;
    version last_{}; // Of the last reading, whether it succeeded or not.
    std::string parse_fault_;
    std::string fault_;
};

} // namespace cleat::app
