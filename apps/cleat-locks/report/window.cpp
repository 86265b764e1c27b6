#include "report/stop_wait.hpp"
#include "report/trace_files.hpp"
#include "report/window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

namespace cleat::locks {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(fs::path const& file)
{
    throw std::runtime_error{
        fmt::format("{}: {}", file.string(), std::generic_category().message(errno))};
}

// open_file is a descriptor that closes itself.
class open_file
{
public:
    open_file(fs::path const& file, int flags)
        : file_{::open(file.c_str(), flags | O_CLOEXEC, 0644)}
    {
        if (file_ < 0)
            fail(file);
    }
    open_file(open_file const&) = delete;
    open_file& operator=(open_file const&) = delete;
    ~open_file() { ::close(file_); }
    [[nodiscard]] int number() const noexcept { return file_; }

private:
    int file_;
};

void copy_part(int from, int to, off_t begin, off_t end, fs::path const& name)
{
    std::array<char, 1 << 16> block{};
    while (begin < end) {
        std::size_t const wanted = std::min(block.size(), static_cast<std::size_t>(end - begin));
        ssize_t const got = ::pread(from, block.data(), wanted, begin);
        if (got <= 0)
            return;
        if (::pwrite(to, block.data(), static_cast<std::size_t>(got), begin) != got)
            fail(name);
        begin += got;
    }
}

// copy_trace copies what was written, and leaves out the rest.
void copy_trace(fs::path const& trace, fs::path const& copy)
{
    open_file const from{trace, O_RDONLY};
    std::uint64_t const now = now_ns(); // Before the sampler of waits sees the copy.
    open_file const to{copy, O_RDWR | O_CREAT | O_TRUNC};
    off_t const end = ::lseek(from.number(), 0, SEEK_END);
    if (::ftruncate(to.number(), end) != 0)
        fail(copy);
    for (off_t data = ::lseek(from.number(), 0, SEEK_DATA); data >= 0 && data < end;
         data = ::lseek(from.number(), data, SEEK_DATA)) {
        off_t const hole = ::lseek(from.number(), data, SEEK_HOLE);
        copy_part(from.number(), to.number(), data, hole, copy);
        data = hole;
    }
    // A process that still runs ends here, for a reader of the copy.
    constexpr off_t place = offsetof(trace_header, gone_ns);
    std::uint64_t gone_ns = 0;
    if (::pread(to.number(), &gone_ns, sizeof gone_ns, place) == sizeof gone_ns && gone_ns != 0)
        return;
    if (::pwrite(to.number(), &now, sizeof now, place) != sizeof now)
        fail(copy);
}

template <class Number>
void less(Number& from, Number what)
{
    from -= std::min(from, what);
}

void subtract_site(trace_site& whole, trace_site const& before)
{
    less(whole.acquisitions, before.acquisitions);
    less(whole.shared, before.shared);
    less(whole.contended, before.contended);
    less(whole.failed, before.failed);
    less(whole.attributed_acquisitions, before.attributed_acquisitions);
    less(whole.wait_ns, before.wait_ns);
    less(whole.holds, before.holds);
    less(whole.hold_ns, before.hold_ns);
    less(whole.interrupted_ns, before.interrupted_ns);
    less(whole.interrupted, before.interrupted);
    less(whole.unattributed_contended, before.unattributed_contended);
    less(whole.unattributed_wait_ns, before.unattributed_wait_ns);
    less(whole.waited_holds, before.waited_holds);
    less(whole.waited_hold_ns, before.waited_hold_ns);
    less(whole.waited_interrupted_ns, before.waited_interrupted_ns);
    less(whole.waited_interrupted, before.waited_interrupted);
    less(whole.sampled, before.sampled);
    less(whole.inner, before.inner);
    less(whole.hold_ns_squares, before.hold_ns_squares);
    // The longest wait and hold cannot be subtracted: they stay, unless the window has none at all.
    if (whole.acquisitions == 0 && whole.wait_ns == 0)
        whole.wait_max_ns = whole.hold_max_ns = 0;
}

void subtract_sites(traced_thread& whole, traced_thread const& before)
{
    for (std::size_t i = 0; i < before.sites.size(); ++i)
        if (trace_site* const site = whole.site(before.site_numbers[i]))
            subtract_site(*site, before.sites[i]);
}

void subtract_stacks(traced_thread& whole, traced_thread const& before)
{
    for (traced_stack const& each : before.stacks) {
        auto const found =
            std::ranges::lower_bound(whole.stacks, each.word, {}, &traced_stack::word);
        if (found == whole.stacks.end() || found->word != each.word)
            continue;
        less(found->counts.count, each.counts.count);
        less(found->counts.contended, each.counts.contended);
        less(found->counts.wait_ns, each.counts.wait_ns);
    }
    std::erase_if(whole.stacks, [](traced_stack const& each) {
        return each.counts.count == 0 && each.counts.wait_ns == 0;
    });
}

void subtract_waits(traced_thread& whole, traced_thread const& before)
{
    auto const key = [](trace_wait_for const& each) {
        return std::tuple{each.site, each.holder, each.holder_site};
    };
    for (trace_wait_for& each : whole.waits_for) {
        auto const found = std::ranges::find(before.waits_for, key(each), key);
        if (found == before.waits_for.end())
            continue;
        less(each.waits, found->waits);
        less(each.ns, found->ns);
    }
    std::erase_if(whole.waits_for, [](trace_wait_for const& each) { return each.waits == 0; });
}

void subtract_thread(traced_thread& whole, traced_thread const& before)
{
    less(whole.lived_ns, before.lived_ns);
    less(whole.cpu_ns, before.cpu_ns);
    less(whole.samples, before.samples);
    less(whole.samples_own, before.samples_own);
    less(whole.nested, before.nested);
    less(whole.sites_lost, before.sites_lost);
    less(whole.stacks_lost, before.stacks_lost);
    less(whole.waits_for_lost, before.waits_for_lost);
    subtract_sites(whole, before);
    subtract_stacks(whole, before);
    subtract_waits(whole, before);
}

} // namespace

fs::path edge_copy(fs::path const& trace, window_edge edge)
{
    return beside(trace, edge == window_edge::begin ? ".begin" : ".end");
}

std::size_t mark(fs::path const& folder, window_edge edge)
{
    std::error_code ec;
    std::size_t count = 0;
    for (fs::path const& each : trace_files(folder, ec)) {
        if (edge == window_edge::begin) // It may begin anew, and has no end yet.
            fs::remove(edge_copy(each, window_edge::end));
        copy_trace(each, edge_copy(each, edge));
        ++count;
    }
    if (ec || count == 0)
        throw std::runtime_error{fmt::format(
            "{}: {}", folder.string(),
            ec ? ec.message() : "no process has left a trace in this folder yet")};
    return count;
}

std::optional<window_edge> mark_at(
    window_times const& times, std::stop_token const& stop,
    std::function<void(window_edge)> const& marks)
{
    auto const began = std::chrono::steady_clock::now();
    for (auto const& [seconds, edge] :
         {std::pair{times.from, window_edge::begin}, std::pair{times.to, window_edge::end}}) {
        if (!seconds)
            continue;
        auto const due =
            began + std::chrono::nanoseconds{static_cast<std::int64_t>(*seconds * 1e9)};
        sleep_until(stop, due);
        if (stop.stop_requested())
            return edge;
        marks(edge);
    }
    return std::nullopt;
}

void subtract(traced_process& whole, traced_process const& before)
{
    whole.began_ns = std::max(whole.began_ns, before.ended_ns);
    whole.ended_ns = std::max(whole.ended_ns, whole.began_ns);
    // threads_lost stays: a thread without a block is missing in the window, too.
    less(whole.slots_lost, before.slots_lost);
    for (traced_thread& each : whole.threads)
        if (traced_thread const* const then = before.thread(each.number))
            subtract_thread(each, *then);
}

} // namespace cleat::locks
