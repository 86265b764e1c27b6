#include "admin/admin_pages.hpp"
#include "admin/server_order.hpp"
#include "system/whole_number.hpp"

namespace cleat::app {
namespace {

// 0 for "configured".
std::optional<unsigned> new_weight(std::string_view text)
{
    if (text == "configured")
        return 0;
    std::optional<unsigned> const weight = whole_number<unsigned>(text);
    return weight >= 1U && weight <= 1000U ? weight : std::nullopt;
}

} // namespace

std::optional<server_order> server_order_in(std::string_view target)
{
    server_order made{decoded(value_in(target, "upstream")), decoded(value_in(target, "server"))};
    std::string_view const state = value_in(target, "state");
    std::string_view const weight = value_in(target, "weight");
    if (state == "drain" || state == "ready")
        made.is_drained = state == "drain";
    else if (!state.empty())
        return {};
    made.weight = new_weight(weight);
    if (!weight.empty() && !made.weight)
        return {};
    bool const says_something = made.is_drained || made.weight;
    if (made.upstream.empty() || made.server.empty() || !says_something)
        return {};
    return made;
}

} // namespace cleat::app
