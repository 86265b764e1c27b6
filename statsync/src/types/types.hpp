// types: a function for each type of provider that this program has.

#pragma once

#include "provider/type.hpp"

namespace statsync {

provider_type example_type();

} // namespace statsync
