// xml_provider: a provider whose player keeps its statistics in an XML file.

#pragma once

#include "provider/provider.hpp"
#include "store/xml.hpp"

#include <functional>

namespace statsync {

/// xml_provider: the file is read once. A write changes bytes of what was read, reads the result
/// again in memory, and replaces the file only if it has the tracks that it should have.
class xml_provider : public provider
{
public:
    xml_provider(instance configured, std::vector<std::string> players)
        : provider(std::move(configured))
        , file_(expanded(this->configured().setting("path")))
        , players_(std::move(players))
    {
    }

    places where() const override { return {{file_}, players_}; }

protected:
    using entry_action = std::function<void(xml_entry const&)>;

    /// visit_entries calls the action for the entry of each track. Returns whether the file can be
    /// edited. Throws failure(problem::unread) if the document is not the player's.
    virtual bool visit_entries(std::string_view document, entry_action const& action) const = 0;
    virtual track track_of(xml_entry const& entry) const = 0;
    virtual std::vector<splice> splices_of(
        std::string_view document, xml_entry const& entry, change const& changed) const = 0;

    std::vector<track> read() override;
    void write_changes(std::span<change const> changes) override;

private:
    std::vector<track> tracks_of(std::string_view document) const;
    /// edited: the document with the changes. The tracks that it should have go into `expected`.
    std::string edited(std::span<change const> changes, std::vector<track>& expected) const;
    void verify(std::string_view result, std::vector<track> const& expected) const;
    track changed_track(track before, change const& one) const;

    std::filesystem::path file_;
    std::vector<std::string> players_;
    std::string document_; ///< As read; empty before that, and after a write.
};

/// set_value adds the splice that gives a value of an entry a new text. A value of 0 is removed.
/// The addition is what stands in the file when the value is new.
void set_value(
    std::vector<splice>& splices, std::string_view document, xml_entry const& entry,
    std::string const& name, std::int64_t number, std::string const& added);

} // namespace statsync
