// itunes: the XML file that iTunes and Music export. They never read it again by themselves.

#include "core/failure.hpp"
#include "core/text.hpp"
#include "types/types.hpp"
#include "types/xml_provider.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace statsync {
namespace {

/// item_reader collects the values of each item of the library: <plist><dict>, the key Tracks, a
/// dict of one dict for each item, and in it keys and values by turns.
class item_reader : public xml_visitor
{
public:
    explicit item_reader(std::function<void(xml_entry const&)> const& action) : action_(action) {}

    void start(xml_element const& element, std::size_t depth) override
    {
        if (depth == 0 && (element.name != "plist" || element.attribute("version") != "1.0")) {
            throw failure(problem::unread, "it is no property list 1.0");
        }
        if (depth == 2) {
            is_in_tracks_ = element.name == "dict" && section_ == "Tracks";
        }
        if (depth == 3) {
            is_item_ = is_in_tracks_ && element.name == "dict";
            item_.clear();
            key_.name.clear();
        }
    }

    void end(xml_element const& element, std::size_t depth) override
    {
        if (depth == 2) {
            section_ = element.name == "key" ? element.text : "";
        }
        if (depth == 4 && is_item_) {
            add(element);
        }
        if (depth == 3 && is_item_ && value_of(item_, "Track ID") != nullptr) {
            action_(item_);
        }
    }

private:
    void add(xml_element const& element)
    {
        if (element.name == "key") {
            key_.name = element.text;
            key_.begin = element.begin;
            return;
        }
        if (key_.name.empty()) {
            throw failure(problem::unread, "a value without a key");
        }
        item_.push_back(
            {std::move(key_.name), element.name, element.text, key_.begin, element.begin,
             element.inside_begin, element.inside_end, element.end});
        key_.name.clear();
    }

    std::function<void(xml_entry const&)> const& action_;
    std::string section_;
    xml_value key_;
    xml_entry item_;
    bool is_in_tracks_ = false;
    bool is_item_ = false;
};

bool is_true(xml_entry const& item, std::string_view key)
{
    xml_value const* const value = value_of(item, key);
    return value != nullptr && value->type == "true";
}

bool is_song(xml_entry const& item)
{
    constexpr std::string_view others[] = {"Podcast", "Movie", "TV Show", "Has Video"};
    return text_of_value(item, "Track Type") != "URL" &&
           std::ranges::none_of(others, [&](std::string_view key) { return is_true(item, key); });
}

/// date_from: a date as 2013-09-02T12:43:13Z.
time_stamp date_from(std::string_view text)
{
    int year = 0;
    unsigned month = 0;
    unsigned day = 0;
    int hour = 0;
    int minute = 0;
    int second = 0;
    std::string const copy(text);
    if (std::sscanf(
            copy.c_str(), "%4d-%2u-%2uT%2d:%2d:%2dZ", &year, &month, &day, &hour, &minute,
            &second) != 6) {
        return std::nullopt;
    }
    std::chrono::year_month_day const date{
        std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
    if (!date.ok()) {
        return std::nullopt;
    }
    std::chrono::sys_seconds const time = std::chrono::sys_days(date) + std::chrono::hours(hour) +
                                          std::chrono::minutes(minute) +
                                          std::chrono::seconds(second);
    return time.time_since_epoch().count();
}

class itunes_provider : public xml_provider
{
public:
    explicit itunes_provider(instance configured)
        : xml_provider(std::move(configured), {"iTunes.exe", "Music"})
    {
    }

protected:
    abilities type_can() const override
    {
        return {identity_fields, {field::rating, field::play_count}, 2};
    }

    bool visit_entries(std::string_view document, entry_action const& action) const override
    {
        entry_action const songs = [&](xml_entry const& item) {
            if (is_song(item)) {
                action(item);
            }
        };
        item_reader reader(songs);
        return visit_xml(document, reader);
    }

    track track_of(xml_entry const& item) const override
    {
        auto const text = [&](char const* key) {
            return std::string(trimmed(text_of_value(item, key)));
        };
        auto const number = [&](char const* key) {
            return static_cast<int>(std::clamp(number_of_value(item, key), 0.0, 1e9));
        };
        track one;
        one.key = text("Track ID");
        one.identity = {text("Name"),         text("Artist"), text("Album"),
                        text("Composer"),     number("Year"), number("Track Number"),
                        number("Disc Number")};
        // A computed rating is the album's; the owner did not rate the track.
        if (!is_true(item, "Rating Computed")) {
            one.statistics.rating = std::min(number("Rating") / 10, rating_max);
        }
        one.statistics.last_played = date_from(text("Play Date UTC"));
        one.statistics.play_count = number("Play Count");
        return one;
    }

    std::vector<splice> splices_of(
        std::string_view document, xml_entry const& item, change const& changed) const override
    {
        std::vector<splice> splices;
        auto const set = [&](std::string const& key, std::int64_t number) {
            std::string const added =
                "<key>" + key + "</key><integer>" + std::to_string(number) + "</integer>";
            set_value(splices, document, item, key, number, added);
        };
        if (changed.changed.has(field::rating)) {
            set("Rating", (changed.after.rating + 1) / 2 * 20);
            if (xml_value const* computed = value_of(item, "Rating Computed")) {
                splices.push_back(removal(document, *computed));
            }
        }
        if (changed.changed.has(field::play_count)) {
            set("Play Count", changed.after.play_count);
        }
        return splices;
    }
};

} // namespace

provider_type itunes_type()
{
    return {
        "itunes",
        "Apple iTunes",
        {{"path", "the library that iTunes or Music exported as XML", "", true}},
        {"~/Music/iTunes/iTunes Music Library.xml", "~/Music/iTunes/iTunes Library.xml"},
        made_by<itunes_provider>};
}

} // namespace statsync
