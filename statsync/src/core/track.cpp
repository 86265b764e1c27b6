#include "core/track.hpp"

#include <array>
#include <ctime>

namespace statsync {
namespace {

struct field_name
{
    field value;
    std::string_view name;
};

constexpr std::array<field_name, 12> field_names{{
    {field::title, "title"},
    {field::artist, "artist"},
    {field::album, "album"},
    {field::composer, "composer"},
    {field::year, "year"},
    {field::track_number, "tracknr"},
    {field::disc_number, "discnumber"},
    {field::rating, "rating"},
    {field::first_played, "firstplay"},
    {field::last_played, "lastplay"},
    {field::play_count, "playcount"},
    {field::labels, "label"},
}};

std::string date_text(time_stamp when)
{
    if (!when) {
        return "-";
    }
    std::time_t const seconds = static_cast<std::time_t>(*when);
    std::tm parts{};
    if (gmtime_r(&seconds, &parts) == nullptr) {
        return std::to_string(*when);
    }
    std::array<char, 64> text{};
    std::size_t const size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
    return std::string(text.data(), size);
}

std::string label_text(label_set const& labels)
{
    std::string text;
    for (std::string const& label : labels) {
        text += (text.empty() ? "" : ", ") + label;
    }
    return text.empty() ? "-" : text;
}

} // namespace

std::string_view name_of(field one)
{
    for (field_name const& entry : field_names) {
        if (entry.value == one) {
            return entry.name;
        }
    }
    return "";
}

std::optional<field> field_named(std::string_view name)
{
    for (field_name const& entry : field_names) {
        if (entry.name == name) {
            return entry.value;
        }
    }
    return std::nullopt;
}

std::vector<field> list(fields some)
{
    std::vector<field> listed;
    for (field_name const& entry : field_names) {
        if (some.has(entry.value)) {
            listed.push_back(entry.value);
        }
    }
    return listed;
}

std::string names(fields some)
{
    std::string text;
    for (field one : list(some)) {
        text += text.empty() ? "" : ",";
        text += name_of(one);
    }
    return text;
}

void assign(statistics& to, statistics const& from, fields some)
{
    if (some.has(field::rating)) {
        to.rating = from.rating;
    }
    if (some.has(field::first_played)) {
        to.first_played = from.first_played;
    }
    if (some.has(field::last_played)) {
        to.last_played = from.last_played;
    }
    if (some.has(field::play_count)) {
        to.play_count = from.play_count;
    }
    if (some.has(field::labels)) {
        to.labels = from.labels;
    }
}

fields differences(statistics const& left, statistics const& right)
{
    fields found;
    if (left.rating != right.rating) {
        found |= field::rating;
    }
    if (left.first_played != right.first_played) {
        found |= field::first_played;
    }
    if (left.last_played != right.last_played) {
        found |= field::last_played;
    }
    if (left.play_count != right.play_count) {
        found |= field::play_count;
    }
    if (left.labels != right.labels) {
        found |= field::labels;
    }
    return found;
}

std::string text_of(statistics const& values, field one)
{
    switch (one) {
    case field::rating:
        return values.rating == 0
                   ? "-"
                   : std::to_string(values.rating / 2) + (values.rating % 2 == 0 ? "" : ".5");
    case field::first_played:
        return date_text(values.first_played);
    case field::last_played:
        return date_text(values.last_played);
    case field::play_count:
        return std::to_string(values.play_count);
    case field::labels:
        return label_text(values.labels);
    default:
        return "";
    }
}

} // namespace statsync
