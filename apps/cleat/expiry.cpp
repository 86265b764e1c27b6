#include "expiry.hpp"

#include <cleat/core/limits.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <utility>

namespace cleat::app {
namespace {

using std::chrono::days;

// 30 days: clients of ACME have tried to renew. 7: they keep failing. 1: somebody must act now.
constexpr days soon{30};
constexpr days sooner{7};
constexpr days now_or_never{1};

} // namespace

bool expiry_list::is_soon(time_point valid_until) const noexcept
{
    return valid_until <= now_ + soon;
}

void expiry_list::note(std::string origin, time_point valid_until)
{
    auto const place = std::ranges::upper_bound(nearest_, valid_until, {}, &row::valid_until);
    bool const is_full = nearest_.size() == limits::expiry_lines_max;
    if (is_full)
        ++others_;
    if (is_full && place == nearest_.end())
        return;
    nearest_.insert(place, {valid_until, std::move(origin)});
    if (is_full)
        nearest_.pop_back();
}

void expiry_list::write(logger const& log) const
{
    for (row const& each : nearest_) {
        auto const left = each.valid_until - now_;
        log_level const level = left <= now_or_never ? log_level::error
                                : left <= sooner     ? log_level::warning
                                                     : log_level::info;
        bool const is_over = left <= time_point::duration::zero();
        log.line(level, is_over ? "certificate-expired" : "certificate-expires")
            .add("certificate", each.origin)
            .add(
                "end", fmt::format(
                           "{:%Y-%m-%dT%H:%M:%SZ}",
                           fmt::gmtime(std::time_t{each.valid_until.time_since_epoch().count()})))
            .add("days", std::chrono::floor<days>(left).count());
    }
    if (others_ != 0)
        log.info("certificates-expire").add("more", others_).add("within_days", soon.count());
}

} // namespace cleat::app
