#include <cleat/core/cpu_budget.hpp>
#include <cleat/core/limits.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace cleat {
namespace {

double count_ns(std::chrono::nanoseconds time) noexcept
{
    return static_cast<double>(time.count());
}

} // namespace

cpu_budget::cpu_budget(
    cpu_limit limit, clock::time_point now, std::chrono::nanoseconds used) noexcept
    : rate_{limit.cpus * limits::cpu_quota_share}
    , credit_max_ns_{limit.cpus * count_ns(limit.period) * limits::cpu_credit_part}
    , credit_ns_{credit_max_ns_}
    , updated_{now}
    , used_{used}
{
}

void cpu_budget::update(clock::time_point now, std::chrono::nanoseconds used) noexcept
{
    double const gained = rate_ * count_ns(now - std::exchange(updated_, now));
    double const spent = count_ns(used - std::exchange(used_, used));
    credit_ns_ = std::clamp(credit_ns_ + gained - spent, -credit_max_ns_, credit_max_ns_);
    if (waits_) {
        waits_ = now < wait_end_;
    } else if (credit_ns_ <= 0) {
        waits_ = true;
        wait_end_ = now + std::chrono::nanoseconds{
                              static_cast<std::int64_t>((credit_max_ns_ - credit_ns_) / rate_)};
    }
}

} // namespace cleat
