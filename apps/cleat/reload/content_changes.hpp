// content_changes: which keys name files whose content differs between two configurations.

#pragma once

#include "snapshot/snapshot.hpp"

#include <string_view>
#include <vector>

namespace cleat::app {

/// changed_contents are the keys whose files have another content, although the key itself may have
/// the same value: authorities, CRLs, address lists, rules for clients, and the files of upstreams.
/// Certificates of frontends are counted elsewhere.
[[nodiscard]] std::vector<std::string_view> changed_contents(
    snapshot const& before, snapshot const& after);

} // namespace cleat::app
