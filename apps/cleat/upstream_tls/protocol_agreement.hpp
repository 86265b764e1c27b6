// protocol_agreement: whether a server's choice by ALPN fits the client's protocol.

#pragma once

#include <string_view>

namespace cleat::app {

/// is_agreement: a server's choice by ALPN fits the client's protocol, which alone was offered.
/// Empty: no choice. Without one a server speaks http/1.1.
[[nodiscard]] bool is_agreement(std::string_view offered, std::string_view chosen) noexcept;

} // namespace cleat::app
