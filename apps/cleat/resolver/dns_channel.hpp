// dns_channel: lookups without a wait, by c-ares.

#pragma once

#include "resolver/dns_values.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <poll.h>

namespace cleat::app {

/// dns_channel looks names up in /etc/hosts, and then asks DNS, with the search domains of
/// /etc/resolv.conf. It belongs to one thread, which waits for its descriptors.
class dns_channel
{
public:
    /// done gets the answer, also within look_up. It must not throw.
    using done = std::function<void(dns_answer)>;

    /// Reads /etc/resolv.conf. `targets_max` of a service are looked up, the best ones. Throws
    /// std::runtime_error.
    dns_channel(dns_settings const& settings, std::size_t targets_max);
    dns_channel(dns_channel&&) = delete;

    /// Lookups that are under way end without an answer.
    ~dns_channel();

    /// look_up starts a lookup. Where a part cannot be found out, such as the addresses of one
    /// family, the answer has that of `known`.
    void look_up(
        dns_question const& question, std::vector<dns_target> const& known, done const& use);

    [[nodiscard]] bool is_idle() const noexcept { return under_way_ == 0; }

    /// add_descriptors appends what to wait for, and process handles what has come of these, or
    /// that the timeout is over.
    void add_descriptors(std::vector<pollfd>& all) const;
    void process(std::span<pollfd const> own);
    [[nodiscard]] std::optional<std::chrono::milliseconds> timeout() const;

private:
    struct library; // The part that knows c-ares.

    std::unique_ptr<library> library_;
    std::size_t targets_max_;
    std::size_t under_way_ = 0;
};

/// dns_answer_now looks a name up, and waits for the answer.
[[nodiscard]] dns_answer dns_answer_now(
    dns_settings const& settings, dns_question const& question, std::size_t targets_max);

} // namespace cleat::app
