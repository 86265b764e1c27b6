#include "report/tree.hpp"

#include <algorithm>
#include <tuple>

namespace cleat::locks {
namespace {

auto rank(weights const& w)
{
    return std::tuple{w.blocked_ns, w.cpu_locks + w.cpu_references, w.cpu, w.acquisitions};
}

void add(std::vector<tree_node>& level, stack const& one, direction way)
{
    std::vector<tree_node>* siblings = &level;
    std::size_t const depth = one.functions.size();
    for (std::size_t i = 0; i < depth; ++i) {
        std::uint32_t const function =
            one.functions[way == direction::inverted ? i : depth - 1 - i];
        auto found = std::ranges::find(*siblings, function, &tree_node::function);
        if (found == siblings->end())
            found = siblings->insert(siblings->end(), {function, {}, {}});
        found->counts += one.counts;
        siblings = &found->children;
    }
}

void tidy(std::vector<tree_node>& level, profile const& recorded, matters keep)
{
    std::erase_if(level, [&](tree_node const& each) { return !keep(recorded, each.counts); });
    std::ranges::stable_sort(level, [](tree_node const& a, tree_node const& b) {
        return rank(a.counts) > rank(b.counts);
    });
    for (tree_node& each : level)
        tidy(each.children, recorded, keep);
}

} // namespace

std::vector<tree_node> make_tree(profile const& recorded, direction way, matters keep)
{
    std::vector<tree_node> roots;
    for (stack const& each : recorded.stacks)
        add(roots, each, way);
    tidy(roots, recorded, keep);
    return roots;
}

} // namespace cleat::locks
