// name_lists: the colon-separated settings of a spec, checked name by name. Not a public header.
//
// TLS libraries answer such a list with yes or no, and pass over some unknown names in silence.
// These find the name that is at fault, and say which names there are.

#pragma once

#include <cleat/tls/handles.hpp>

#include <string>
#include <vector>

namespace cleat::tls {

/// usable_groups is `names` without the optional ones, "?NAME", that the library does not have. It
/// throws spec_error for any other unknown name, and when nothing is left. scratch is any SSL_CTX
/// of the library.
[[nodiscard]] std::string usable_groups(SSL_CTX* scratch, std::string const& names);

/// check_ciphers throws spec_error when the list leaves no TLS 1.2 suite, and warns of words in it
/// that change nothing.
void check_ciphers(SSL_CTX* scratch, std::string const& list, std::vector<std::string>& warnings);

/// check_ciphersuites throws spec_error for a name that is no TLS 1.3 suite of the library.
void check_ciphersuites(SSL_CTX* scratch, std::string const& list);

} // namespace cleat::tls
