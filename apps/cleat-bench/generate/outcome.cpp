#include "generate/outcome.hpp"

#include <cleat/tls/alert.hpp>
#include <cleat/tls/engine.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace cleat::bench {
namespace {

namespace errc = boost::system::errc;

constexpr std::array<std::string_view, stages> stage_names{
    "start", "connect", "handshake", "upgrade", "request", "answer", "open"};

std::string kind_of_system_error(error_code ec)
{
    if (ec == errc::connection_refused)
        return "refused";
    if (ec == errc::connection_reset || ec == errc::broken_pipe)
        return "reset";
    if (ec == errc::timed_out)
        return "timeout";
    if (ec == errc::network_unreachable || ec == errc::host_unreachable)
        return "unreachable";
    if (ec == errc::address_not_available || ec == errc::address_in_use)
        return "no ports";
    if (ec == errc::too_many_files_open || ec == errc::too_many_files_open_in_system)
        return "no files";
    if (ec == errc::not_enough_memory || ec == errc::no_buffer_space)
        return "no memory";
    return ec.message();
}

std::string certificate_kind(tls::engine const* engine)
{
    using fault = tls::certificate_fault;
    switch (engine == nullptr ? fault::none : engine->failure().certificate) {
    case fault::expired:
        return "certificate expired";
    case fault::not_yet_valid:
        return "certificate not yet valid";
    case fault::unknown_authority:
        return "certificate of an unknown authority";
    case fault::wrong_name:
        return "certificate for another name";
    case fault::revoked:
        return "certificate revoked";
    case fault::other:
        return fmt::format("certificate: {}", engine->failure().reason);
    case fault::none:
        break;
    }
    return "certificate";
}

} // namespace

std::string_view name_of(stage s) noexcept
{
    return stage_names[static_cast<std::size_t>(s)];
}

bool parse(std::string_view name, stage& parsed) noexcept
{
    auto const found = std::ranges::find(stage_names, name);
    if (found == stage_names.end())
        return false;
    parsed = static_cast<stage>(found - stage_names.begin());
    return true;
}

std::string kind_of(stage failed, error_code ec, tls::engine const* engine)
{
    if (ec.category() != error_category())
        return kind_of_system_error(ec);
    switch (static_cast<error>(ec.value())) {
    case error::connect_timeout:
    case error::handshake_timeout:
    case error::idle_timeout:
        return "timeout";
    case error::peer_alert:
        return fmt::format(
            "alert {}",
            engine == nullptr ? "unknown" : tls::alert_name(engine->failure().peer_alert));
    case error::bad_certificate:
        return certificate_kind(engine);
    case error::truncated:
        return failed == stage::answer ? "truncated" : "closed early";
    case error::closed:
        return "closed early";
    case error::stopped:
        return std::string{unfinished};
    case error::library:
    case error::protocol_violation:
        if (engine != nullptr && !engine->failure().reason.empty())
            return fmt::format("protocol: {}", engine->failure().reason);
        return "protocol";
    case error::not_tls:
    case error::http_request:
    case error::proxy_header:
        return "not TLS";
    default:
        return ec.message();
    }
}

bool client_limit(failure const& f) noexcept
{
    return f.kind == "no ports" || f.kind == "no files" || f.kind == "no memory" ||
           f.kind == "in-flight limit";
}

} // namespace cleat::bench
