// spelling: labels that are equal to a database, such as "rock" and "Rock", and that it has once.

#pragma once

#include "core/merge.hpp"

#include <span>
#include <vector>

namespace statsync {

/// spelled: the labels as they read after they were written to that database.
label_set spelled(label_set const& labels, label_spelling const& spelling);

/// in_one_spelling: the participants, with labels that a database spells in its own way as the
/// others spell them, or as they are excluded. Then labels that are equal to a database compare
/// equal.
std::vector<participant> in_one_spelling(
    std::span<participant const> participants, label_set const& excluded);

} // namespace statsync
