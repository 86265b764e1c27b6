#include "lines/lines_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cleat::locks {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_file(fs::path const& file, std::string_view reason)
{
    throw std::runtime_error{fmt::format("{}: {}", file.string(), reason)};
}

[[noreturn]] void refuse_file(fs::path const& file)
{
    refuse_file(file, std::generic_category().message(errno));
}

struct unmap
{
    void operator()(lines_file* mapped) const noexcept { ::munmap(mapped, sizeof(lines_file)); }
};
using mapping = std::unique_ptr<lines_file, unmap>;

// create makes a file of zeros, or none.
void create(fs::path const& file)
{
    constexpr std::size_t mib = (sizeof(lines_file) + (1U << 20U) - 1) >> 20U;
    int const descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC | O_CREAT | O_TRUNC, 0600);
    if (descriptor < 0)
        refuse_file(file);
    int const error = ::posix_fallocate(descriptor, 0, sizeof(lines_file));
    ::close(descriptor);
    if (error == 0)
        return;
    std::error_code ec;
    fs::remove(file, ec);
    refuse_file(
        file, error == ENOSPC ? fmt::format("the disk is full: it takes {} MiB", mib)
                              : std::generic_category().message(error));
}

enum class use : std::uint8_t
{
    read,
    write
};

mapping open_lines(fs::path const& file, use wanted)
{
    int const descriptor =
        ::open(file.c_str(), O_CLOEXEC | (wanted == use::read ? O_RDONLY : O_RDWR));
    if (descriptor < 0)
        refuse_file(file);
    struct stat about = {};
    int const rights = wanted == use::read ? PROT_READ : PROT_READ | PROT_WRITE;
    bool const is_whole =
        ::fstat(descriptor, &about) == 0 && about.st_size == off_t{sizeof(lines_file)};
    void* const mapped =
        is_whole ? ::mmap(nullptr, sizeof(lines_file), rights, MAP_SHARED, descriptor, 0)
                 : MAP_FAILED;
    ::close(descriptor);
    if (mapped == MAP_FAILED)
        refuse_file(
            file, "this is no record of cache lines: name what `cleat-locks lines -o` wrote");
    return mapping{static_cast<lines_file*>(mapped)};
}

mapping open_record(fs::path const& file, use wanted)
{
    mapping made = open_lines(file, wanted);
    if (made->header.magic != LINES_MAGIC)
        refuse_file(file, "this is no record of cache lines");
    if (made->header.version != lines_version)
        refuse_file(file, "another version of cleat-locks has written it");
    return made;
}

// The map of the process as it is now, as long as it runs: libraries and stacks may have come.
std::string present_maps(unsigned pid)
{
    std::ifstream from{fmt::format("/proc/{}/maps", pid)};
    std::string maps{std::istreambuf_iterator<char>{from}, {}};
    return maps.find("libcleat-lines.so") == std::string::npos ? std::string{} : maps;
}

std::uint64_t counted_accesses(lines_thread const& from) noexcept
{
    std::uint64_t const end = from.accesses_counted != 0 ? from.accesses_counted : from.accesses;
    return end - std::min(end, from.accesses_before);
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
    create(file);
    mapping const made = open_lines(file, use::write);
    made->header.magic = LINES_MAGIC;
    made->header.version = lines_version;
    made->header.counts = made->header.has_counted = counts ? 1 : 0;
}

void set_counting(fs::path const& file, bool counts)
{
    mapping const made = open_record(file, use::write);
    lines_header& header = made->header;
    for (lines_thread& each : header.thread)
        each.accesses_counted = counts ? 0 : each.accesses;
    if (counts) {
        header.has_counted = 1;
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
    mapping const from = open_record(file, use::read);
    lines_header const& header = from->header;
    lines_record made;
    made.pid = header.pid;
    made.counts = header.counts != 0;
    made.ended = header.ended != 0;
    made.thread_count = __atomic_load_n(&header.threads, __ATOMIC_RELAXED);
    made.moves_lost = header.moves_lost;
    made.stacks_lost = header.stacks_lost;
    made.other_processes = header.other_processes;
    for (std::uint32_t i = 0; i < lines_threads_max && i < made.thread_count; ++i) {
        lines_thread const& each = header.thread[i];
        made.threads.push_back(
            {std::string{each.name, ::strnlen(each.name, lines_name_max)}, each.tid,
             each.own_memory, header.has_counted != 0 ? counted_accesses(each) : 0});
    }
    read_moves(*from, made);
    if (!made.ended)
        made.maps = present_maps(made.pid);
    if (made.maps.empty())
        made.maps.assign(from->maps, std::min<std::size_t>(header.maps_size, lines_maps_max));
    return made;
}

} // namespace cleat::locks
