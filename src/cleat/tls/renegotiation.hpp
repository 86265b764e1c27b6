// renegotiation: a second handshake that a client of TLS 1.2 begins on its connection (RFC 5746).
// For programs that examine servers: AWS-LC and BoringSSL have no call that begins one.

#pragma once

#include <string>
#include <string_view>

namespace cleat::tls {

class engine;

/// client_verify_data is the verify_data of the Finished that this client has sent, for
/// renegotiation_info; empty before the end of its handshake.
[[nodiscard]] std::string client_verify_data(engine const& client);

/// seal_handshake encrypts a handshake message as the first record after this client's Finished.
/// The engine can write nothing afterwards: it does not know of the record. Empty where the
/// connection is not TLS 1.2 with a suite of AES-GCM, or the message has more than 16 KiB.
[[nodiscard]] std::string seal_handshake(engine const& client, std::string_view message);

} // namespace cleat::tls
