// alert: the names of TLS alerts.

#pragma once

#include <string_view>

namespace cleat::tls {

/// alert_name spells a TLS alert as RFC 8446, section 6 does: "handshake_failure". "unknown" for a
/// number that has no name there.
[[nodiscard]] std::string_view alert_name(int alert) noexcept;

} // namespace cleat::tls
