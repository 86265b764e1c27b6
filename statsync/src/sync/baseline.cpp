#include "core/failure.hpp"
#include "store/file.hpp"
#include "sync/baseline.hpp"
#include "sync/statistics_json.hpp"

#include <sstream>

namespace statsync {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// dumped: in one line. Bytes that are no UTF-8 become the replacement character.
std::string dumped(json const& value)
{
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// name_of_track: its identity as JSON, which keeps names apart whatever they contain.
std::string name_of_track(identity const& track)
{
    json const parts{track.artist, track.title,        track.album,      track.composer,
                     track.year,   track.track_number, track.disc_number};
    return dumped(parts);
}

} // namespace

remembered baseline::find(identity const& track) const
{
    auto const found = tracks_.find(name_of_track(track));
    return found == tracks_.end() ? remembered{} : found->second;
}

void baseline::set(identity const& track, remembered state)
{
    tracks_[name_of_track(track)] = std::move(state);
}

std::string baseline::text() const
{
    // A line for each track, without the agreed values where they are the provider's own.
    std::string text;
    for (auto const& [name, state] : tracks_) {
        text += "[" + name + "," + dumped(json_of(state.own, state.known));
        if (!(differences(state.own, state.agreed) & state.known).empty()) {
            text += "," + dumped(json_of(state.agreed, state.known));
        }
        text += "]\n";
    }
    return text;
}

baseline baseline::from_text(std::string const& text)
{
    baseline made;
    std::istringstream lines(text);
    try {
        for (std::string line; std::getline(lines, line);) {
            json const entry = json::parse(line);
            remembered state{fields_of(entry.at(1)), statistics_from(entry.at(1)), {}};
            state.agreed = entry.size() > 2 ? statistics_from(entry.at(2)) : state.own;
            made.tracks_[dumped(entry.at(0))] = std::move(state);
        }
    } catch (json::exception const& error) {
        throw failure(problem::unread, std::string("it is no baseline: ") + error.what());
    }
    return made;
}

bool baseline_folder::exists() const
{
    return fs::exists(folder_);
}

baseline baseline_folder::load(std::string const& provider_id) const
{
    fs::path const file = folder_ / provider_id;
    if (!fs::exists(file)) {
        return {};
    }
    try {
        return baseline::from_text(read_file(file));
    } catch (failure const& error) {
        throw failure(
            error.kind(),
            file.string() + ": " + error.what() + "; without the file, the next run starts anew");
    }
}

void baseline_folder::store(std::string const& provider_id, baseline const& state) const
{
    fs::create_directories(folder_);
    fs::permissions(folder_, fs::perms::owner_all);
    replace_file(folder_ / provider_id, state.text());
}

void baseline_folder::forget(std::string const& provider_id) const
{
    fs::remove(folder_ / provider_id);
}

void baseline_folder::keep(std::string const& provider_id, fs::path const& folder) const
{
    if (fs::exists(folder_ / provider_id)) {
        fs::create_hard_link(folder_ / provider_id, folder / (provider_id + ".baseline"));
    }
}

void baseline_folder::restore(std::string const& provider_id, fs::path const& folder) const
{
    forget(provider_id);
    fs::path const kept = folder / (provider_id + ".baseline");
    if (fs::exists(kept)) {
        fs::create_directories(folder_);
        fs::create_hard_link(kept, folder_ / provider_id);
    }
}

} // namespace statsync
