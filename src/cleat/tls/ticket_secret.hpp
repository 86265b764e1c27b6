// ticket_secret: what a server's session ticket keys are derived from, made anew.

#pragma once

#include <cleat/tls/context_spec.hpp>

#include <memory>

namespace cleat::tls {

/// new_ticket_secret is 32 bytes of the kernel's own generator. Throws std::system_error where it
/// gives none: a sandbox may forbid getrandom(2).
[[nodiscard]] std::shared_ptr<ticket_secret const> new_ticket_secret();

} // namespace cleat::tls
