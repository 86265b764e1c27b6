#include "upstream_tls/protocol_agreement.hpp"

namespace cleat::app {

bool is_agreement(std::string_view offered, std::string_view chosen) noexcept
{
    return chosen == offered || (chosen.empty() && offered == "http/1.1");
}

} // namespace cleat::app
