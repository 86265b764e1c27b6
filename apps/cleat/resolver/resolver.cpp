#include "resolver/dns_channel.hpp"
#include "resolver/resolver.hpp"

#include <cleat/core/limits.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>

namespace cleat::app {
namespace {

using clock = std::chrono::steady_clock;

// Whether a file is still the one that it was.
struct file_stamp
{
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
    std::uint64_t inode = 0;

    friend bool operator==(file_stamp const&, file_stamp const&) = default;
};

file_stamp stamp_of(char const* path) noexcept
{
    struct stat about
    {
    };
    if (::stat(path, &about) != 0)
        return {};
    return {about.st_mtim.tv_sec, about.st_mtim.tv_nsec, about.st_ino};
}

} // namespace

struct resolver::order
{
    std::uint64_t number = 0;
    dns_settings settings;
    std::vector<watched_name> names;
};

// The state of the thread.
class resolver::loop
{
public:
    explicit loop(resolver& owner) noexcept : owner_{owner} {}

    void run()
    {
        while (!owner_.ending_) {
            try {
                tell_late();
                take_order();
                start_due();
                wait();
            } catch (std::bad_alloc const&) { // There may be memory again after a while.
                static_cast<void>(
                    ::poll(nullptr, 0, static_cast<int>(limits::accept_pause.count())));
            }
        }
    }

private:
    struct state
    {
        std::vector<dns_target> known;
        std::string failure;
        bool is_busy = false;
        bool is_untold = false; // Its news found no memory.
        unsigned failures = 0;  // In a row.
        clock::time_point due{};
    };

    void take_order()
    {
        std::unique_ptr<order> next{owner_.order_.exchange(nullptr)};
        if (!next)
            return;
        channel_.reset(); // The lookups of the order before end without an answer.
        former_.clear();
        order_ = std::move(*next);
        states_.clear();
        for (watched_name const& each : order_.names)
            states_.push_back({.known = each.known, .failure = {}});
        owner_.counts_->failing = 0;
    }

    // A channel reads /etc/resolv.conf once. Lookups that are under way end in the one that they
    // began in. Where none can be made, a later call tries again.
    void renew_channel()
    {
        file_stamp const now = stamp_of("/etc/resolv.conf");
        if (channel_ && now == read_)
            return;
        if (channel_ && !channel_->is_idle())
            former_.push_back(std::move(channel_));
        channel_.reset();
        read_ = now;
        channel_ = std::make_unique<dns_channel>(order_.settings, owner_.targets_max_);
    }

    void start_due()
    {
        for (std::size_t i = 0; i < states_.size(); ++i) {
            if (states_[i].is_busy || states_[i].due > clock::now())
                continue;
            try {
                renew_channel();
            } catch (std::exception const& e) {
                dns_answer none;
                none.failure = e.what();
                on_answer(i, std::move(none));
                continue;
            }
            states_[i].is_busy = true;
            try {
                channel_->look_up(
                    order_.names[i].question, states_[i].known,
                    [this, i](dns_answer answer) { on_answer(i, std::move(answer)); });
            } catch (std::bad_alloc const&) { // Not begun.
                states_[i].is_busy = false;
                states_[i].due = clock::now() + limits::accept_pause;
                throw;
            }
        }
    }

    // The library calls it: nothing may be thrown.
    void on_answer(std::size_t number, dns_answer answer) noexcept
    {
        state& one = states_[number];
        dns_times const& times = order_.names[number].times;
        one.is_busy = false;
        bool const has_failed = !answer.failure.empty();
        one.failures = has_failed ? one.failures + 1 : 0;
        one.due = clock::now() +
                  (has_failed ? next_attempt(one.failures, times) : next_lookup(answer, times));
        ++(has_failed ? owner_.counts_->failed : owner_.counts_->answered);
        bool const is_other =
            !answer.targets.empty() && !have_same_targets(answer.targets, one.known);
        bool const turns = has_failed != !one.failure.empty();
        one.failure = std::move(answer.failure);
        if (is_other)
            one.known = std::move(answer.targets);
        if (turns)
            count_failing();
        if (is_other || turns)
            one.is_untold = true;
        try {
            tell_late();
        } catch (std::bad_alloc const&) { // At the next turn, then.
        }
    }

    void tell_late()
    {
        for (std::size_t i = 0; i < states_.size(); ++i)
            if (states_[i].is_untold) {
                tell(i);
                states_[i].is_untold = false;
            }
    }

    void count_failing() noexcept
    {
        owner_.counts_->failing = static_cast<std::uint64_t>(std::ranges::count_if(
            states_, [](state const& each) { return !each.failure.empty(); }));
    }

    void tell(std::size_t number)
    {
        state const& one = states_[number];
        auto made = std::make_unique<dns_news>(
            dns_news{order_.number, number, one.known, one.failure, nullptr});
        owner_.news_.post(std::move(made));
        owner_.wake_();
    }

    void wait()
    {
        std::vector<pollfd> waited{owner_.wakeup_.readable()};
        std::vector<dns_channel*> const all = channels();
        std::vector<std::size_t> ends; // In `waited`, by channel.
        for (dns_channel const* const each : all) {
            each->add_descriptors(waited);
            ends.push_back(waited.size());
        }
        static_cast<void>(::poll(waited.data(), waited.size(), timeout_ms()));
        if (waited.front().revents != 0)
            owner_.wakeup_.clear();
        std::size_t begin = 1;
        for (std::size_t i = 0; i < all.size(); ++i) {
            all[i]->process(std::span{waited}.subspan(begin, ends[i] - begin));
            begin = ends[i];
        }
        std::erase_if(former_, [](auto const& each) { return each->is_idle(); });
    }

    [[nodiscard]] std::vector<dns_channel*> channels() const
    {
        std::vector<dns_channel*> all;
        for (std::unique_ptr<dns_channel> const& each : former_)
            all.push_back(each.get());
        if (channel_)
            all.push_back(channel_.get());
        return all;
    }

    [[nodiscard]] int timeout_ms() const
    {
        std::optional<clock::time_point> next;
        for (state const& each : states_)
            if (!each.is_busy)
                next = std::min(next.value_or(clock::time_point::max()), each.due);
        for (dns_channel const* const each : channels())
            if (std::optional<std::chrono::milliseconds> const library = each->timeout())
                next = std::min(next.value_or(clock::time_point::max()), clock::now() + *library);
        if (!next)
            return -1;
        auto const left = std::chrono::ceil<std::chrono::milliseconds>(*next - clock::now());
        return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1'000'000'000));
    }

    resolver& owner_;
    order order_;
    std::vector<state> states_; // By name of the order.
    file_stamp read_;           // The file that the channel has read.
    std::unique_ptr<dns_channel> channel_;
    std::vector<std::unique_ptr<dns_channel>> former_; // Lookups in them are under way.
};

resolver::resolver(std::function<void()> wake, std::size_t targets_max)
    : wake_{std::move(wake)}, targets_max_{targets_max}
{
    thread_ = std::thread{[this] {
        ::pthread_setname_np(::pthread_self(), "resolver");
        loop{*this}.run();
    }};
}

resolver::~resolver()
{
    ending_ = true;
    wakeup_.wake();
    thread_.join();
    std::unique_ptr<order> const last{order_.exchange(nullptr)};
}

std::uint64_t resolver::watch(dns_settings settings, std::vector<watched_name> names)
{
    auto next = std::make_unique<order>();
    next->number = ++last_order_;
    next->settings = std::move(settings);
    next->names = std::move(names);
    std::unique_ptr<order> const not_taken{order_.exchange(next.release())};
    wakeup_.wake();
    return last_order_;
}

} // namespace cleat::app
