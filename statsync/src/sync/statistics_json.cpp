#include "sync/statistics_json.hpp"

namespace statsync {
namespace {

using nlohmann::json;

json json_of(time_stamp date)
{
    return date ? json(*date) : json();
}

time_stamp date_from(json const& value)
{
    return value.is_null() ? time_stamp() : time_stamp(value.get<std::int64_t>());
}

} // namespace

json json_of(statistics const& values, fields some)
{
    json made = json::object();
    for (field one : list(some)) {
        json& value = made[std::string(name_of(one))];
        switch (one) {
        case field::rating:
            value = values.rating;
            break;
        case field::first_played:
            value = json_of(values.first_played);
            break;
        case field::last_played:
            value = json_of(values.last_played);
            break;
        case field::play_count:
            value = values.play_count;
            break;
        default:
            value = values.labels;
        }
    }
    return made;
}

fields fields_of(json const& values)
{
    fields some;
    for (auto const& [name, value] : values.items()) {
        if (std::optional<field> const one = field_named(name)) {
            some |= *one;
        }
    }
    return some;
}

statistics statistics_from(json const& values)
{
    json const unset;
    auto const value = [&](char const* name) -> json const& {
        return values.contains(name) ? values.at(name) : unset;
    };
    statistics read;
    read.rating = values.value("rating", 0);
    read.first_played = date_from(value("firstplay"));
    read.last_played = date_from(value("lastplay"));
    read.play_count = values.value("playcount", std::int64_t{0});
    read.labels = values.value("label", label_set{});
    return read;
}

} // namespace statsync
