#include "core/failure.hpp"
#include "store/file.hpp"
#include "sync/history.hpp"

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <sstream>
#include <unordered_map>

namespace statsync {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json json_of(time_stamp date)
{
    return date ? json(*date) : json();
}

/// json_of: the given fields only; a run may have 100,000 changes.
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

time_stamp date_from(json const& value)
{
    return value.is_null() ? time_stamp() : time_stamp(value.get<std::int64_t>());
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

json json_of(change const& one)
{
    return {
        {"key", one.key},
        {"before", json_of(one.before, one.changed)},
        {"after", json_of(one.after, one.changed)}};
}

change change_from(json const& entry)
{
    change read{entry.at("key"), {}, {}, {}};
    for (auto const& [name, value] : entry.at("after").items()) {
        if (std::optional<field> const one = field_named(name)) {
            read.changed |= *one;
        }
    }
    read.before = statistics_from(entry.at("before"));
    read.after = statistics_from(entry.at("after"));
    return read;
}

/// states_of: the states of a provider's files, by which a later change is noticed.
json states_of(provider const& player)
{
    json states = json::array();
    for (fs::path const& file : player.where().files) {
        file_state const state = state_of(file);
        states.push_back({state.size, state.modified, state.inode});
    }
    return states;
}

void store(fs::path const& run, json const& record)
{
    replace_file(run / "run.json", record.dump(1) + "\n");
}

json load(fs::path const& run)
{
    try {
        return json::parse(read_file(run / "run.json"));
    } catch (json::exception const& error) {
        throw failure(problem::unread, (run / "run.json").string() + ": " + error.what());
    }
}

/// store_changes writes a line of JSON for each change: a run may have 100,000.
void store_changes(fs::path const& file, std::vector<change> const& changes)
{
    std::string text;
    for (change const& one : changes) {
        // A key that is no UTF-8 is not found again by undo, except by its backup.
        text += json_of(one).dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
    }
    replace_file(file, text);
}

std::vector<change> load_changes(fs::path const& file)
{
    std::vector<change> changes;
    std::istringstream lines(read_file(file));
    for (std::string line; std::getline(lines, line);) {
        changes.push_back(change_from(json::parse(line)));
    }
    return changes;
}

/// reversals: the changes that take back what is still as it was written.
std::vector<change> reversals(provider& player, std::vector<change> const& done)
{
    std::unordered_map<std::string, track const*> tracks;
    for (track const& one : player.tracks()) {
        tracks[one.key] = &one;
    }
    std::vector<change> back;
    for (change const& one : done) {
        auto const found = tracks.find(one.key);
        if (found == tracks.end()) {
            continue;
        }
        statistics const& now = found->second->statistics;
        fields const unchanged = one.changed - differences(now, one.after);
        if (!unchanged.empty()) {
            back.push_back({one.key, unchanged, now, one.before});
        }
    }
    return back;
}

/// undo_provider returns how many tracks went back.
std::size_t undo_provider(provider& player, fs::path const& run, json const& entry)
{
    fs::path const backup = run / player.id();
    std::vector<change> const done = load_changes(run / (player.id() + ".changes"));
    player.check_unused();
    bool const is_as_written = entry.contains("states") && !entry.at("states").empty() &&
                               entry.at("states") == states_of(player);
    if (is_as_written && player.can_restore() && fs::exists(backup)) {
        player.restore(backup);
        return done.size();
    }
    std::vector<change> const back = reversals(player, done);
    if (!back.empty()) {
        player.write(back);
    }
    return back.size();
}

} // namespace

std::vector<outcome> history::write(
    provider_list const& providers, std::vector<std::vector<change>> const& changes,
    progress const& report)
{
    std::vector<std::size_t> written;
    for (std::size_t i = 0; i < providers.size(); ++i) {
        if (!changes[i].empty()) {
            providers[i]->check_unused();
            written.push_back(i);
        }
    }
    if (written.empty()) {
        return {};
    }
    fs::path const run = new_run();
    json record{{"is_undone", false}, {"providers", json::array()}};
    for (std::size_t i : written) {
        report("backing up " + providers[i]->name());
        providers[i]->back_up(run / providers[i]->id());
        store_changes(run / (providers[i]->id() + ".changes"), changes[i]);
        record["providers"].push_back({{"id", providers[i]->id()}});
    }
    store(run, record);

    std::vector<outcome> outcomes;
    for (std::size_t place = 0; place < written.size(); ++place) {
        provider& player = *providers[written[place]];
        std::size_t const count = changes[written[place]].size();
        report("writing " + std::to_string(count) + " tracks to " + player.name());
        outcomes.push_back({player.name(), count, ""});
        try {
            player.write(changes[written[place]]);
            record["providers"][place]["states"] = states_of(player);
        } catch (std::exception const& error) {
            outcomes.back().track_count = 0;
            outcomes.back().error = error.what();
        }
    }
    store(run, record);
    forget_old_runs();
    return outcomes;
}

std::vector<outcome> history::undo(registry const& configured, progress const& report)
{
    std::vector<fs::path> const all = runs();
    for (auto run = all.rbegin(); run != all.rend(); ++run) {
        json record = load(*run);
        if (record.at("is_undone").get<bool>()) {
            continue;
        }
        std::vector<outcome> outcomes;
        bool is_complete = true;
        for (json const& entry : record.at("providers")) {
            std::string const id = entry.at("id");
            outcomes.push_back({id, 0, ""});
            try {
                std::unique_ptr<provider> const player = configured.open(configured.find(id));
                outcomes.back().provider = player->name();
                report("taking back what was written to " + player->name());
                outcomes.back().track_count = undo_provider(*player, *run, entry);
            } catch (std::exception const& error) {
                outcomes.back().error = error.what();
                is_complete = false;
            }
        }
        record["is_undone"] = is_complete;
        store(*run, record);
        return outcomes;
    }
    throw failure(problem::settings, "there is nothing to undo");
}

fs::path history::new_run() const
{
    std::time_t const now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    char date[32];
    std::strftime(date, sizeof date, "%Y%m%d-%H%M%S-", &parts);
    fs::create_directories(folder_);
    fs::permissions(folder_, fs::perms::owner_all);
    for (int number = 1000;; ++number) {
        // Runs of one second stay in their order.
        fs::path const run = folder_ / (date + std::to_string(number));
        if (fs::create_directory(run)) {
            return run;
        }
    }
}

std::vector<fs::path> history::runs() const
{
    std::vector<fs::path> found;
    if (fs::exists(folder_)) {
        for (fs::directory_entry const& entry : fs::directory_iterator(folder_)) {
            // A run that ended before its record was stored wrote nothing.
            if (fs::exists(entry.path() / "run.json")) {
                found.push_back(entry.path());
            }
        }
    }
    std::ranges::sort(found);
    return found;
}

void history::forget_old_runs() const
{
    std::vector<fs::path> const all = runs();
    for (std::size_t i = 0; i + run_count_max < all.size(); ++i) {
        fs::remove_all(all[i]);
    }
}

} // namespace statsync
