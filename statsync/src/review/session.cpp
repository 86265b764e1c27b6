#include "core/failure.hpp"
#include "core/text.hpp"
#include "review/session.hpp"

#include <algorithm>

namespace statsync {
namespace {

using nlohmann::json;

[[noreturn]] void senseless()
{
    throw failure(problem::settings, "the page asked for something that makes no sense");
}

field conflict_field(json const& question)
{
    std::optional<field> const one = field_named(question.at("field").get<std::string>());
    if (one != field::rating && one != field::labels) {
        senseless();
    }
    return *one;
}

bool has_part(track_group const& group, std::size_t provider)
{
    return std::ranges::count(group, provider, &member::provider) > 0;
}

fields updates_of(merged_track const& merged)
{
    fields all;
    for (fields some : merged.updates) {
        all |= some;
    }
    return all;
}

std::size_t count_conflicts(plan const& made, field one)
{
    return static_cast<std::size_t>(std::ranges::count_if(
        made.merged, [&](merged_track const& each) { return each.in_conflict.has(one); }));
}

bool is_in(std::string const& filter, merged_track const& merged)
{
    return filter == "conflict" ? !merged.in_conflict.empty()
           : filter == "write"  ? !updates_of(merged).empty()
                                : true;
}

} // namespace

review_session::review_session(provider_list const& providers, plan_options const& options)
    : providers_(providers), options_(options), plan_(make_plan(providers, options))
{
}

json review_session::answer(std::string const& name, json const& question)
{
    try {
        if (name == "rows") {
            return rows(question);
        }
        if (name == "choose") {
            choose(question);
        } else if (name == "batch") {
            choose_in_all(question);
        } else if (name != "summary") {
            senseless();
        }
    } catch (json::exception const&) {
        senseless();
    }
    return summary();
}

json review_session::summary() const
{
    std::vector<std::size_t> writes(providers_.size());
    for (std::size_t i = 0; i < plan_.merged.size(); ++i) {
        for (std::size_t place = 0; place < plan_.matches.groups[i].size(); ++place) {
            bool const is_written = !plan_.merged[i].updates[place].empty();
            writes[plan_.matches.groups[i][place].provider] += is_written ? 1 : 0;
        }
    }
    json players = json::array();
    for (std::size_t i = 0; i < providers_.size(); ++i) {
        players.push_back({{"name", providers_[i]->name()}, {"writes", writes[i]}});
    }
    return {
        {"players", players},
        {"compared", names(plan_.matches.compared)},
        {"matched", plan_.matches.groups.size()},
        {"unique", plan_.matches.unique.size()},
        {"excluded", plan_.matches.excluded.size()},
        {"updated", plan_.updated_count()},
        {"unsettled", plan_.unsettled_count()},
        {"conflicts",
         {{"rating", count_conflicts(plan_, field::rating)},
          {"label", count_conflicts(plan_, field::labels)}}}};
}

json review_session::rows(json const& question) const
{
    std::string const tab = question.at("tab");
    std::string const filter = question.at("filter");
    std::string const text = in_form(question.at("text").get<std::string>(), text_form::lower);
    std::size_t const from = question.at("from");
    json shown = json::array();
    std::size_t count = 0;
    auto const add = [&](bool is_shown, auto const& row) {
        if (is_shown && ++count > from && shown.size() < row_count_max) {
            shown.push_back(row());
        }
    };
    if (tab == "matched") {
        for (std::size_t i = 0; i < plan_.merged.size(); ++i) {
            add(is_in(filter, plan_.merged[i]) && is_wanted(plan_.matches.groups[i][0], text),
                [&] { return matched_row(i); });
        }
    } else {
        match_result const& all = plan_.matches;
        for (member const& one : tab == "unique" ? all.unique : all.excluded) {
            add(is_wanted(one, text), [&] { return member_row(one); });
        }
    }
    return {{"count", count}, {"rows", shown}};
}

json review_session::matched_row(std::size_t group) const
{
    merged_track const& merged = plan_.merged[group];
    json some = json::array();
    for (field one : list(merged.in_conflict | updates_of(merged))) {
        some.push_back(field_row(group, one));
    }
    return {
        {"group", group}, {"track", track_json(plan_.matches.groups[group][0])}, {"fields", some}};
}

json review_session::field_row(std::size_t group, field one) const
{
    merged_track const& merged = plan_.merged[group];
    json values = json::array();
    for (std::size_t place = 0; place < plan_.matches.groups[group].size(); ++place) {
        member const& who = plan_.matches.groups[group][place];
        statistics const& now = providers_[who.provider]->tracks()[who.track].statistics;
        json value{{"player", who.provider}, {"now", text_of(now, one)}};
        if (merged.updates[place].has(one)) {
            value["after"] = text_of(merged.after[place], one);
        }
        values.push_back(value);
    }
    json chosen = json::array();
    if (auto const found = choices_.find(group); found != choices_.end()) {
        if (one == field::labels) {
            chosen = found->second.labels_from;
        } else if (one == field::rating && found->second.rating_from) {
            chosen.push_back(*found->second.rating_from);
        }
    }
    return {
        {"name", name_of(one)},
        {"is_conflict", merged.in_conflict.has(one)},
        {"is_settled", !merged.unsettled.has(one)},
        {"chosen", chosen},
        {"values", values}};
}

json review_session::member_row(member const& one) const
{
    return {{"track", track_json(one)}, {"player", one.provider}};
}

json review_session::track_json(member const& one) const
{
    identity const& name = providers_[one.provider]->tracks()[one.track].identity;
    return {{"artist", name.artist}, {"title", name.title}, {"album", name.album}};
}

bool review_session::is_wanted(member const& one, std::string const& text) const
{
    identity const& name = providers_[one.provider]->tracks()[one.track].identity;
    return text.empty() ||
           std::ranges::any_of(
               std::initializer_list<std::string const*>{&name.artist, &name.title, &name.album},
               [&](std::string const* part) {
                   return in_form(*part, text_form::lower).find(text) != std::string::npos;
               });
}

void review_session::choose(json const& question)
{
    std::size_t const group = question.at("group");
    field const one = conflict_field(question);
    if (group >= plan_.merged.size() || !plan_.merged[group].in_conflict.has(one)) {
        senseless();
    }
    settle(group, one, question);
    merge_group_again(plan_, group, providers_, options_, choices_);
}

void review_session::choose_in_all(json const& question)
{
    field const one = conflict_field(question);
    for (std::size_t group = 0; group < plan_.merged.size(); ++group) {
        bool const is_for_all = question.at("player").is_null();
        if (plan_.merged[group].in_conflict.has(one) &&
            (is_for_all || has_part(plan_.matches.groups[group], question.at("player")))) {
            settle(group, one, question);
        }
    }
    merge_again(plan_, providers_, options_, choices_);
}

/// settle takes a player's value, or no longer; without a player nothing is chosen.
void review_session::settle(std::size_t group, field one, json const& question)
{
    choice& settled = choices_[group];
    if (question.at("player").is_null()) {
        settled.rating_from = one == field::rating ? std::nullopt : settled.rating_from;
        settled.labels_from =
            one == field::labels ? std::vector<std::size_t>{} : settled.labels_from;
        return;
    }
    std::size_t const player = question.at("player");
    bool const is_taken = question.at("is_taken");
    if (!has_part(plan_.matches.groups[group], player)) {
        senseless();
    }
    if (one == field::rating) {
        settled.rating_from = is_taken ? std::optional(player) : std::nullopt;
    } else {
        std::erase(settled.labels_from, player);
        if (is_taken) {
            settled.labels_from.push_back(player);
        }
    }
}

} // namespace statsync
