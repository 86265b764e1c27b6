// tree: call stacks, joined where they begin alike.

#pragma once

#include "report/profile.hpp"

#include <cstdint>
#include <vector>

namespace cleat::locks {

/// tree_node is a function that its parent called; in an inverted tree, that called its parent.
struct tree_node
{
    std::uint32_t function = 0; ///< Index into profile::functions.
    weights counts;
    std::vector<tree_node> children;
};

enum class direction : std::uint8_t
{
    from_outermost,
    inverted ///< From the innermost: the roots are where time is spent.
};

/// matters says by its counts whether a node is kept. A node that is not kept has no child that
/// could be.
using matters = bool (*)(profile const&, weights const&);

/// make_tree joins all stacks; children come with the heaviest first: by blocked time, then by CPU
/// in lock functions and on references, then by CPU, then by acquisitions.
[[nodiscard]] std::vector<tree_node> make_tree(
    profile const& recorded, direction way, matters keep);

} // namespace cleat::locks
