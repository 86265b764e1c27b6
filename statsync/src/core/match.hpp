// match: which tracks of several providers are the same track.

#pragma once

#include "core/text.hpp"
#include "core/track.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace statsync {

/// match_source: the tracks of one provider, and the fields for which it is reliable.
struct match_source
{
    fields reliable = identity_fields;
    std::span<track const> tracks;
};

struct match_options
{
    text_form form = text_form::lower;
    fields ignored = {}; ///< Fields that are not compared, though all providers have them.
};

/// member: one track of one provider, both by their index.
struct member
{
    std::size_t provider = 0;
    std::size_t track = 0;

    friend auto operator<=>(member const&, member const&) = default;
};

/// track_group: the same track in two or more providers, at most once in each, in their order.
using track_group = std::vector<member>;

struct match_result
{
    fields compared;                 ///< The identity fields for which every provider is reliable.
    std::vector<track_group> groups; ///< In the order of the first provider's tracks.
    std::vector<member> unique;      ///< No other provider has them.
    std::vector<member> excluded;    ///< Their provider has them twice, and another one has them.
};

/// match compares names in the form that the options say, and numbers exactly. An unknown value
/// equals only an unknown value. The providers' order is the order of the result.
match_result match(std::span<match_source const> sources, match_options const& options = {});

} // namespace statsync
