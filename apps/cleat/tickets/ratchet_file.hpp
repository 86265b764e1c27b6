// ratchet_file: the file with the states of ticket ratchets, replaced by one with later states.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace cleat::app {

/// file_rewriting is the outcome of rewrite_ratchets or prove_rewriting.
struct file_rewriting
{
    bool done = true;       ///< The file has the states, or can be rewritten.
    bool is_busy = false;   ///< Not done: another process writes it, or has just changed it.
    bool is_denied = false; ///< Not done: this process has no right to.
    bool is_unsafe = false; ///< Not done: each user may replace the file by one of its own.
    std::string text{};     ///< Not done: why. Nothing of a state is in it.
    std::string cure{};
};

/// rewrite_ratchets moves on the ratchets of `rotation` in a file, to an epoch: see
/// advance_ratchets. A state that cannot be moved on makes it not done; the others move on.
/// Where one is not there yet, a new file replaces the old one by a rename, with its mode and
/// owner, and both file and folder are synchronized with the disk. A process that ends on the way
/// leaves the old file as it was, and perhaps a file with ".next" behind its name, which the next
/// rewriting replaces where it belongs to this process's user or to the file's. Nothing is written
/// to a file that this process has not made. It blocks. Throws std::bad_alloc.
[[nodiscard]] file_rewriting rewrite_ratchets(
    std::string const& path, std::chrono::seconds rotation, std::int64_t epoch);

/// prove_rewriting makes the new file, as rewrite_ratchets does, and removes it again. The old file
/// is left alone. Not done: also where it is a symbolic link or a mount point (statx(2),
/// Linux 5.8), and where each user may replace files in its folder. Throws std::bad_alloc.
[[nodiscard]] file_rewriting prove_rewriting(std::string const& path);

} // namespace cleat::app
