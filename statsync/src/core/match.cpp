#include "core/match.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace statsync {
namespace {

void append_name(std::string& key, std::string_view name, text_form form)
{
    std::string const text = in_form(name, form);
    // The length comes first: no name can end another one.
    key += std::to_string(text.size());
    key += ':';
    key += text;
}

std::string key_of(identity const& track, fields compared, text_form form)
{
    std::string key;
    key.reserve(96);
    if (compared.has(field::artist)) {
        append_name(key, track.artist, form);
    }
    if (compared.has(field::album)) {
        append_name(key, track.album, form);
    }
    if (compared.has(field::title)) {
        append_name(key, track.title, form);
    }
    if (compared.has(field::composer)) {
        append_name(key, track.composer, form);
    }
    if (compared.has(field::year)) {
        key += ';' + std::to_string(track.year);
    }
    if (compared.has(field::track_number)) {
        key += ';' + std::to_string(track.track_number);
    }
    if (compared.has(field::disc_number)) {
        key += ';' + std::to_string(track.disc_number);
    }
    return key;
}

/// place sorts the tracks of one key, which are in the order of their providers, into the result.
void place(std::span<member const> same, match_result& result)
{
    if (same.front().provider == same.back().provider) {
        result.unique.insert(result.unique.end(), same.begin(), same.end());
        return;
    }
    track_group group;
    for (auto first = same.begin(); first != same.end();) {
        auto const last = std::find_if(
            first, same.end(), [&](member const& one) { return one.provider != first->provider; });
        if (last - first == 1) {
            group.push_back(*first);
        } else {
            result.excluded.insert(result.excluded.end(), first, last);
        }
        first = last;
    }
    if (group.size() > 1) {
        result.groups.push_back(std::move(group));
    } else {
        result.unique.insert(result.unique.end(), group.begin(), group.end());
    }
}

} // namespace

match_result match(std::span<match_source const> sources, match_options const& options)
{
    match_result result;
    result.compared = identity_fields - (options.ignored - mandatory_fields);
    std::size_t count = 0;
    for (match_source const& source : sources) {
        result.compared &= source.reliable | mandatory_fields;
        count += source.tracks.size();
    }

    std::unordered_map<std::string, std::size_t> places;
    std::vector<std::vector<member>> keys;
    places.reserve(count);
    for (std::size_t provider = 0; provider < sources.size(); ++provider) {
        std::span<track const> const tracks = sources[provider].tracks;
        for (std::size_t index = 0; index < tracks.size(); ++index) {
            auto const [entry, is_new] = places.try_emplace(
                key_of(tracks[index].identity, result.compared, options.form), keys.size());
            if (is_new) {
                keys.emplace_back();
            }
            keys[entry->second].push_back({provider, index});
        }
    }
    for (std::vector<member> const& same : keys) {
        place(same, result);
    }
    std::ranges::sort(result.unique);
    std::ranges::sort(result.excluded);
    return result;
}

} // namespace statsync
