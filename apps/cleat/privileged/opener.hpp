// opener: cleat's side of the process that opens root's files and ports for it, once cleat itself
// may not do so any more (docs/decisions/privileged-process.md).

#pragma once

#include "privileged/request.hpp"
#include "watch/root_folders.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/file_opener.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

namespace cleat::app {

struct serve;

/// opener asks the process. Any number of threads may use it at once: each waits for its own
/// answer. A default-made one has no process, and refuses everything.
class opener
{
public:
    enum class state
    {
        none,   ///< There was never a process.
        serves, ///< It is there.
        ended,  ///< It has ended, or does not answer any more.
    };

    opener() noexcept;
    opener(opener&&) noexcept;
    opener& operator=(opener&&) noexcept;
    ~opener();

    /// start forks the process. Call it before any key is read: the process has a copy of this
    /// one's memory. Throws std::system_error, which names the step that failed, where the process
    /// cannot be started or confined. `start` and `folder` are the command line and the folder of
    /// the start.
    [[nodiscard]] static opener start(serve const& start, std::string const& folder);

    [[nodiscard]] state present_state() const noexcept;

    /// native_handle gets POLLHUP when the process ends; -1 where there is none.
    [[nodiscard]] int native_handle() const noexcept;

    /// These open a file for reading, a folder for listing, and a log for appending. Relative paths
    /// begin in the working folder. Throw std::bad_alloc.
    [[nodiscard]] file_opening open_file(std::string const& path) const;
    [[nodiscard]] file_opening open_folder(std::string const& path) const;
    [[nodiscard]] file_opening open_log(std::string const& path) const;

    /// bind binds a TCP socket; the opening has no descriptor, and no reason where that succeeded.
    [[nodiscard]] file_opening bind(int socket, sockaddr const& address, socklen_t size) const;

    /// look_at gives the facts of files in a folder, by their names and in their order: those of a
    /// link, or of a file that is gone, are unknown. Throws std::bad_alloc.
    [[nodiscard]] result<std::vector<tls::file_facts>> look_at(
        std::string const& folder, std::span<std::string const> names) const;

    /// watch is root_folders::watch. Throws std::bad_alloc.
    [[nodiscard]] result<std::vector<watched_place>> watch(
        int inotify, std::string const& path) const;

    /// These are open_file, open_folder and open_log as functions, which this object must outlive;
    /// empty where there is no process.
    [[nodiscard]] file_opener for_files() const;
    [[nodiscard]] file_opener for_folders() const;
    [[nodiscard]] file_opener for_logs() const;

private:
    struct channels;

    [[nodiscard]] static std::string whole_path(std::string const& path);
    [[nodiscard]] file_opener as_function(opener_request::kind what) const;
    [[nodiscard]] file_opening open(opener_request::kind what, std::string const& path) const;
    [[nodiscard]] file_opening ask(opener_request const& request, int fd) const;

    std::unique_ptr<channels> channels_;
};

} // namespace cleat::app
