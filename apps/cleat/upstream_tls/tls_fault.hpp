// tls_fault: the errors of a handshake with an upstream, by name.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/tls/engine.hpp>

#include <string_view>

namespace cleat::app {

/// name_fault is the error of a handshake with a server: where its certificate was refused, it says
/// why.
[[nodiscard]] error_code name_fault(error_code why, tls::failure_info const& failure) noexcept;

/// is_agreement: a server's choice by ALPN fits the client's protocol, which alone was offered.
/// Empty: no choice. Without one a server speaks http/1.1.
[[nodiscard]] bool is_agreement(std::string_view offered, std::string_view chosen) noexcept;

} // namespace cleat::app
