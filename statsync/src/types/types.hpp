// types: a function for each type of provider that this program has.

#pragma once

#include "provider/type.hpp"

namespace statsync {

provider_type amarok_1_4_type();
provider_type amarok_1_4_server_type();
provider_type amarok_type();
provider_type amarok_server_type();
provider_type banshee_type();
provider_type clementine_type();
provider_type example_type();
provider_type itunes_type();
provider_type navidrome_type();
provider_type rhythmbox_type();
provider_type strawberry_type();

} // namespace statsync
