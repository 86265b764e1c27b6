// http2_requests: which request a connection by HTTP/2 begins next, and when it was meant to begin.

#pragma once

#include "generate/alarm.hpp"
#include "generate/due_times.hpp"
#include "generate/stream_account.hpp"
#include "generate/worker_load.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

namespace cleat::bench {

/// http2_requests are those of one connection of a load, or of the ones that replace it.
class http2_requests
{
public:
    /// A connection that was meant to begin at `intended` carries so many requests, or, where the
    /// load keeps its connections, requests until the time is up. The first one begins with it.
    http2_requests(worker_load& load, moment intended, unsigned requests)
        : load_{load}
        , due_{intended}
        , requests_{requests}
        , is_first_counted_{load.is_counted(intended)}
    {
    }

    /// A kept connection has a rate.
    http2_requests(worker_load& load, kept_turn const& part)
        : load_{load}, times_{std::in_place, std::get<kept>(load.spec().loop), part}
    {
        due_ = times_->next();
    }

    /// has_rate: requests begin when they are due, and not when others have ended.
    [[nodiscard]] bool has_rate() const noexcept { return times_.has_value(); }

    /// ends_on_time: as kept::ends_on_time. Requests without a rate have no time of their own.
    [[nodiscard]] bool ends_on_time() const noexcept
    {
        return times_ && std::get<kept>(load_.spec().loop).ends_on_time;
    }

    /// next_due is when the next request is due; unset: it begins as soon as there is a stream, or
    /// there is none.
    [[nodiscard]] std::optional<moment> next_due() const noexcept
    {
        return times_ && load_.is_in_time(due_) ? std::optional{due_} : std::nullopt;
    }

    /// begin begins the next request where it may begin `now`; a stream for it has been free since
    /// `free_since`.
    [[nodiscard]] std::optional<stream_account> begin(moment now, moment free_since)
    {
        if (is_over())
            return std::nullopt;
        if (times_) {
            if (due_ > now)
                return std::nullopt;
            moment const due = std::exchange(due_, times_->next());
            return begun(due, load_.is_counted(due), now - std::max(due, free_since));
        }
        if (is_first_) {
            is_first_ = false;
            return begun(due_, is_first_counted_, now - due_);
        }
        if (!load_.take_next(now)) {
            is_ended_ = true;
            return std::nullopt;
        }
        ++taken_;
        // As attempt::next_transaction.
        load_spec const& spec = load_.spec();
        bool const each = !spec.transactions || spec.keep;
        return stream_account{load_, now, each ? load_.is_counted(now) : is_first_counted_};
    }

    /// is_over: no request begins any more.
    [[nodiscard]] bool is_over() const noexcept
    {
        if (times_)
            return !load_.is_in_time(due_);
        return is_ended_ || (!load_.spec().keep && !is_first_ && taken_ == requests_);
    }

private:
    [[nodiscard]] stream_account begun(
        moment intended, bool is_counted, std::chrono::nanoseconds slip)
    {
        if (is_counted)
            load_.counts().slip.record(
                static_cast<std::uint64_t>(std::max<std::int64_t>(slip.count(), 0)));
        return stream_account{load_, intended, is_counted};
    }

    worker_load& load_;
    std::optional<due_times> times_;
    moment due_{};
    unsigned requests_ = 0;
    unsigned taken_ = 1; // The first one too.
    bool is_first_ = true;
    bool is_first_counted_ = true;
    bool is_ended_ = false;
};

} // namespace cleat::bench
