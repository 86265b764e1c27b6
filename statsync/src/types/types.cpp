#include "types/types.hpp"

namespace statsync {

std::span<provider_type const> all_types()
{
    static std::vector<provider_type> const types{
        amarok_type(),    amarok_server_type(), amarok_1_4_type(), amarok_1_4_server_type(),
        itunes_type(),    banshee_type(),       clementine_type(), example_type(),
        navidrome_type(), rhythmbox_type(),     strawberry_type(),
    };
    return types;
}

} // namespace statsync
