// live_page: the status page for browsers, which asks the admin server for its numbers.

#pragma once

#include <string>

namespace cleat::app {

struct live_page
{
    std::string html;   ///< The same each time, up to the nonce.
    std::string policy; ///< Its Content-Security-Policy, to be sent with it.
};

/// make_live_page makes the page, with a new nonce. No other page may show it in a frame, so no
/// other site can lead a user to click its buttons. Throws std::system_error without getrandom(2).
[[nodiscard]] live_page make_live_page();

} // namespace cleat::app
