// server_order: an operator's order for a server of an upstream.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cleat::app {

/// server_order names a server, and the changes to it. A member that is unset changes nothing.
struct server_order
{
    std::string upstream;             ///< Its name.
    std::string server;               ///< Its address, as the configuration spells it.
    std::optional<bool> is_drained{}; ///< It gets no new connections.
    std::optional<unsigned> weight{}; ///< 0: that of the configuration.
};

inline constexpr std::string_view server_order_usage =
    "say which server and what: POST /server?upstream=NAME&server=ADDRESS with state=drain or "
    "state=ready, or weight=1 to 1000 or weight=configured";

/// server_order_in reads the query of a target; nothing where it is not as server_order_usage says.
[[nodiscard]] std::optional<server_order> server_order_in(std::string_view target);

} // namespace cleat::app
