// line_moves: which memory moves between threads, and by which code, with names.

#pragma once

#include "lines/lines_record.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cleat::locks {

enum class memory_kind : std::uint8_t
{
    heap,   ///< Allocated: `memory` is the function that did so.
    global, ///< A variable of the program or of a library.
    thread, ///< A thread's stack, or its thread-local variables.
    other
};

/// line_move is all moves from one thread to another of memory with one name, by the same code.
struct line_move
{
    std::string memory;
    memory_kind kind = memory_kind::other;
    std::size_t thread = 0;         ///< Place among the record's threads.
    std::size_t thread_before = 0;  ///< It had written the line, or read it.
    std::uint32_t stack = 0;        ///< Place among all stacks, as are the next two.
    std::uint32_t stack_before = 0; ///< Of the write before; 0: none is known.
    std::uint32_t allocated = 0;    ///< Of heap.
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    std::uint64_t other_bytes = 0; ///< The thread touched no byte that the other one had written.
    std::uint64_t address = 0;     ///< Of the first.

    [[nodiscard]] std::uint64_t count() const noexcept { return reads + writes; }
};

/// line_moves are the moves of a record, most first.
struct line_moves
{
    std::vector<line_thread> threads;
    std::vector<std::string> functions;
    std::vector<std::vector<std::uint32_t>> stacks; ///< Functions, the innermost first.
    std::vector<line_move> moves;
    std::uint64_t moves_lost = 0;
    std::uint64_t stacks_lost = 0;
    std::uint32_t threads_lost = 0; ///< Those that are counted together as the last one.
    std::uint32_t other_processes = 0;

    [[nodiscard]] std::uint64_t count() const noexcept;
};

/// name_moves finds the names. Throws std::runtime_error for a memory map that cannot be read.
[[nodiscard]] line_moves name_moves(lines_record const& record);

} // namespace cleat::locks
