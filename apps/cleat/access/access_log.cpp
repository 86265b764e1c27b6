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
    end();
    unique_fd const unused{reopened_.exchange(-1)};
}

void access_log::end() noexcept
{
    if (!thread_.joinable())
        return;
    ending_ = true;
    wakeup_.wake();
    thread_.join();
    left_ = drop_all();
    losses_->lost = lines_lost();
    losses_->ended = true;
}

// Only the thread that writes knows of which line the old file has a part.
log_sink::reopening access_log::reopen()
{
    unique_fd file;
    log_sink::reopening opened = sink_->open_again(file);
    if (file) {
        unique_fd const earlier{reopened_.exchange(file.release())};
        wakeup_.wake();
    }
    return opened;
}

void access_log::take_reopened() noexcept
{
    if (unique_fd const file{reopened_.exchange(-1)}; file)
        use(file);
}

// A new file begins with a whole line, also where the old one ends with a part of it.
void access_log::use(unique_fd const& file) noexcept
{
    bool const is_other = !sink_->has(file);
    if (sink_->use(file))
        return;
    has_name_ = true;
    if (is_other)
        written_ = 0;
}

// A line of which a part is written counts, too.
std::uint64_t access_log::drop_all() noexcept
{
    std::span<char> const block{block_.get(), block_size};
    std::uint64_t dropped = 0;
    for (std::unique_ptr<line_ring> const& each : rings_)
        for (std::string_view lines; !(lines = each->copy_lines(block)).empty();) {
            dropped += static_cast<std::uint64_t>(std::ranges::count(lines, '\n'));
            each->drop(lines.size());
        }
    return dropped;
}

void access_log::write(std::size_t worker, std::string_view line) noexcept
{
    rings_[worker]->push(line);
    if (asleep_.load() && asleep_.exchange(false))
        wakeup_.wake();
}

std::uint64_t access_log::lines_lost() const noexcept
{
    std::uint64_t sum = left_.load(std::memory_order_relaxed);
    for (std::unique_ptr<line_ring> const& each : rings_)
        sum += each->lines_lost();
    return sum;
}

error_code access_log::obstacle() const noexcept
{
    return {losses_->obstacle.load(std::memory_order_relaxed), boost::system::system_category()};
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
        take_reopened(); // A signal does not wait for a line.
        if (all_empty()) {
            sleep();
            continue;
        }
        pause(limits::access_log_pause);
        look_for_rotation();
        if (write_all() && has_name_)
            next_look_ = {}; // The file may be renamed before the next line.
    }
    look_for_rotation();
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

// True: all lines that were there are written. A line may have been written in part: its rest comes
// before all others. Otherwise the next worker has the next turn: a reader that is slow must not
// read the lines of one busy worker only.
bool access_log::write_all() noexcept
{
    for (std::size_t i = 0; i != rings_.size(); ++i) {
        bool const done = write_some(*rings_[first_]);
        if (written_ == 0)
            first_ = (first_ + 1) % rings_.size();
        if (!done)
            return false;
    }
    return true;
}

// The lines that are there now: those that come meanwhile wait for the next look for a rotation. A
// line leaves the ring when all of it is written: another file needs it from its begin.
bool access_log::write_some(line_ring& ring) noexcept
{
    std::span<char> const block{block_.get(), block_size};
    for (std::size_t left = ring.size(); left != 0;) {
        std::string_view const lines = ring.copy_lines(block).substr(0, left);
        std::size_t const taken = written_ + sink_->offer(lines.substr(written_));
        losses_->obstacle.store(taken == lines.size() ? 0 : errno, std::memory_order_relaxed);
        std::size_t const whole = lines.substr(0, taken).rfind('\n') + 1; // npos + 1 is 0.
        ring.drop(whole);
        written_ = taken - whole;
        if (taken != lines.size())
            return false;
        left -= whole;
    }
    return true;
}

// A rotation may take the name away and give it to a new file a moment later. So the file is opened
// a moment later, too, and made only where there is none then. Lines wait for it. Where it cannot
// be opened, they go on to the old file, and the next attempt is not for the next batch of them.
void access_log::look_for_rotation() noexcept
{
    take_reopened();
    if (path_.empty() || clock::now() < next_look_)
        return;
    next_look_ = clock::now() + limits::access_log_rotation_interval;
    has_name_ = !has_lost_name();
    if (has_name_)
        return;
    pause(limits::access_log_pause);
    try {
        unique_fd file;
        static_cast<void>(sink_->open_again(file)); // SIGUSR1 logs why it cannot.
        if (file)
            use(file);
    } catch (std::bad_alloc const&) { // The next look tries again.
    }
}

// True: the name is another file's, or none's.
bool access_log::has_lost_name() const noexcept
{
    struct stat ours
    {
    };
    struct stat named
    {
    };
    if (::fstat(sink_->native_handle(), &ours) != 0)
        return false;
    if (::stat(path_.c_str(), &named) != 0)
        return errno == ENOENT;
    return ours.st_ino != named.st_ino || ours.st_dev != named.st_dev;
}

} // namespace cleat::app
