#include "report/symbols.hpp"
#include "report/trace.hpp"
#include "report/trace_files.hpp"
#include "report/utf8.hpp"
#include "report/window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include <time.h>

namespace cleat::locks {
namespace {

namespace fs = std::filesystem;

std::string contents(fs::path const& file)
{
    // A device has no size, and opening a pipe would wait for its other end.
    if (std::error_code ec; fs::exists(file, ec) && !fs::is_regular_file(file, ec))
        throw std::runtime_error{fmt::format(
            "{}: this is neither a file nor a folder: give what `cleat-locks run -o` wrote",
            file.string())};
    std::ifstream from{file, std::ios::binary};
    if (!from)
        throw std::runtime_error{
            fmt::format("{}: {}", file.string(), std::generic_category().message(errno))};
    std::string made(fs::file_size(file), '\0');
    from.read(made.data(), static_cast<std::streamsize>(made.size()));
    made.resize(static_cast<std::size_t>(from.gcount()));
    return made;
}

// A value at an offset of a file, copied: the bytes are not aligned.
template <class T>
T read_at(std::string_view bytes, std::size_t offset)
{
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

std::vector<traced_stack> read_stacks(trace_thread const& block)
{
    std::vector<traced_stack> found;
    constexpr std::size_t head = sizeof(trace_stack) / sizeof(std::uint64_t);
    for (std::size_t word = 0; word + head <= trace_words_max;) {
        traced_stack one;
        std::memcpy(&one.counts, &block.words[word], sizeof one.counts);
        std::size_t const size = one.counts.size;
        // Zero is the end. Any other size that does not fit is damage.
        if (size != head + one.counts.depth || word + size > trace_words_max)
            break;
        one.frames.assign(&block.words[word + head], &block.words[word + size]);
        one.word = word;
        found.push_back(std::move(one));
        word += size;
    }
    return found;
}

// add_wait adds the wait of a thread that still waits, at one of its sites.
void add_wait(traced_thread& thread, trace_thread const& block, trace_site& site, std::uint64_t ns)
{
    site.wait_ns += ns;
    site.wait_max_ns = std::max(site.wait_max_ns, ns);
    thread.waits = {site.lock, site.return_to, ns, block.wait_owner, {}};
    for (std::int32_t const each : block.cycle) {
        if (each == 0)
            break;
        thread.waits->cycle.push_back(each);
    }
    auto const stack = std::ranges::find_if(thread.stacks, [&](traced_stack const& each) {
        return each.word + 1 == block.wait_stack && each.counts.what == trace_taken &&
               each.counts.lock == site.lock;
    });
    (stack == thread.stacks.end() ? site.unattributed_wait_ns : stack->counts.wait_ns) += ns;
}

// A thread that did not end lived until its process ended.
traced_thread read_thread(
    trace_thread const& block, std::size_t locks, traced_process const& process)
{
    std::uint64_t const now = process.ended_ns;
    traced_thread found;
    found.number = block.number;
    found.threads = block.threads;
    found.tid = block.tid;
    found.name = in_utf8({block.name, ::strnlen(block.name, sizeof block.name)});
    found.lived_ns = block.ended_lived_ns;
    if (block.began_ns != 0 && now > block.began_ns)
        found.lived_ns += now - block.began_ns;
    found.lived_at_least = block.began_ns != 0 && !process.end_known;
    found.cpu_ns = block.ended_cpu_ns + block.cpu_ns;
    found.samples = block.samples;
    found.samples_own = block.samples_own;
    found.sites_lost = block.sites_lost;
    found.stacks_lost = block.stacks_lost;
    found.nested = block.nested;
    found.waits_for_lost = block.waits_for_lost;
    for (trace_wait_for const& each : block.waits_for)
        if (each.waits > 0)
            found.waits_for.push_back(each);
    for (trace_order const& each : block.orders)
        if (each.times > 0)
            found.orders.push_back(each);
    found.stacks = read_stacks(block);
    std::erase_if(found.stacks, [&](traced_stack const& s) {
        return s.counts.what == trace_taken && s.counts.lock >= locks;
    });
    bool const waits = block.state == trace_running && now > block.wait_began_ns;
    for (std::size_t i = 0; i < trace_sites_max; ++i) {
        trace_site const& site = block.site[i];
        if (site.key == 0 || site.lock >= locks)
            continue;
        found.sites.push_back(site);
        found.site_numbers.push_back(static_cast<std::uint32_t>(i));
        if (waits && block.wait_site == i + 1)
            add_wait(found, block, found.sites.back(), now - block.wait_began_ns);
    }
    return found;
}

std::vector<std::string> split_arguments(std::string_view zeroed)
{
    std::vector<std::string> found;
    while (!zeroed.empty()) {
        std::size_t const end = zeroed.find('\0');
        found.push_back(in_utf8(zeroed.substr(0, end)));
        zeroed = end == std::string_view::npos ? std::string_view{} : zeroed.substr(end + 1);
    }
    return found;
}

// cut_short_error is a trace whose process ended before the tables were complete.
struct cut_short_error : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

// empty_process stands for a process whose trace cannot be read: the report names it, without
// figures.
traced_process empty_process(fs::path const& file, std::string_view why)
{
    traced_process made;
    made.file = file;
    made.program = fmt::format("({}: {})", why, in_utf8(file.filename().string()));
    made.pid = parse_trace_name(file).pid;
    return made;
}

void check_table(trace_header const& header, std::size_t size, fs::path const& file)
{
    if (size < sizeof header.magic)
        throw cut_short_error{fmt::format(
            "{}: this is no trace of cleat-locks, or one that had not begun", file.string())};
    auto const refuse = [&](std::string_view why) {
        throw std::runtime_error{fmt::format("{}: {}", file.string(), why)};
    };
    if (std::string_view{header.magic, sizeof header.magic} != TRACE_MAGIC)
        refuse("this is no trace of cleat-locks: give what `cleat-locks run -o` wrote");
    if (header.header_size != sizeof(trace_header) || header.slot_size != sizeof(trace_slot) ||
        header.lock_size != sizeof(trace_lock) || header.thread_size != trace_block_bytes)
        refuse("another version of cleat-locks wrote this trace: read it with that one");
    std::size_t const tables = sizeof(trace_header) + sizeof(trace_slot[trace_slots_max]) +
                               sizeof(trace_lock[trace_locks_max]);
    if (size < tables || header.ready == 0)
        throw cut_short_error{fmt::format(
            "{}: the trace is cut short: its process ended while it began to record",
            file.string())};
}

// read_header gives a trace's header, if this program can read it.
std::optional<trace_header> read_header(fs::path const& file)
{
    trace_header header{};
    std::error_code ec;
    if (!fs::is_regular_file(file, ec))
        return std::nullopt;
    std::ifstream from{file, std::ios::binary};
    if (!from.read(reinterpret_cast<char*>(&header), sizeof header) ||
        std::string_view{header.magic, sizeof header.magic} != TRACE_MAGIC ||
        header.header_size != sizeof header || header.ready == 0)
        return std::nullopt;
    return header;
}

// next_trace is the trace of the program that the process executed next: PID.2.trace after
// PID.trace.
fs::path next_trace(fs::path const& file)
{
    auto const [pid, run] = parse_trace_name(file);
    return file.parent_path() / fmt::format("{}.{}.trace", pid, run + 1);
}

// A process that runs has its trace mapped. Its number alone is no proof: another process may have
// it by now, or the trace may come from another machine.
bool is_running(fs::path const& file, int pid)
{
    std::error_code ec;
    fs::path const whole = fs::canonical(file, ec);
    if (ec)
        return false;
    std::ifstream maps{fmt::format("/proc/{}/maps", pid)};
    for (std::string line; std::getline(maps, line);)
        if (line.ends_with(" " + whole.string()))
            return true;
    return false;
}

// find_end looks for the end of a process that did not record it. The last record of its threads is
// not the end: a thread that sleeps records nothing.
void find_end(traced_process& process, trace_header const& header)
{
    if (header.gone_ns != 0) {
        process.ended_ns = std::max<std::uint64_t>(process.ended_ns, header.gone_ns);
        process.wait_status = header.gone_status;
    } else if (std::optional<trace_header> const next = read_header(next_trace(process.file)))
        process.ended_ns = std::max<std::uint64_t>(process.ended_ns, next->began_ns);
    else if (is_running(process.file, process.pid)) {
        process.runs = true;
        process.ended_ns = std::max(process.ended_ns, now_ns());
    } else
        process.end_known = false;
}

// describe reads the figures of a header.
traced_process describe(trace_header const& header, fs::path const& file)
{
    traced_process found;
    found.file = file;
    found.program = in_utf8({header.program, ::strnlen(header.program, trace_text_max)});
    found.arguments = split_arguments(
        {header.arguments, std::min<std::size_t>(header.arguments_size, trace_text_max)});
    found.pid = header.pid;
    found.cpu_hz = header.cpu_hz;
    found.clock_ns = header.clock_ns;
    found.began_ns = header.began_ns;
    found.ended = header.ended_ns != 0;
    found.ended_ns = std::max(header.ended_ns, header.began_ns);
    found.thread_count = header.threads;
    found.threads_lost = header.threads_lost;
    found.slots_lost = header.slots_lost;
    found.interruptions = header.interruptions != 0;
    found.line_ns = header.line_ps / 1e3;
    return found;
}

// add_blocks adds the threads, and by their last records the end of the process.
void add_blocks(traced_process& found, trace_header const& header, std::string_view bytes)
{
    std::size_t const blocks = std::min<std::size_t>(header.blocks, trace_threads_max);
    std::size_t const block_bytes = bytes.size() - std::min(bytes.size(), trace_tables_bytes);
    found.blocks = static_cast<std::uint32_t>(blocks);
    // A thread without room for its block is counted in the header, and has no block in the file.
    std::size_t const missing = blocks - std::min(blocks, block_bytes / trace_block_bytes);
    found.blocks_cut = std::max<std::size_t>(
        missing - std::min<std::size_t>(missing, header.threads_lost),
        missing > 0 && block_bytes % trace_block_bytes != 0 ? 1 : 0);
    auto const each_block = [&](auto const& look) {
        auto const block = std::make_unique<trace_thread>();
        for (std::size_t i = 0; i < blocks - missing; ++i) {
            std::size_t const offset = trace_tables_bytes + i * trace_block_bytes;
            std::memcpy(block.get(), bytes.data() + offset, sizeof *block);
            if (block->state != trace_unused)
                look(*block);
        }
    };
    each_block([&](trace_thread const& block) {
        found.ended_ns = std::max(found.ended_ns, block.seen_ns);
    });
    if (!found.ended)
        find_end(found, header);
    found.ended_realtime_ns = header.began_realtime_ns + (found.ended_ns - found.began_ns);
    each_block([&](trace_thread const& block) {
        found.threads.push_back(read_thread(block, found.locks.size(), found));
    });
}

// read_maps gives the memory map beside a trace, with the earlier ones; empty: there is none.
std::string read_maps(fs::path const& file)
{
    fs::path const name = beside(file, ".maps");
    std::string maps = fs::exists(name) ? contents(name) : "";
    // Earlier maps are numbered upwards.
    std::vector<std::string> older;
    for (unsigned number = 1;; ++number) {
        fs::path const each = fmt::format("{}.{}", name.string(), number);
        if (!fs::exists(each))
            break;
        older.push_back(contents(each));
    }
    for (auto each = older.rbegin(); each != older.rend(); ++each)
        maps = with_earlier(maps, *each);
    return maps;
}

// read_off_cpu gives the samples of waits beside a trace.
off_cpu_record read_off_cpu(fs::path const& file)
{
    fs::path const name = beside(file, ".waits");
    off_cpu_record found;
    if (!fs::exists(name))
        return found;
    try {
        found = parse_off_cpu(contents(name));
    } catch (std::runtime_error const& e) {
        found.not_sampled = fmt::format("{}: {}", name.filename().string(), e.what());
    }
    return found;
}

// read_counts reads a trace, or a copy of it, without what is in other files.
traced_process read_counts(fs::path const& file)
{
    std::string const bytes = contents(file);
    // The magic is checked before the size: a short file may not be a trace.
    std::string whole = bytes.substr(0, sizeof(trace_header));
    whole.resize(sizeof(trace_header));
    trace_header const header = read_at<trace_header>(whole, 0);
    check_table(header, bytes.size(), file);

    traced_process found = describe(header, file);
    std::size_t const locks = sizeof(trace_header) + sizeof(trace_slot[trace_slots_max]);
    std::size_t const count = std::min<std::size_t>(header.locks, trace_locks_max);
    for (std::size_t i = 0; i < count; ++i) {
        trace_lock const& lock =
            found.locks.emplace_back(read_at<trace_lock>(bytes, locks + i * sizeof(trace_lock)));
        // The process may have ended before it completed its last entries: these have no kind yet.
        if (lock.kind > trace_futex || (lock.kind == 0 && lock.ready != 0))
            throw std::runtime_error{fmt::format(
                "{}: the trace is damaged: its lock {} is of the unknown kind {}", file.string(), i,
                lock.kind)};
    }
    add_blocks(found, header, bytes);
    return found;
}

traced_process read_one(fs::path const& file)
{
    fs::path const begin = edge_copy(file, window_edge::begin);
    fs::path const end = edge_copy(file, window_edge::end);
    bool const begins = fs::exists(begin);
    bool const ends = fs::exists(end);
    traced_process found = read_counts(ends ? end : file);
    found.file = file;
    found.window = ends || begins;
    found.maps = read_maps(file);
    found.off_cpu = read_off_cpu(file);
    if (!begins)
        return found;
    subtract(found, read_counts(begin));
    // The process ended, or was not sampled again, before this window began.
    std::optional<trace_header> const mark = read_header(begin);
    if (mark && found.off_cpu.began_ns < mark->gone_ns) {
        off_cpu_record none;
        none.not_sampled = found.off_cpu.not_sampled;
        found.off_cpu = std::move(none);
    }
    return found;
}

// has_end says whether a process was there as the window ended.
bool has_end(traced_process const& process)
{
    return fs::exists(edge_copy(process.file, window_edge::end));
}

// ran_another_program says whether the process executed a program that was not recorded (a static
// one, say) before its end: then its main thread has another name.
bool ran_another_program(fs::path const& trace, int pid, std::string const& name)
{
    try {
        for (traced_thread const& each : read_counts(trace).threads)
            if (each.tid == pid)
                return each.name != name;
    } catch (std::runtime_error const&) {
        return true; // A trace that cannot be read needs no end.
    }
    return false;
}

} // namespace

traced_thread const* traced_process::thread(std::uint32_t number) const
{
    auto const found = std::ranges::lower_bound(threads, number, {}, &traced_thread::number);
    return found == threads.end() || found->number != number ? nullptr : &*found;
}

trace_site const* traced_thread::site(std::uint32_t site_number) const
{
    auto const found = std::ranges::lower_bound(site_numbers, site_number);
    return found == site_numbers.end() || *found != site_number
               ? nullptr
               : &sites[static_cast<std::size_t>(found - site_numbers.begin())];
}

trace_site* traced_thread::site(std::uint32_t site_number)
{
    return const_cast<trace_site*>(std::as_const(*this).site(site_number));
}

std::vector<traced_process> read_trace(fs::path const& path)
{
    std::error_code ec;
    if (!fs::exists(path, ec))
        throw std::runtime_error{fmt::format("{}: there is no such trace", path.string())};
    std::vector<traced_process> found;
    if (!fs::is_directory(path)) {
        found.push_back(read_one(path));
        return found;
    }
    std::vector<traced_process> cut;
    std::exception_ptr why;
    for (fs::path const& each : trace_files(path, ec)) {
        try {
            found.push_back(read_one(each));
        } catch (cut_short_error const& e) {
            cut.push_back(empty_process(each, "ended while it began to record"));
            why = std::current_exception();
        } catch (std::runtime_error const&) {
            // The program may have overwritten it.
            cut.push_back(empty_process(each, "cannot be read"));
            why = std::current_exception();
        }
    }
    if (ec)
        throw std::runtime_error{fmt::format("{}: {}", path.string(), ec.message())};
    if (found.empty() && why)
        std::rethrow_exception(why);
    // Processes that began after the window had ended are no part of it.
    std::uint64_t end_ns = 0;
    for (traced_process const& each : found)
        if (has_end(each))
            end_ns = std::max(end_ns, each.ended_ns);
    std::erase_if(found, [end_ns](traced_process const& each) {
        return end_ns != 0 && !has_end(each) && each.began_ns > end_ns;
    });
    std::ranges::move(cut, std::back_inserter(found));
    if (found.empty())
        throw std::runtime_error{
            fmt::format("{}: no process has left a trace in this folder", path.string())};
    std::ranges::sort(found, {}, &traced_process::began_ns);
    return found;
}

void note_end(fs::path const& folder, int pid, process_end const& end)
{
    fs::path last = folder / fmt::format("{}.trace", pid);
    for (fs::path next = next_trace(last); fs::exists(next); next = next_trace(last))
        last = next;
    std::optional<trace_header> const header = read_header(last);
    if (!header || header->pid != pid || header->ended_ns != 0 ||
        ran_another_program(last, pid, end.name))
        return;
    std::fstream file{last, std::ios::in | std::ios::out | std::ios::binary};
    std::int32_t const status = end.wait_status;
    file.seekp(offsetof(trace_header, gone_status));
    file.write(reinterpret_cast<char const*>(&status), sizeof status);
    file.seekp(offsetof(trace_header, gone_ns));
    file.write(reinterpret_cast<char const*>(&end.gone_ns), sizeof end.gone_ns);
}

std::uint64_t now_ns() noexcept
{
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(t.tv_nsec);
}

} // namespace cleat::locks
