// system_authorities: the file of the authorities that the system trusts.

#pragma once

#include <string>

namespace cleat::app {

/// system_authorities is the file that SSL_CERT_FILE names, as OpenSSL has it, or else the first
/// that is there of those that distributions have. Empty: there is none.
///
/// A file, and not the TLS library's own search: a reload reads it like any other file, also where
/// the search would find nothing, and each library would search somewhere else.
[[nodiscard]] std::string system_authorities();

} // namespace cleat::app
