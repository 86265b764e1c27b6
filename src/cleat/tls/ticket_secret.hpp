// ticket_secret: makes the secrets that a server's session ticket keys are derived from.

#pragma once

#include <cleat/tls/context_spec.hpp>

#include <memory>

namespace cleat::tls {

/// new_ticket_secret is 32 bytes from the kernel's generator, wiped when it is dropped. Throws
/// std::system_error where getrandom(2) fails: a sandbox may forbid it.
[[nodiscard]] std::shared_ptr<ticket_secret const> new_ticket_secret();

/// empty_ticket_secret is a secret to be filled, wiped when it is dropped.
[[nodiscard]] std::shared_ptr<ticket_secret> empty_ticket_secret();

/// is_same_secret compares in constant time.
[[nodiscard]] bool is_same_secret(ticket_secret const& one, ticket_secret const& other) noexcept;

} // namespace cleat::tls
