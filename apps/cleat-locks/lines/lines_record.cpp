#include "lines/lines_record.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cleat::locks {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(fs::path const& file, std::string_view reason)
{
    throw std::runtime_error{fmt::format("{}: {}", file.string(), reason)};
}

[[noreturn]] void fail(fs::path const& file)
{
    fail(file, std::generic_category().message(errno));
}

struct unmap
{
    void operator()(lines_file* mapped) const noexcept { ::munmap(mapped, sizeof(lines_file)); }
};
using mapping = std::unique_ptr<lines_file, unmap>;

// open_lines maps a file that is there; a new one is made of zeros first.
mapping open_lines(fs::path const& file, bool is_new)
{
    int const descriptor =
        ::open(file.c_str(), O_RDWR | O_CLOEXEC | (is_new ? O_CREAT | O_TRUNC : 0), 0600);
    if (descriptor < 0)
        fail(file);
    struct stat about = {};
    bool sized = !is_new || ::posix_fallocate(descriptor, 0, sizeof(lines_file)) == 0;
    sized = sized && ::fstat(descriptor, &about) == 0;
    void* const mapped =
        sized && about.st_size == off_t{sizeof(lines_file)}
            ? ::mmap(nullptr, sizeof(lines_file), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
            : MAP_FAILED;
    ::close(descriptor);
    if (!sized)
        fail(file, fmt::format("the disk is full: it takes {} MiB", sizeof(lines_file) >> 20));
    if (mapped == MAP_FAILED)
        fail(file, "this is no record of cache lines: name what `cleat-locks lines -o` wrote");
    mapping made{static_cast<lines_file*>(mapped)};
    if (!is_new && (made->header.magic != LINES_MAGIC || made->header.version != lines_version))
        fail(
            file, made->header.magic == LINES_MAGIC
                      ? "another version of cleat-locks has written it"
                      : "this is no record of cache lines");
    return made;
}

std::uint32_t known_stack(lines_file const& from, std::uint32_t number) noexcept
{
    return number <= lines_stacks_max && number != 0 && from.stacks[number - 1].hash != 0 ? number
                                                                                          : 0;
}

std::vector<std::uint64_t> frames_of(lines_stack const& from)
{
    std::uint32_t const depth = std::min<std::uint32_t>(from.depth, lines_frames_max);
    return {from.frames, from.frames + depth};
}

void read_moves(lines_file const& from, lines_record& made)
{
    made.stacks.resize(std::size_t{lines_stacks_max} + 1);
    for (lines_move const& each : from.moves) {
        if (each.count == 0 || each.thread >= made.threads.size() ||
            each.thread_before >= made.threads.size() || each.kind >= lines_kinds)
            continue;
        lines_move& move = made.moves.emplace_back(each);
        for (std::uint32_t* const number : {&move.stack, &move.stack_before, &move.allocated}) {
            *number = known_stack(from, *number);
            if (*number != 0 && made.stacks[*number].empty())
                made.stacks[*number] = frames_of(from.stacks[*number - 1]);
        }
    }
}

} // namespace

void make_lines_file(fs::path const& file, bool counts)
{
    mapping const made = open_lines(file, true);
    made->header.magic = LINES_MAGIC;
    made->header.version = lines_version;
    made->header.counts = counts ? 1 : 0;
}

void set_counting(fs::path const& file, bool counts)
{
    mapping const made = open_lines(file, false);
    lines_header& header = made->header;
    if (counts) {
        __atomic_store_n(&header.counts, 0U, __ATOMIC_SEQ_CST);
        header.moves_lost = 0;
        for (lines_thread& each : header.thread)
            each.accesses_before = each.accesses;
        for (lines_move& each :
             made->moves) { // The places stay: a thread may look for one just now.
            __atomic_store_n(&each.count, std::uint64_t{0}, __ATOMIC_RELAXED);
            __atomic_store_n(&each.other_bytes, std::uint64_t{0}, __ATOMIC_RELAXED);
        }
    }
    __atomic_store_n(&header.counts, counts ? 1U : 0U, __ATOMIC_SEQ_CST);
}

lines_record read_lines(fs::path const& file)
{
    mapping const from = open_lines(file, false);
    lines_header const& header = from->header;
    lines_record made;
    made.pid = header.pid;
    made.counts = header.counts != 0;
    made.ended = header.ended != 0;
    made.thread_count = header.threads;
    made.moves_lost = header.moves_lost;
    made.stacks_lost = header.stacks_lost;
    made.other_processes = header.other_processes;
    for (std::uint32_t i = 0; i < lines_threads_max && i < header.threads; ++i) {
        lines_thread const& each = header.thread[i];
        made.threads.push_back(
            {std::string{each.name, ::strnlen(each.name, lines_name_max)}, each.tid,
             each.own_memory, each.accesses - each.accesses_before});
    }
    read_moves(*from, made);
    made.maps.assign(from->maps, std::min<std::size_t>(header.maps_size, lines_maps_max));
    return made;
}

} // namespace cleat::locks
