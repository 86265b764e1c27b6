// page: an HTML page in one file. Its styles, scripts and data are part of it, and it loads
// nothing. One with a nonce asks the server that sent it for data.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cleat::page {

/// document is what a page has of its own. style.css, dom.js and numbers.js of this folder come
/// before it.
struct document
{
    std::string title;                     ///< Plain text.
    std::string data;                      ///< JSON; dom.data() of the script gives its value.
    std::string_view style;                ///< CSS.
    std::string_view library;              ///< A script that may not be strict; empty: none.
    std::vector<std::string_view> scripts; ///< In the order in which they use each other.
    /// For a page that a server sends: letters and digits that nobody can guess. Only the elements
    /// with them run, and they may ask that server for data.
    std::string nonce{};
};

/// policy_of is the page's Content-Security-Policy.
[[nodiscard]] std::string policy_of(document const& document);

/// to_html makes the page. Title and data may have any text: none of it becomes markup.
[[nodiscard]] std::string to_html(document const& document);

} // namespace cleat::page
