// file_opener: a way to open files other than open(2) with the rights of the process. Not a public
// header.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/core/unique_fd.hpp>

#include <functional>
#include <string>

namespace cleat {

/// file_opening is an open file, or else the reason why there is none.
struct file_opening
{
    unique_fd fd{};
    error_code reason{};   ///< Set where there is no fd.
    std::string refusal{}; ///< The reason of a process with more rights; often empty.
};

/// to_string is the reason for a person.
[[nodiscard]] inline std::string to_string(file_opening const& failed)
{
    std::string const text = failed.reason.message();
    return failed.refusal.empty() ? text : text + ": " + failed.refusal;
}

/// file_opener opens a file or a folder. Any thread may call it. Empty: there is no opener.
using file_opener = std::function<file_opening(std::string const& path)>;

/// open_or_ask opens a file or folder with these flags of open(2). Where this process may not, it
/// asks the opener, if there is one.
[[nodiscard]] file_opening open_or_ask(
    std::string const& path, int flags, file_opener const& opener);

} // namespace cleat
