// name_lists: the colon-separated settings of a spec, checked name by name. Not a public header.
//
// TLS libraries accept or refuse such a list as a whole, and ignore some unknown names silently.
// These functions find the wrong name, and list the names that the library has.

#pragma once

#include <cleat/tls/handles.hpp>

#include <string>
#include <vector>

namespace cleat::tls {

/// usable_groups is `names` without the optional ones, "?NAME", that the library does not have. It
/// throws spec_error for any other unknown name, and when nothing is left. scratch is any SSL_CTX
/// of the library.
[[nodiscard]] std::string usable_groups(SSL_CTX* scratch, std::string const& names);

/// check_ciphers throws spec_error when the list selects no TLS 1.2 suite, and adds a warning for
/// each name that has no effect.
void check_ciphers(SSL_CTX* scratch, std::string const& list, std::vector<std::string>& warnings);

/// check_ciphersuites throws spec_error for a name that is no TLS 1.3 suite of the library.
void check_ciphersuites(SSL_CTX* scratch, std::string const& list);

} // namespace cleat::tls
