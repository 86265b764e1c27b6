#include "tests/convention/sample.hpp"

#include <random>

namespace statsync {
namespace {

constexpr std::int64_t first_date = 1378125780;

identity usual(std::string artist)
{
    return {"title", std::move(artist), "album", "composer", 2000, 1, 1};
}

/// samples_of: a list that is filled name by name.
class samples_of
{
public:
    void add(identity const& track) { list_.push_back({track, track, {}}); }
    void add(identity const& stored, identity const& expected)
    {
        list_.push_back({stored, expected, {}});
    }
    void add(identity const& track, statistics const& values)
    {
        list_.push_back({track, track, values});
    }
    std::vector<sample> list() && { return std::move(list_); }

private:
    std::vector<sample> list_;
};

identity with_text(identity base, field one, std::string const& text)
{
    std::string& place = one == field::title    ? base.title
                         : one == field::artist ? base.artist
                         : one == field::album  ? base.album
                                                : base.composer;
    place = text;
    return base;
}

void add_names(samples_of& samples)
{
    for (char const* title : {"title", "Title", "tiTle"}) {
        samples.add(with_text(usual("caseSensitiveTitle"), field::title, title));
    }
    for (char const* artist :
         {"caseSensitiveArtist", "casesensitiveartist", "caseSensitiveartist"}) {
        samples.add(usual(artist));
    }
    for (char const* album : {"album", "Album", "alBum"}) {
        samples.add(with_text(usual("caseSensitiveAlbum"), field::album, album));
    }
    for (char const* composer : {"composer", "Composer", "comPoser"}) {
        samples.add(with_text(usual("caseSensitiveComposer"), field::composer, composer));
    }
    samples.add(with_text(usual("utfTitle"), field::title, "\uF906\uF907\uF908"));
    samples.add(usual("utf\uF909\uF90A\uF90B"));
    samples.add(with_text(usual("utfAlbum"), field::album, "\uF903\uF904\uF905"));
    samples.add(with_text(usual("utfComposer"), field::composer, "\uF900\uF901\uF902"));
    samples.add(with_text(usual("multiWordTitle"), field::title, "ti tl e"));
    samples.add(usual("multi Word Artist"));
    samples.add(with_text(usual("multiWordAlbum"), field::album, "al b um"));
    samples.add(with_text(usual("multiWordComposer"), field::composer, "com po ser"));
}

void add_padded_names(samples_of& samples)
{
    struct padded
    {
        field one;
        char const* artist;
        std::string value;
    };
    padded const fields_with_blanks[] = {
        {field::artist, "trimArtist", "trimArtist"},
        {field::album, "trimAlbum", "album"},
        {field::composer, "trimComposer", "composer"}};
    struct blanks
    {
        std::string before;
        std::string after;
        std::string number;
    };
    blanks const around[] = {{" ", "", "1"}, {"", " ", "2"}, {"  ", "  ", "3"}};
    for (blanks const& one : around) {
        std::string const title = "title" + one.number;
        identity const expected = with_text(usual("trimTitle"), field::title, title);
        samples.add(with_text(expected, field::title, one.before + title + one.after), expected);
    }
    for (padded const& place : fields_with_blanks) {
        for (blanks const& one : around) {
            identity const expected =
                with_text(usual(place.artist), field::title, "title" + one.number);
            samples.add(
                with_text(expected, place.one, one.before + place.value + one.after), expected);
        }
    }
}

void add_unset(samples_of& samples)
{
    samples.add(with_text(usual("albumUnset"), field::album, ""));
    samples.add(with_text(usual("composerUnset"), field::composer, ""));
    identity track = usual("yearUnset");
    track.year = 0;
    samples.add(track);
    track = usual("trackUnset");
    track.track_number = 0;
    samples.add(track);
    track = usual("discUnset");
    track.disc_number = 0;
    samples.add(track);
}

identity numbered(std::string const& artist, int number)
{
    return with_text(usual(artist), field::title, "title" + std::to_string(number));
}

void add_statistics(samples_of& samples)
{
    constexpr std::int64_t plays[] = {20, 15, 14, 13, 11, 10, 7, 5, 3, 2};
    label_set const labels[] = {
        {"singleTag"}, {"multiple", "tags"}, {"caseSensitive", "casesensitive"}, {"\u2622"}};
    for (int i = 0; i < 10; ++i) {
        std::int64_t const first = first_date + 2 * i;
        statistics const values{i + 1, first, first + 1, plays[i], i < 4 ? labels[i] : label_set{}};
        samples.add(numbered("testStatistics", i), values);
    }
    constexpr bool has_last[] = {false, true, false, true, false, true, false, true, false, true};
    constexpr int ratings[] = {0, 2, 3, 0, 5, 6, 0, 8, 9, 0};
    constexpr std::int64_t some_plays[] = {0, 15, 14, 13, 0, 10, 7, 5, 0, 2};
    for (int i = 0; i < 10; ++i) {
        std::int64_t const first = first_date + 2 * i;
        statistics const values{
            ratings[i], i >= 5 ? time_stamp(first) : std::nullopt,
            has_last[i] ? time_stamp(first + 1) : std::nullopt, some_plays[i]};
        samples.add(numbered("testStatisticsNotSet", i), values);
    }
}

} // namespace

std::vector<sample> convention_samples()
{
    samples_of samples;
    add_names(samples);
    add_padded_names(samples);
    add_unset(samples);
    add_statistics(samples);
    return std::move(samples).list();
}

label_set distinct_labels(label_set const& labels)
{
    label_set distinct;
    label_set known;
    for (std::string const& label : labels) {
        std::string folded = label;
        for (char& one : folded) {
            one = one >= 'A' && one <= 'Z' ? static_cast<char>(one - 'A' + 'a') : one;
        }
        if (known.insert(folded).second) {
            distinct.insert(label);
        }
    }
    return distinct;
}

std::vector<sample> generated_samples(std::size_t count, unsigned seed)
{
    constexpr std::size_t tracks_of_album = 12;
    constexpr std::size_t tracks_of_artist = 36;
    std::mt19937 random(seed);
    std::vector<sample> samples;
    samples.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        identity track;
        track.title = "Song number " + std::to_string(i);
        track.artist = "Artist " + std::to_string(i / tracks_of_artist);
        track.album = "Album " + std::to_string(i / tracks_of_album);
        track.composer = i % 5 == 0 ? "" : "Composer " + std::to_string(i / 100);
        track.year = 1960 + static_cast<int>(i / tracks_of_album % 60);
        track.track_number = static_cast<int>(i % tracks_of_album) + 1;
        track.disc_number = 1;
        statistics values;
        values.play_count = static_cast<std::int64_t>(random() % 40);
        values.rating = random() % 3 == 0 ? static_cast<int>(random() % 5 + 1) * 2 : 0;
        if (values.play_count > 0) {
            values.first_played = first_date - 1000 + static_cast<std::int64_t>(random() % 1000);
            values.last_played = first_date + static_cast<std::int64_t>(random() % 100000);
        }
        samples.push_back({track, track, values});
    }
    return samples;
}

} // namespace statsync
