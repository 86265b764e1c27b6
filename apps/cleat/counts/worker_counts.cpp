#include "counts/worker_counts.hpp"

#include <algorithm>

namespace cleat::app {

worker_counts::worker_counts() noexcept
    : has_cpu_clock_{::pthread_getcpuclockid(::pthread_self(), &cpu_clock_) == 0}
{
}

namespace {

handshake_kind kind_of(tls::handshake_info const& agreed) noexcept
{
    bool const is_1_3 = agreed.version == "TLSv1.3";
    return agreed.resumed ? (is_1_3 ? handshake_kind::resumed_1_3 : handshake_kind::resumed_1_2)
                          : (is_1_3 ? handshake_kind::full_1_3 : handshake_kind::full_1_2);
}

} // namespace

// System errors before the server's first byte belong to the connect, not to the handshake.
bool worker_counts::upstream_handshake(error_code why, tls::engine const& engine) noexcept
{
    bool const has_begun = !why || why.category() == error_category() || engine.has_received();
    if (!why)
        upstream_handshakes.add(kind_of(engine.info()));
    else if (has_begun)
        upstream_failures.add(failure_kind_of(why));
    return has_begun;
}

void worker_counts::established(tls::handshake_info const& agreed) noexcept
{
    handshakes.add(kind_of(agreed));
    count_ticket(agreed);
    ciphers.of(agreed.cipher).add();
    if (!agreed.group.empty())
        groups.of(agreed.group).add();
    if (!agreed.signature_scheme.empty())
        signature_schemes.of(agreed.signature_scheme).add();
}

void worker_counts::count_ticket(tls::handshake_info const& agreed) noexcept
{
    std::chrono::seconds const age{agreed.ticket.age};
    switch (agreed.ticket.use) {
    case tls::ticket_use::none:
        break;
    case tls::ticket_use::unknown_key:
        tickets_refused.add(ticket_refusal::unknown_key);
        break;
    case tls::ticket_use::opened:
        if (!agreed.resumed) {
            tickets_refused.add(ticket_refusal::expired_or_other_scope);
            break;
        }
        tickets_used.add(static_cast<secret_place>(agreed.ticket.secret));
        ticket_ages.record(age);
        break;
    case tls::ticket_use::unknown_id:
        session_ids.add(session_id_use::unknown);
        break;
    case tls::ticket_use::found_id:
        if (!agreed.resumed) {
            session_ids.add(session_id_use::expired_or_other_scope);
            break;
        }
        session_ids.add(session_id_use::resumed);
        id_ages.record(age);
        break;
    }
}

void alert_counts::add(int peer_alert, int own_alert) noexcept
{
    auto const number_of = [](int alert) {
        return static_cast<alert_number>(
            std::min(static_cast<std::size_t>(alert), alert_count - 1));
    };
    if (peer_alert >= 0)
        received.add(number_of(peer_alert));
    if (own_alert >= 0)
        sent.add(number_of(own_alert));
}

void worker_counts::failed(error_code why, int peer_alert, int own_alert) noexcept
{
    failures.add(failure_kind_of(why));
    handshake_alerts.add(peer_alert, own_alert);
}

std::optional<std::chrono::nanoseconds> worker_counts::cpu_time() const noexcept
{
    timespec used{};
    if (!has_cpu_clock_ || ::clock_gettime(cpu_clock_, &used) != 0)
        return std::nullopt;
    return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
}

failure_kind failure_kind_of(error_code why) noexcept
{
    if (why.category() == error_category())
        return static_cast<failure_kind>(why.value());
    return is_reset(why) ? failure_kind::reset : failure_kind::system;
}

std::string_view name_of(failure_kind why) noexcept
{
    if (why == failure_kind::system)
        return "system";
    return why == failure_kind::reset ? "reset" : name_of(static_cast<error>(why));
}

std::string_view failure_name(std::size_t number) noexcept
{
    return number < failure_kind_count
               ? name_of(static_cast<failure_kind>(number))
               : name_of(static_cast<close_reason>(number - failure_kind_count));
}

} // namespace cleat::app
