// long_hello: refuses a ClientHello that is too long, before the TLS library has it. Not a public
// header.

#pragma once

#include <cleat/tls/engine.hpp>
#include <cleat/tls/wire.hpp>

#include <cstddef>
#include <memory>
#include <span>

namespace cleat::tls {

/// is_long_hello: a ClientHello at the beginning of a client's records says that it is longer than
/// limits::terminated_hello_max (RFC 8446, section 4). It needs nine bytes.
[[nodiscard]] bool is_long_hello(std::span<std::byte const> records) noexcept;

/// refuse_long_hello writes a fatal alert, drops wire::in, and describes the failure. Each library
/// would refuse another length, and name another reason. The alert is that of the BoringSSL family.
[[nodiscard]] step refuse_long_hello(wire& w, std::unique_ptr<failure_info>& failure) noexcept;

} // namespace cleat::tls
