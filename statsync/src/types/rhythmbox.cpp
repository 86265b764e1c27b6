// rhythmbox: Rhythmbox's rhythmdb.xml.

#include "core/failure.hpp"
#include "core/text.hpp"
#include "types/types.hpp"
#include "types/xml_provider.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace statsync {
namespace {

constexpr double version_max = 2.0; ///< Rhythmbox refuses a file that is newer than itself.

/// song_reader collects the values of each song. Other entries are podcasts, stations, and files
/// that are no music.
class song_reader : public xml_visitor
{
public:
    explicit song_reader(std::function<void(xml_entry const&)> const& action) : action_(action) {}

    void start(xml_element const& element, std::size_t depth) override
    {
        if (depth == 0) {
            if (element.name != "rhythmdb") {
                throw failure(problem::unread, "it is no database of Rhythmbox");
            }
            std::string_view const version = element.attribute("version");
            double number = 0;
            std::istringstream(std::string(version)) >> number;
            is_known_version_ = number <= version_max;
        }
        if (depth == 1) {
            is_song_ = element.name == "entry" && element.attribute("type") == "song";
            song_.clear();
        }
    }

    void end(xml_element const& element, std::size_t depth) override
    {
        if (depth == 2 && is_song_) {
            song_.push_back(
                {element.name, element.name, element.text, element.begin, element.begin,
                 element.inside_begin, element.inside_end, element.end});
        }
        bool const is_missing = number_of_value(song_, "hidden") != 0;
        if (depth == 1 && is_song_ && !is_missing && value_of(song_, "location") != nullptr) {
            action_(song_);
        }
    }

    bool is_known_version() const { return is_known_version_; }

private:
    std::function<void(xml_entry const&)> const& action_;
    xml_entry song_;
    bool is_song_ = false;
    bool is_known_version_ = false;
};

class rhythmbox_provider : public xml_provider
{
public:
    explicit rhythmbox_provider(instance configured)
        : xml_provider(std::move(configured), {"rhythmbox"})
    {
        std::istringstream words(this->configured().setting("unknown"));
        for (std::string word; std::getline(words, word, ',');) {
            placeholders_.insert(std::string(trimmed(word)));
        }
    }

protected:
    abilities type_can() const override
    {
        return {
            mandatory_fields | fields{field::track_number, field::disc_number},
            {field::rating, field::last_played, field::play_count},
            2};
    }

    bool visit_entries(std::string_view document, entry_action const& action) const override
    {
        song_reader reader(action);
        bool const is_editable = visit_xml(document, reader);
        return is_editable && reader.is_known_version();
    }

    track track_of(xml_entry const& song) const override
    {
        auto const number = [&](char const* name) {
            return static_cast<int>(std::clamp(number_of_value(song, name), 0.0, 1e9));
        };
        track one;
        one.key = text_of_value(song, "location");
        one.identity.title = trimmed(text_of_value(song, "title"));
        one.identity.artist = name_of_value(song, "artist");
        one.identity.album = name_of_value(song, "album");
        one.identity.track_number = number("track-number");
        one.identity.disc_number = number("disc-number");
        double const stars = std::clamp(number_of_value(song, "rating"), 0.0, 5.0);
        one.statistics.rating = static_cast<int>(std::lround(2 * stars));
        std::int64_t const played =
            static_cast<std::int64_t>(std::clamp(number_of_value(song, "last-played"), 0.0, 1e15));
        one.statistics.last_played = played > 0 ? time_stamp(played) : std::nullopt;
        one.statistics.play_count = number("play-count");
        return one;
    }

    std::vector<splice> splices_of(
        std::string_view document, xml_entry const& song, change const& changed) const override
    {
        std::vector<splice> splices;
        auto const set = [&](field one, std::string const& name, std::int64_t number) {
            if (changed.changed.has(one)) {
                std::string const added =
                    "<" + name + ">" + std::to_string(number) + "</" + name + ">";
                set_value(splices, document, song, name, number, added);
            }
        };
        set(field::rating, "rating", (changed.after.rating + 1) / 2);
        set(field::play_count, "play-count", changed.after.play_count);
        set(field::last_played, "last-played", changed.after.last_played.value_or(0));
        return splices;
    }

private:
    /// name_of_value: an untagged file has a placeholder for a name, in the user's language.
    std::string name_of_value(xml_entry const& song, char const* name) const
    {
        std::string text(trimmed(text_of_value(song, name)));
        return placeholders_.contains(text) ? std::string() : text;
    }

    std::set<std::string> placeholders_;
};

} // namespace

provider_type rhythmbox_type()
{
    std::string const path = "$XDG_DATA_HOME/rhythmbox/rhythmdb.xml";
    return {
        "rhythmbox",
        "Rhythmbox",
        {{"path", "rhythmdb.xml", path},
         {"unknown", "names that mean no artist or album, with commas between", "Unknown"}},
        {path, "~/.var/app/org.gnome.Rhythmbox3/data/rhythmbox/rhythmdb.xml"},
        made_by<rhythmbox_provider>};
}

} // namespace statsync
