#include "certificates/expiry.hpp"

#include <cleat/core/limits.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <utility>

namespace cleat::app {
namespace {

std::string utc_text(std::chrono::sys_seconds time)
{
    return fmt::format(
        "{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time_t{time.time_since_epoch().count()}));
}

} // namespace

expiry_stage expiry_list::stage(time_point valid_until) const noexcept
{
    auto const left = valid_until - now_;
    return left <= time_point::duration::zero() ? expiry_stage::over
           : left <= expires_now                ? expiry_stage::last
           : left <= expires_sooner             ? expiry_stage::sooner
           : left <= expires_soon               ? expiry_stage::soon
                                                : expiry_stage::far;
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
        expiry_stage const reached = stage(each.valid_until);
        log_level const level = reached >= expiry_stage::last     ? log_level::error
                                : reached == expiry_stage::sooner ? log_level::warning
                                                                  : log_level::info;
        bool const is_over = reached == expiry_stage::over;
        log.line(level, is_over ? "certificate-expired" : "certificate-expires")
            .add("certificate", each.origin)
            .add("end", utc_text(each.valid_until))
            .add("days", std::chrono::floor<std::chrono::days>(each.valid_until - now_).count());
    }
    if (others_ != 0)
        log.info("certificates-expire")
            .add("more", others_)
            .add("within_days", expires_soon.count());
}

void expiry_log::look(find const& certificates, time_point now, logger const& log)
{
    expiry_list found{now};
    std::unordered_map<std::size_t, expiry_stage> reached;
    certificates([&](std::function<std::string()> const& origin, time_point valid_until) {
        expiry_stage const stage = found.stage(valid_until);
        if (stage == expiry_stage::far)
            return;
        std::string name = origin();
        std::size_t const key = std::hash<std::string>{}(
            fmt::format("{} {}", valid_until.time_since_epoch().count(), name));
        reached[key] = stage;
        auto const before = logged_.find(key);
        if (before == logged_.end() || before->second < stage)
            found.note(std::move(name), valid_until);
    });
    logged_ = std::move(reached);
    found.write(log);
}

void crl_log::look(std::vector<crl_ending> const& present, time_point now, logger const& log)
{
    if (std::exchange(followed_, &present) != &present) {
        endings_ = present;
        std::ranges::sort(endings_, {}, [](crl_ending const& each) { return each.end.time; });
        next_ = static_cast<std::size_t>(std::ranges::count_if(
            endings_, [&](crl_ending const& each) { return each.end.time <= now; }));
    }
    for (; next_ < endings_.size() && endings_[next_].end.time <= now; ++next_) {
        crl_ending const& each = endings_[next_];
        log.line(each.is_accepted ? log_level::warning : log_level::error, "crl-stale")
            .add("crl", each.end.origin)
            .add("end", utc_text(each.end.time))
            .add("clients", each.is_accepted ? "let-in" : "refused")
            .add("cure", "fetch a new one, and reload");
    }
}

std::optional<crl_log::time_point> crl_log::next() const noexcept
{
    if (next_ == endings_.size())
        return std::nullopt;
    return endings_[next_].end.time;
}

} // namespace cleat::app
