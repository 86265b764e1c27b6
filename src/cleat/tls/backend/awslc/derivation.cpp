#include <cleat/tls/backend/bssl/derivation.hpp>

namespace cleat::tls::backend {

void wipe_derivation_frames() noexcept {} // AWS-LC wipes what HKDF has on the stack.

} // namespace cleat::tls::backend
