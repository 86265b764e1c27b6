#include "access/access_log.hpp"
#include "system/low_priority.hpp"

#include <cleat/core/limits.hpp>

#include <algorithm>
#include <cerrno>
#include <new>
#include <span>
#include <system_error>
#include <utility>

#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cleat::app {
namespace {

constexpr std::size_t block_size = limits::access_log_block;
static_assert(block_size >= limits::log_line_max);

} // namespace

access_log::access_log(std::unique_ptr<log_sink> sink, std::string path, std::size_t workers)
    : sink_{std::move(sink)}
    , path_{std::move(path)}
    , block_{std::make_unique_for_overwrite<char[]>(block_size)}
{
    for (std::size_t i = 0; i < workers; ++i)
        rings_.push_back(std::make_unique<line_ring>(limits::access_log_ring));
    thread_ = std::thread{[this] { run(); }};
}

access_log::~access_log()
{
    ending_ = true;
    wakeup_.wake();
    thread_.join();
}

void access_log::write(std::size_t worker, std::string_view line) noexcept
{
    rings_[worker]->push(line);
    if (asleep_.load() && asleep_.exchange(false))
        wakeup_.wake();
}

std::uint64_t access_log::lines_lost() const noexcept
{
    std::uint64_t sum = 0;
    for (std::unique_ptr<line_ring> const& each : rings_)
        sum += each->lines_lost();
    return sum;
}

error_code access_log::obstacle() const noexcept
{
    return {obstacle_.load(std::memory_order_relaxed), boost::system::system_category()};
}

bool access_log::all_empty() const noexcept
{
    return std::ranges::all_of(
        rings_, [](std::unique_ptr<line_ring> const& each) { return each->empty(); });
}

// Lines are collected for a while, and then written together. Where the sink takes none, the rings
// keep them.
void access_log::run() noexcept
{
    ::pthread_setname_np(::pthread_self(), "access-log");
    lower_priority();
    while (!ending_) {
        if (all_empty()) {
            sleep();
            continue;
        }
        pause(limits::access_log_pause);
        look_for_rotation();
        static_cast<void>(write_all());
    }
    clock::time_point const until = clock::now() + limits::access_log_end_time;
    while (!write_all() && clock::now() < until) {
        pollfd room{sink_->native_handle(), POLLOUT, 0};
        static_cast<void>(::poll(&room, 1, 10));
    }
}

// Until a worker has written a line.
void access_log::sleep() noexcept
{
    asleep_ = true;
    if (all_empty() && !ending_) {
        pollfd wakeup = wakeup_.readable();
        static_cast<void>(::poll(&wakeup, 1, -1));
    }
    asleep_ = false;
    wakeup_.clear();
}

// The program's end shortens it, and so does a wake-up that came late.
void access_log::pause(std::chrono::milliseconds time) noexcept
{
    pollfd wakeup = wakeup_.readable();
    static_cast<void>(::poll(&wakeup, 1, static_cast<int>(time.count())));
    wakeup_.clear();
}

// True: nothing is left.
bool access_log::write_all() noexcept
{
    bool done = true;
    for (std::unique_ptr<line_ring> const& each : rings_)
        done = write_some(*each) && done;
    return done;
}

// At most what the ring can hold: the other rings are waiting.
bool access_log::write_some(line_ring& ring) noexcept
{
    std::span<char> const block{block_.get(), block_size};
    for (std::size_t left = limits::access_log_ring; left != 0;) {
        std::string_view const lines = ring.copy_lines(block);
        if (lines.empty())
            return true;
        std::size_t const taken = sink_->offer(lines);
        ring.drop(taken);
        obstacle_.store(taken == lines.size() ? 0 : errno, std::memory_order_relaxed);
        if (taken != lines.size())
            return false;
        left -= std::min(left, taken);
    }
    return false;
}

// A rotation may take the name away and give it to a new file a moment later: only at the second
// look without a name the file is made here.
void access_log::look_for_rotation() noexcept
{
    if (path_.empty() || clock::now() < next_look_)
        return;
    next_look_ = clock::now() + limits::access_log_rotation_interval;
    struct stat ours
    {
    };
    struct stat named
    {
    };
    if (::fstat(sink_->native_handle(), &ours) != 0)
        return;
    bool const is_named = ::stat(path_.c_str(), &named) == 0;
    bool const is_missing = !is_named && errno == ENOENT;
    bool const is_other = is_named && (ours.st_ino != named.st_ino || ours.st_dev != named.st_dev);
    if (is_other || (is_missing && was_missing_))
        try {
            static_cast<void>(sink_->reopen()); // SIGUSR1 logs why it cannot.
        } catch (std::bad_alloc const&) {       // The next look tries again.
        }
    was_missing_ = is_missing;
}

} // namespace cleat::app
