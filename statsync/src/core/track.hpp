// track: the identity and the statistics of one track, and sets of fields of both.

#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace statsync {

/// field: one fact about a track. The first seven identify it; the others are its statistics.
enum class field : std::uint16_t
{
    title = 1 << 0,
    artist = 1 << 1,
    album = 1 << 2,
    composer = 1 << 3,
    year = 1 << 4,
    track_number = 1 << 5,
    disc_number = 1 << 6,
    rating = 1 << 7,
    first_played = 1 << 8,
    last_played = 1 << 9,
    play_count = 1 << 10,
    labels = 1 << 11,
};

/// fields: a set of fields.
class fields
{
public:
    constexpr fields() = default;
    constexpr fields(field one) : bits_(static_cast<std::uint16_t>(one)) {}
    constexpr fields(std::initializer_list<field> list)
    {
        for (field one : list) {
            bits_ = static_cast<std::uint16_t>(bits_ | static_cast<std::uint16_t>(one));
        }
    }

    constexpr bool has(field one) const { return (bits_ & static_cast<std::uint16_t>(one)) != 0; }
    constexpr bool has_all(fields others) const { return (*this & others) == others; }
    constexpr bool empty() const { return bits_ == 0; }

    friend constexpr fields operator|(fields left, fields right)
    {
        return from_bits(left.bits_ | right.bits_);
    }
    friend constexpr fields operator&(fields left, fields right)
    {
        return from_bits(left.bits_ & right.bits_);
    }
    friend constexpr fields operator-(fields left, fields right)
    {
        return from_bits(left.bits_ & ~right.bits_);
    }
    constexpr fields& operator|=(fields others) { return *this = *this | others; }
    constexpr fields& operator&=(fields others) { return *this = *this & others; }
    friend constexpr bool operator==(fields, fields) = default;

private:
    static constexpr fields from_bits(int bits)
    {
        fields made;
        made.bits_ = static_cast<std::uint16_t>(bits);
        return made;
    }

    std::uint16_t bits_ = 0;
};

inline constexpr fields mandatory_fields{field::title, field::artist, field::album};
inline constexpr fields identity_fields =
    mandatory_fields |
    fields{field::composer, field::year, field::track_number, field::disc_number};
inline constexpr fields statistic_fields{
    field::rating, field::first_played, field::last_played, field::play_count, field::labels};

/// name_of: a field's name in options, files and tables: "rating", "lastplay".
std::string_view name_of(field one);

/// field_named: the field of that name, or nothing.
std::optional<field> field_named(std::string_view name);

/// list: the fields of a set, in the order of their declaration.
std::vector<field> list(fields some);

/// names: the names of a set's fields, separated by commas.
std::string names(fields some);

/// identity: the facts by which tracks of two players are found to be the same. An empty composer
/// and a number of 0 are unknown.
struct identity
{
    std::string title;
    std::string artist;
    std::string album;
    std::string composer;
    int year = 0;
    int track_number = 0;
    int disc_number = 0;

    friend bool operator==(identity const&, identity const&) = default;
};

inline constexpr int rating_max = 10;

using label_set = std::set<std::string>;
using time_stamp = std::optional<std::int64_t>; ///< Seconds since 1970 in UTC; none is unknown.

/// statistics: how often and when a track was played, and its owner's opinion of it.
struct statistics
{
    int rating = 0; ///< 0 is unrated; up to rating_max, in half stars.
    time_stamp first_played = {};
    time_stamp last_played = {};
    std::int64_t play_count = 0;
    label_set labels = {};

    friend bool operator==(statistics const&, statistics const&) = default;
};

/// assign copies the given fields of one track's statistics to another's.
void assign(statistics& to, statistics const& from, fields some);

/// differences: the statistics in which two tracks differ.
fields differences(statistics const& left, statistics const& right);

/// text_of: a statistic as people read it; "-" where it is unset.
std::string text_of(statistics const& values, field one);

/// track: one track of one provider. The key is the provider's own name of it.
struct track
{
    std::string key;
    statsync::identity identity;
    statsync::statistics statistics;
    /// Plays since a device was last connected; the play count contains them.
    std::int64_t recent_plays = 0;
};

/// change: new statistics for one track. Fields outside `changed` are as before.
struct change
{
    std::string key;
    fields changed;
    statistics before;
    statistics after;
};

} // namespace statsync
