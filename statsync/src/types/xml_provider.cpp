#include "core/failure.hpp"
#include "core/merge.hpp"
#include "types/xml_provider.hpp"

#include <unordered_map>

namespace statsync {

std::vector<track> xml_provider::read()
{
    document_ = read_file(file_);
    try {
        return tracks_of(document_);
    } catch (failure const& error) {
        throw failure(error.kind(), file_.string() + ": " + error.what());
    }
}

void xml_provider::write_changes(std::span<change const> changes)
{
    if (document_.empty()) {
        document_ = read_file(file_);
    }
    std::vector<track> expected;
    std::string const result = edited(changes, expected);
    verify(result, expected);
    replace_file(file_, result);
    document_.clear();
}

std::vector<track> xml_provider::tracks_of(std::string_view document) const
{
    std::vector<track> tracks;
    visit_entries(document, [&](xml_entry const& entry) { tracks.push_back(track_of(entry)); });
    return tracks;
}

std::string xml_provider::edited(
    std::span<change const> changes, std::vector<track>& expected) const
{
    std::unordered_map<std::string, change const*> wanted;
    for (change const& one : changes) {
        wanted[one.key] = &one;
    }
    std::vector<splice> splices;
    std::size_t found_count = 0;
    bool const is_editable = visit_entries(document_, [&](xml_entry const& entry) {
        expected.push_back(track_of(entry));
        auto const found = wanted.find(expected.back().key);
        if (found == wanted.end()) {
            return;
        }
        ++found_count;
        expected.back() = changed_track(std::move(expected.back()), *found->second);
        for (splice& one : splices_of(document_, entry, *found->second)) {
            splices.push_back(std::move(one));
        }
    });
    if (!is_editable) {
        throw failure(
            problem::unwritten,
            file_.string() + ": a newer player's file, or one that is not plain UTF-8, is not"
                             " written");
    }
    if (found_count != wanted.size()) {
        throw failure(
            problem::unwritten, file_.string() + ": a track is not there, or there twice");
    }
    return spliced(document_, std::move(splices));
}

void xml_provider::verify(std::string_view result, std::vector<track> const& expected) const
{
    std::size_t place = 0;
    bool is_right = true;
    visit_entries(result, [&](xml_entry const& entry) {
        track const found = track_of(entry);
        is_right = is_right && place < expected.size() && found.key == expected[place].key &&
                   found.identity == expected[place].identity &&
                   found.statistics == expected[place].statistics;
        ++place;
    });
    if (!is_right || place != expected.size()) {
        throw failure(
            problem::unwritten, file_.string() + ": the new file would not read as it should");
    }
}

track xml_provider::changed_track(track before, change const& one) const
{
    assign(before.statistics, one.after, one.changed);
    if (one.changed.has(field::rating)) {
        before.statistics.rating = rating_after(one.after.rating, can().rating_step);
    }
    return before;
}

void set_value(
    std::vector<splice>& splices, std::string_view document, xml_entry const& entry,
    std::string const& name, std::int64_t number, std::string const& added)
{
    xml_value const* const old = value_of(entry, name);
    if (old != nullptr) {
        splices.push_back(
            number == 0 ? removal(document, *old)
                        : replacement(document, *old, std::to_string(number)));
    } else if (number != 0) {
        splices.push_back(addition(document, entry, added));
    }
}

} // namespace statsync
