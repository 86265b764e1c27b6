#include "certificates/expiry.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/tls/store/certificate_store.hpp>

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

validity validity_of(tls::certificate_summary const& kept) noexcept
{
    return {
        std::chrono::sys_seconds{std::chrono::seconds{kept.valid_until}},
        std::chrono::seconds{kept.lifetime}};
}

expiry_stage stage_of(validity const& certificate, std::chrono::sys_seconds now) noexcept
{
    std::chrono::seconds const left = certificate.end - now;
    std::chrono::seconds const last =
        std::min<std::chrono::seconds>(expires_now, certificate.lifetime / 6);
    auto const is_within = [&](std::chrono::days threshold) {
        return left <= threshold && threshold <= certificate.lifetime / 3;
    };
    return left <= std::chrono::seconds::zero() ? expiry_stage::over
           : left <= last                       ? expiry_stage::last
           : is_within(expires_sooner)          ? expiry_stage::sooner
           : is_within(expires_soon)            ? expiry_stage::soon
                                                : expiry_stage::far;
}

void expiry_list::note(std::string origin, validity const& certificate)
{
    auto const end = [](row const& each) { return each.certificate.end; };
    auto const place = std::ranges::upper_bound(nearest_, certificate.end, {}, end);
    bool const is_full = nearest_.size() == limits::expiry_lines_max;
    if (is_full)
        ++others_;
    if (is_full && place == nearest_.end())
        return;
    nearest_.insert(place, {certificate, std::move(origin)});
    if (is_full)
        nearest_.pop_back();
}

void expiry_list::write(logger const& log) const
{
    for (row const& each : nearest_) {
        expiry_stage const reached = stage_of(each.certificate, now_);
        log_level const level = reached >= expiry_stage::last     ? log_level::error
                                : reached == expiry_stage::sooner ? log_level::warning
                                                                  : log_level::info;
        bool const is_over = reached == expiry_stage::over;
        log.line(level, is_over ? "certificate-expired" : "certificate-expires")
            .add("certificate", each.origin)
            .add("end", utc_text(each.certificate.end))
            .add(
                "days", std::chrono::floor<std::chrono::days>(each.certificate.end - now_).count());
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
    certificates([&](std::function<std::string()> const& origin, validity const& certificate) {
        expiry_stage const stage = stage_of(certificate, now);
        if (stage == expiry_stage::far)
            return;
        std::string name = origin();
        std::size_t const key = std::hash<std::string>{}(
            fmt::format("{} {}", certificate.end.time_since_epoch().count(), name));
        reached[key] = stage;
        auto const before = logged_.find(key);
        if (before == logged_.end() || before->second < stage)
            found.note(std::move(name), certificate);
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
