// baseline: what earlier runs left behind, in a file for each provider.

#pragma once

#include "core/merge.hpp"

#include <filesystem>
#include <string>
#include <unordered_map>

namespace statsync {

/// baseline: what is remembered of one provider's tracks. A track is named by its whole identity:
/// a player may give its key to another track. After a change of its tags it is a new track.
class baseline
{
public:
    /// find: nothing known of a track that no run has seen.
    remembered find(identity const& track) const;
    void set(identity const& track, remembered state);

    std::size_t size() const { return tracks_.size(); }

    /// text: the file of a baseline. from_text throws failure(problem::unread) if it is none.
    std::string text() const;
    static baseline from_text(std::string const& text);

private:
    std::unordered_map<std::string, remembered> tracks_;
};

/// baseline_folder: the files of all baselines. Each has its provider's id for a name.
class baseline_folder
{
public:
    explicit baseline_folder(std::filesystem::path folder) : folder_(std::move(folder)) {}

    /// exists: whether a run has ever stored a baseline. Then all later runs store one, too: plays
    /// that they carry over would count twice otherwise.
    bool exists() const;

    baseline load(std::string const& provider_id) const;
    void store(std::string const& provider_id, baseline const& state) const;
    void forget(std::string const& provider_id) const;

    /// keep links a provider's file into another folder, and restore takes it back from there. A
    /// provider that had no file then has none again.
    void keep(std::string const& provider_id, std::filesystem::path const& folder) const;
    void restore(std::string const& provider_id, std::filesystem::path const& folder) const;

private:
    std::filesystem::path folder_;
};

} // namespace statsync
