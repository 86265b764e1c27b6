#include "types/types.hpp"

namespace statsync {

std::span<provider_type const> all_types()
{
    static std::vector<provider_type> const types{
        example_type(),
    };
    return types;
}

} // namespace statsync
