// derivation: a difference between AWS-LC and BoringSSL in what HKDF leaves behind.

#pragma once

namespace cleat::tls::backend {

/// wipe_derivation_frames overwrites what the library's HKDF has left of keys on the stack. Call it
/// from the function that has called HKDF, right after it.
void wipe_derivation_frames() noexcept;

} // namespace cleat::tls::backend
