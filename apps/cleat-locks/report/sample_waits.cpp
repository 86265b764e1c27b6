#include "report/off_cpu.hpp"
#include "report/sample_waits.hpp"
#include "report/stop_wait.hpp"
#include "report/trace.hpp"
#include "report/trace_files.hpp"
#include "report/unrecorded.hpp"
#include "report/utf8.hpp"
#include "report/window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cleat::locks {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t second_ns = 1'000'000'000;
constexpr std::uint64_t period_ns = 20'000'000;
constexpr std::uint64_t period_parts = 50;              // Of the time that a round takes.
constexpr std::uint64_t search_period_ns = 100'000'000; // Of looks at all processes.

// read_whole reads a small file of /proc; an error is a number below 0.
long read_whole(std::string const& name, std::string& text)
{
    int const file = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -errno;
    char block[512];
    ssize_t const got = ::read(file, block, sizeof block);
    long const result = got < 0 ? -errno : got;
    ::close(file);
    text.assign(block, got > 0 ? static_cast<std::size_t>(got) : 0);
    return result;
}

// mapped_trace is a trace that its process goes on writing.
class mapped_trace
{
public:
    explicit mapped_trace(fs::path file) : file_{std::move(file)} {}
    mapped_trace(mapped_trace const&) = delete;
    mapped_trace& operator=(mapped_trace const&) = delete;
    ~mapped_trace() { unmap(); }

    // running are the blocks of the threads that run. They are valid until the next call.
    std::map<std::int32_t, trace_thread const*> running()
    {
        map();
        std::map<std::int32_t, trace_thread const*> found;
        for (std::size_t offset = trace_tables_bytes; offset + trace_block_bytes <= size_;
             offset += trace_block_bytes) {
            auto const* block = reinterpret_cast<trace_thread const*>(bytes_ + offset);
            if (block->state == trace_running)
                found.emplace(block->tid, block);
        }
        return found;
    }

private:
    void map()
    {
        std::error_code ec;
        std::size_t const now = fs::file_size(file_, ec);
        if (ec || now == size_)
            return;
        unmap();
        int const file = ::open(file_.c_str(), O_RDONLY | O_CLOEXEC);
        if (file < 0)
            return;
        void* mapped = ::mmap(nullptr, now, PROT_READ, MAP_SHARED, file, 0);
        ::close(file);
        if (mapped == MAP_FAILED)
            return;
        bytes_ = static_cast<char const*>(mapped);
        size_ = now;
    }

    void unmap()
    {
        if (bytes_ != nullptr)
            ::munmap(const_cast<char*>(bytes_), size_);
        bytes_ = nullptr;
        size_ = 0;
    }

    fs::path file_;
    char const* bytes_ = nullptr;
    std::size_t size_ = 0;
};

using wait_key = std::tuple<std::int32_t, std::int64_t, std::uint64_t, std::uint64_t>;

// sampled_process is a process that has a trace.
class sampled_process
{
public:
    sampled_process(int pid, fs::path const& trace)
        : pid_{pid}, waits_file_{beside(trace, ".waits")}, trace_{trace}, last_ns_{now_ns()}
    {
        record_.began_ns = last_ns_;
    }

    // The process goes on with another program, which has a trace of its own.
    void end() noexcept { ended_ = true; }

    // sample looks at each thread, and gives false where the process has ended.
    bool sample()
    {
        std::error_code ec;
        fs::directory_iterator threads{fmt::format("/proc/{}/task", pid_), ec};
        heed_window();
        if (ended_ || ec == std::errc::no_such_file_or_directory)
            return false;
        if (ec || paused_)
            return true;
        std::uint64_t const now = now_ns();
        std::uint64_t const passed = now - std::exchange(last_ns_, now);
        std::map<std::int32_t, trace_thread const*> const blocks = trace_.running();
        for (; !ec && threads != fs::directory_iterator{}; threads.increment(ec)) {
            std::string const name = threads->path().filename().string();
            std::int32_t tid = 0;
            std::from_chars(name.data(), name.data() + name.size(), tid);
            auto const block = blocks.find(tid);
            sample_thread(
                tid, threads->path().string(), passed,
                block == blocks.end() ? nullptr : block->second);
        }
        ++record_.samples;
        if (std::exchange(anew_, false))
            restart();
        return true;
    }

    // From now on everything counts, and nothing from before.
    void restart()
    {
        record_ = {};
        record_.began_ns = last_ns_;
        waits_.clear();
        no_core_before_ = no_core_;
    }

    [[nodiscard]] off_cpu_record record() const
    {
        off_cpu_record made = record_;
        for (auto const& [key, wait] : waits_)
            made.waits.push_back(wait);
        for (auto const& [tid, ns] : no_core_) {
            auto const before = no_core_before_.find(tid);
            made.no_core_ns += ns - (before == no_core_before_.end() ? 0 : before->second);
        }
        return made;
    }

    void write() const
    {
        if (record_.samples == 0)
            return;
        fs::path const fresh = waits_file_.string() + ".new";
        std::ofstream{fresh, std::ios::binary} << text_of(record());
        std::error_code ec;
        fs::rename(fresh, waits_file_, ec);
    }

private:
    // The window's samples alone count: see window.hpp. A mark may begin it again.
    void heed_window()
    {
        std::error_code ec;
        paused_ = fs::exists(edge_copy(waits_file_, window_edge::end), ec);
        fs::file_time_type const begun =
            fs::last_write_time(edge_copy(waits_file_, window_edge::begin), ec);
        if (!ec && std::exchange(begun_, begun) != begun)
            anew_ = true;
    }

    // The wait that is seen may begin, or end, just before or after it is looked for in the block.
    void sample_thread(
        std::int32_t tid, std::string const& folder, std::uint64_t passed,
        trace_thread const* block)
    {
        auto const in_recorded_wait = [&] {
            return block != nullptr && __atomic_load_n(&block->wait_site, __ATOMIC_ACQUIRE) != 0;
        };
        std::string text;
        bool const before = in_recorded_wait();
        long const got = read_whole(folder + "/syscall", text);
        bool const recorded = before || in_recorded_wait();
        if (got == -EACCES || got == -EPERM)
            record_.not_sampled = fmt::format(
                "/proc/{}/task/{}/syscall: {}", pid_, tid,
                std::generic_category().message(static_cast<int>(-got)));
        if (got <= 0)
            return;
        record_.sampled_ns += passed;
        kernel_place const place = parse_kernel_place(text);
        if (std::string schedule; read_whole(folder + "/schedstat", schedule) > 0)
            note_schedule(tid, schedule);
        if (place.runs || recorded)
            return;
        off_cpu_wait& wait = waits_[{tid, place.call, place.address, place.code}];
        if (wait.samples == 0) {
            wait = {tid, "", place.call, place.address, place.code, 0, 0};
            std::getline(std::ifstream{folder + "/comm"}, wait.thread);
            wait.thread = in_utf8(wait.thread);
        }
        wait.ns += passed;
        ++wait.samples;
    }

    // The time on a core, then the time without one although it could run.
    void note_schedule(std::int32_t tid, std::string_view text)
    {
        std::size_t const space = text.find(' ');
        if (space == std::string_view::npos)
            return;
        std::uint64_t ns = 0;
        std::from_chars(text.data() + space + 1, text.data() + text.size(), ns);
        no_core_[tid] = std::max(no_core_[tid], ns);
    }

    int pid_;
    bool ended_ = false;
    bool paused_ = false;                     // The window has ended.
    bool anew_ = false;                       // The window has begun since the last sample.
    std::optional<fs::file_time_type> begun_; // The window, by the mark's file.
    fs::path waits_file_;
    mapped_trace trace_;
    std::uint64_t last_ns_;
    off_cpu_record record_;
    std::map<wait_key, off_cpu_wait> waits_;
    std::map<std::int32_t, std::uint64_t> no_core_;
    std::map<std::int32_t, std::uint64_t> no_core_before_; // The window.
};

using sampled_processes = std::map<fs::path, sampled_process>;

// add_new adds the processes whose traces are not known yet. Of one that has run several programs
// the last one runs.
void add_new(sampled_processes& all, std::set<fs::path>& known, fs::path const& folder)
{
    std::error_code ec;
    for (fs::path const& trace : trace_files(folder, ec)) {
        if (!known.insert(trace).second)
            continue;
        auto const [pid, run] = parse_trace_name(trace);
        sampled_process& made = all.try_emplace(trace, pid, trace).first->second;
        for (auto& [other, process] : all) {
            trace_name const named = parse_trace_name(other);
            if (named.pid == pid && named.run != run)
                (named.run < run ? process : made).end();
        }
    }
}

// sample_all samples all processes, and drops those that have ended: their numbers may be those of
// other processes by the next time.
void sample_all(sampled_processes& all)
{
    for (auto each = all.begin(); each != all.end();) {
        if (each->second.sample()) {
            ++each;
            continue;
        }
        each->second.write();
        each = all.erase(each);
    }
}

} // namespace

void sample_waits(fs::path const& folder, std::stop_token const& stop)
{
    sampled_processes all;
    std::set<fs::path> known; // Traces, also of processes that have ended.
    std::uint64_t took = 0;
    std::uint64_t written = now_ns();
    unrecorded_search search{folder};
    std::uint64_t next_search = written;
    while (!stop.stop_requested()) {
        auto const pause = std::chrono::nanoseconds{
            static_cast<std::int64_t>(std::max(period_ns, took * period_parts))};
        std::uint64_t const began = now_ns();
        add_new(all, known, folder);
        sample_all(all);
        // Written each second, for those who read it while the program runs.
        if (began - written > second_ns) {
            written = began;
            for (auto& [file, process] : all)
                process.write();
            search.write();
        }
        took = now_ns() - began;
        if (began >= next_search) {
            search.look();
            std::uint64_t const after = now_ns();
            next_search = after + std::max(search_period_ns, (after - began) * period_parts);
        }
        sleep_until(stop, std::chrono::steady_clock::now() + pause);
    }
    for (auto& [file, process] : all)
        process.write();
    search.write();
}

off_cpu_record sample_process(int pid, double seconds)
{
    sampled_process process{pid, fmt::format("/proc/{}/none.trace", pid)};
    process.sample();
    process.restart();
    std::uint64_t const end = now_ns() + static_cast<std::uint64_t>(seconds * 1e9);
    do
        std::this_thread::sleep_for(std::chrono::nanoseconds{period_ns});
    while (process.sample() && now_ns() < end);
    return process.record();
}

} // namespace cleat::locks
