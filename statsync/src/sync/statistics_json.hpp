// statistics_json: statistics in the files of this program, by the names of their fields.

#pragma once

#include "core/track.hpp"

#include <nlohmann/json.hpp>

namespace statsync {

/// json_of: an object of the given fields only, since a file may have those of 100,000 tracks.
nlohmann::json json_of(statistics const& values, fields some);

/// fields_of: the fields that an object has.
fields fields_of(nlohmann::json const& values);

/// statistics_from: fields that the object does not have are unset.
statistics statistics_from(nlohmann::json const& values);

} // namespace statsync
