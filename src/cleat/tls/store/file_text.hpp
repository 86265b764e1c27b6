// file_text: a file's text, read whole and wiped when it is dropped. Not a public header.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/core/file_opener.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/tls/secret_text.hpp>

#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>

#include <sys/stat.h>

namespace cleat::tls {

/// file_fault is why a file is not read. error: a system call's error, in `reason`.
enum class file_fault
{
    none,
    error,
    is_directory,
    not_a_regular_file, ///< A FIFO, a socket or a device: reading it could last forever.
    too_large,
};

/// file_stamp is a hash of what changes with a file: its inode, size and times. 0: not known.
using file_stamp = std::uint64_t;

/// file_facts are the parts of stat(2) that a stamp is made of.
struct file_facts
{
    std::uint64_t inode = 0; ///< 0: nothing is known of the file.
    std::uint64_t size = 0;
    std::int64_t modified_s = 0; ///< Since 1970, as the next three.
    std::int64_t modified_ns = 0;
    std::int64_t changed_s = 0;
    std::int64_t changed_ns = 0;
};

/// facts_from what stat(2) has found. Inline: the process with root's rights calls it, and runs no
/// code of the TLS library.
[[nodiscard]] inline file_facts facts_from(struct stat const& found) noexcept
{
    return {
        .inode = found.st_ino,
        .size = static_cast<std::uint64_t>(found.st_size),
        .modified_s = found.st_mtim.tv_sec,
        .modified_ns = found.st_mtim.tv_nsec,
        .changed_s = found.st_ctim.tv_sec,
        .changed_ns = found.st_ctim.tv_nsec};
}

struct file_text
{
    secret_text text;
    file_stamp stamp = 0; ///< From before it was read.
    file_fault fault = file_fault::none;
    error_code reason{};
    std::string refusal{};                       ///< The opener's. Often empty.
    std::size_t size_max = limits::pem_file_max; ///< The limit that was read with.
};

/// read_file reads a file of at most size_max bytes. It does not wait for a FIFO's writer. The
/// opener opens a file that this process may not open. Throws std::bad_alloc.
[[nodiscard]] file_text read_file(
    std::string const& path, file_opener const& opener = {},
    std::size_t size_max = limits::pem_file_max);

/// stamp_of looks at a file; links are followed. It is 0 where that fails, and where the file has
/// changed so lately that a next change may leave no trace: a file system's clock is coarse.
[[nodiscard]] file_stamp stamp_of(
    std::string const& path, std::time_t now = std::time(nullptr)) noexcept;

/// stamp_of a file that another process has looked at.
[[nodiscard]] file_stamp stamp_of(
    file_facts const& facts, std::time_t now = std::time(nullptr)) noexcept;

/// description says what is wrong with the file that read_file could not read: "cannot read a.pem:
/// Permission denied".
[[nodiscard]] std::string description(file_text const& failed, std::string_view path);

/// cure is a sentence for the operator.
[[nodiscard]] std::string_view cure(file_text const& failed) noexcept;

/// may_pass: the cause is a lack of resources, and not the file.
[[nodiscard]] bool may_pass(file_text const& failed) noexcept;

} // namespace cleat::tls
