// certificate_names: texts by which a person recognizes a certificate. Not a public header.

#pragma once

#include <cleat/tls/engine.hpp>
#include <cleat/tls/handles.hpp>

#include <string>
#include <string_view>

namespace cleat::tls {

/// printable_text has a question mark for each character that is not visible ASCII or a space.
[[nodiscard]] std::string printable_text(std::string_view text);

/// name_text is a name as RFC 2253 writes it: "CN=example.org,O=Example".
[[nodiscard]] std::string name_text(X509_NAME const* name);

/// certificate_fingerprint is the SHA-256 of a certificate's DER, in lower case.
[[nodiscard]] std::string certificate_fingerprint(X509 const* x509);

/// certificate_serial is the serial number in hexadecimal, two digits a byte, in lower case.
[[nodiscard]] std::string certificate_serial(X509 const* x509);

/// identity_of is all of these.
[[nodiscard]] certificate_identity identity_of(X509 const* x509);

} // namespace cleat::tls
