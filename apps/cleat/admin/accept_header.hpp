// accept_header: what a request's Accept header prefers (RFC 9110, section 12.5.1).

#pragma once

#include <string_view>

namespace cleat::app {

/// weight_of is the weight of a media type in an Accept header's value: 1 without a `q`, and 0
/// where the header does not name the type. Ranges such as "*/*" name no type.
[[nodiscard]] double weight_of(std::string_view media_type, std::string_view accept) noexcept;

/// prefers_html is true for a browser's header, and false for curl's.
[[nodiscard]] bool prefers_html(std::string_view accept) noexcept;

} // namespace cleat::app
