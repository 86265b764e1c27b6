// resolver: looks names up again and again, on a thread of its own.

#pragma once

#include "resolver/dns_counts.hpp"
#include "resolver/dns_timing.hpp"
#include "resolver/dns_values.hpp"
#include "system/mailbox.hpp"
#include "system/wakeup.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace cleat::app {

/// dns_news is what has changed of a name.
struct dns_news
{
    std::uint64_t order = 0; ///< Of the call of watch.
    std::size_t name = 0;    ///< The number in its list.
    std::vector<dns_target> targets;
    std::string failure; ///< Of the last lookup; empty: it has succeeded.
    dns_news* next = nullptr;
};

/// resolver looks names up when their TTL is over. It reports only changes: other targets, and the
/// beginning and the end of failures. A failed lookup leaves what is known as it is.
class resolver
{
public:
    /// Starts the thread, with all signals as the caller has them. `wake` is called by it when
    /// there are news. Throws std::system_error.
    resolver(std::function<void()> wake, std::size_t targets_max);
    resolver(resolver&&) = delete;
    ~resolver();

    /// watch looks up these names from now on, at once for the first time. It returns the order's
    /// number.
    std::uint64_t watch(dns_settings settings, std::vector<watched_name> names);

    /// news is the oldest of what is new, or null.
    [[nodiscard]] std::unique_ptr<dns_news> news() noexcept { return news_.next(); }

    [[nodiscard]] std::shared_ptr<dns_counts const> counts() const noexcept { return counts_; }

private:
    struct order;
    class loop;

    std::function<void()> wake_;
    std::size_t targets_max_;
    std::shared_ptr<dns_counts> counts_ = std::make_shared<dns_counts>();
    wakeup wakeup_;
    std::uint64_t last_order_ = 0;
    mailbox<dns_news> news_;
    std::atomic<order*> order_{nullptr};
    std::atomic<bool> ending_{false};
    std::thread thread_;
};

} // namespace cleat::app
