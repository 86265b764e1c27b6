// ticket_secret: makes the random secret that a server's session ticket keys are derived from.

#pragma once

#include <cleat/tls/context_spec.hpp>

#include <memory>

namespace cleat::tls {

/// new_ticket_secret is 32 bytes from the kernel's generator. Throws std::system_error where
/// getrandom(2) fails: a sandbox may forbid it.
[[nodiscard]] std::shared_ptr<ticket_secret const> new_ticket_secret();

} // namespace cleat::tls
