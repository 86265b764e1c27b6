#include "log/failure_burst.hpp"

#include <algorithm>
#include <span>

namespace cleat::app {

void failure_burst::follow(logger const& log, int burst) noexcept
{
    end(); // The lines that are missing belong to the log before.
    log_ = log;
    burst_ = static_cast<std::uint64_t>(burst);
}

bool failure_burst::admits(log_level level, std::string_view event, error_code why) noexcept
{
    return burst_ == 0 || count({level, event, why, std::nullopt});
}

bool failure_burst::admits(log_level level, std::string_view event, close_reason why) noexcept
{
    return burst_ == 0 || count({level, event, {}, why});
}

bool failure_burst::count(place const& wanted) noexcept
{
    if (!armed())
        worker_.arm(*this, interval_);
    place* const end = places_.data() + used_;
    place* found = std::find_if(places_.data(), end, [&](place const& each) {
        return each.level == wanted.level && each.event == wanted.event &&
               each.error == wanted.error && each.reason == wanted.reason;
    });
    if (found == end && used_ == places_.size()) {
        found = &places_.back();
        found->level = std::min(found->level, wanted.level); // The most severe of those it has.
    } else if (found == end)
        places_[used_++] = wanted;
    return found->seen++ < burst_;
}

void failure_burst::report(place const& each) const noexcept
{
    if (each.seen <= burst_)
        return;
    log_line line = log_.line(each.level, "failures-not-logged");
    line.add("of_event", each.event);
    if (&each == &places_.back()) // Others are counted here, too.
        line.add("reason", "other");
    else if (each.reason)
        line.add("reason", name_of(*each.reason));
    else
        line.add("reason", each.error);
    line.add("count", each.seen - burst_);
}

void failure_burst::end() noexcept
{
    cancel();
    for (place const& each : std::span{places_}.first(used_))
        report(each);
    used_ = 0;
    log_ = {};
}

void failure_burst::on_expired(deadline& d) noexcept
{
    failure_burst& self = static_cast<failure_burst&>(d);
    logger const log = self.log_;
    self.end();
    self.log_ = log;
}

} // namespace cleat::app
