// lines_record: the file of the recorder of cache lines as a value. See record/lines_format.h.

#pragma once

#include "lines/record/lines_format.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace cleat::locks {

/// line_thread is a thread of the program.
struct line_thread
{
    std::string name;
    std::uint32_t tid = 0;
    std::uint64_t own_memory = 0; ///< An address on its stack.
    std::uint64_t accesses = 0;   ///< To memory, while moves were counted; to some thousands.
};

/// lines_record is what a file has.
struct lines_record
{
    unsigned pid = 0;               ///< 0: no process has written into the file.
    bool counts = false;            ///< Moves are counted now.
    bool ended = false;             ///< The program ended by itself.
    std::uint32_t thread_count = 0; ///< Also of those without a place in `threads`.
    std::uint64_t moves_lost = 0;
    std::uint64_t stacks_lost = 0;
    std::uint32_t other_processes = 0; ///< Processes of the program that are not recorded.
    std::vector<line_thread> threads;
    std::vector<lines_move> moves;
    std::vector<std::vector<std::uint64_t>> stacks; ///< By a stack's number; the first is empty.
    std::string maps;                               ///< The text of /proc/PID/maps.
};

/// make_lines_file writes an empty file for a program that is not running yet. Throws
/// std::runtime_error.
void make_lines_file(std::filesystem::path const& file, bool counts);

/// set_counting begins or ends the counting of a program that may be running. Where it begins, what
/// was counted before is forgotten. Throws std::runtime_error.
void set_counting(std::filesystem::path const& file, bool counts);

/// read_lines reads a file, also while the program runs. Throws std::runtime_error that says what
/// is wrong with it.
[[nodiscard]] lines_record read_lines(std::filesystem::path const& file);

} // namespace cleat::locks
