// version: the version of cleat, and the abilities of the TLS library in it.

#pragma once

#include <string>
#include <string_view>

namespace cleat::app {

/// version of cleat.
inline constexpr std::string_view version = CLEAT_VERSION;

/// tls_library is the linked library's name and version.
[[nodiscard]] std::string tls_library();

/// version_text is what --version prints.
[[nodiscard]] std::string version_text();

} // namespace cleat::app
