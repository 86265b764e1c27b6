#include "core/failure.hpp"
#include "core/merge.hpp"
#include "store/file.hpp"
#include "sync/history.hpp"
#include "sync/statistics_json.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <unordered_map>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace statsync {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json json_of(change const& one)
{
    return {
        {"key", one.key},
        {"before", json_of(one.before, one.changed)},
        {"after", json_of(one.after, one.changed)}};
}

change change_from(json const& entry)
{
    json const& after = entry.at("after");
    return {
        entry.at("key"), fields_of(after), statistics_from(entry.at("before")),
        statistics_from(after)};
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

/// reversals: the changes that take back what is still as it was written. A write that is not
/// complete may have ended inside a track; then they take back all that is not as it was before.
std::vector<change> reversals(provider& player, std::vector<change> const& done, bool is_complete)
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
        fields const wrong = is_complete ? one.changed - differences(now, one.after)
                                         : one.changed & differences(now, one.before);
        if (!wrong.empty()) {
            back.push_back({one.key, wrong, now, one.before});
        }
    }
    return back;
}

/// keep_rest: without transactions an undo may end inside a track, too. The next one then takes
/// back what this one has to, and no more.
void keep_rest(
    provider const& player, fs::path const& run, json& record, json& entry,
    std::vector<change> const& back)
{
    std::vector<change> rest;
    for (change const& one : back) {
        rest.push_back({one.key, one.changed, one.after, one.before});
    }
    store_changes(run / (player.id() + ".changes"), rest);
    entry["is_checked"] = false;
    store(run, record);
}

/// added_labels: labels that some track was to get.
label_set added_labels(std::vector<change> const& changes)
{
    label_set added;
    for (change const& one : changes) {
        std::ranges::set_difference(
            one.after.labels, one.before.labels, std::inserter(added, added.end()));
    }
    return added;
}

/// undo_provider returns how many tracks went back. The entry is the provider's in the record.
std::size_t undo_provider(provider& player, fs::path const& run, json& record, json& entry)
{
    fs::path const backup = run / player.id();
    // The keys of tracks mean others there.
    if (entry.contains("database") &&
        entry.at("database") != json(player.configured().database())) {
        throw failure(
            problem::settings,
            "since this run its settings name another database, which stays as it is; set them"
            " back, or see the backup in " +
                backup.string());
    }
    std::vector<change> const done = load_changes(run / (player.id() + ".changes"));
    player.check_unused();
    bool const is_as_written = entry.contains("states") && !entry.at("states").empty() &&
                               entry.at("states") == states_of(player);
    if (is_as_written && player.can_restore() && fs::exists(backup)) {
        player.restore(backup);
        return done.size();
    }
    bool const is_complete = player.is_atomic() || entry.value("is_checked", false);
    std::vector<change> const back = reversals(player, done, is_complete);
    if (!back.empty()) {
        if (!player.is_atomic()) {
            keep_rest(player, run, record, entry, back);
        }
        player.write(back);
    }
    // Where a write ended before its first track, the player's list may have them already.
    if (label_set const added = added_labels(done); !added.empty()) {
        player.remove_unused(added);
    }
    return back.size();
}

/// run_lock: while it lives, no other statsync writes or takes back.
class run_lock
{
public:
    explicit run_lock(fs::path const& folder)
        : folder_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    {
        // A file system without locks gives another error, and is used all the same.
        if (folder_ >= 0 && ::flock(folder_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            ::close(folder_);
            throw failure(problem::in_use, "another statsync is writing; try again when it ends");
        }
    }
    run_lock(run_lock const&) = delete;
    run_lock& operator=(run_lock const&) = delete;
    ~run_lock()
    {
        if (folder_ >= 0) {
            ::close(folder_);
        }
    }

private:
    int folder_;
};

bool is_configured(registry const& all, std::string const& id)
{
    return std::ranges::count(all.instances(), id, &instance::id) > 0;
}

/// back_up makes the backups of a run, and returns its record.
json back_up(
    fs::path const& run, provider_list const& providers,
    std::vector<std::vector<change>> const& changes, progress const& report)
{
    json record{{"is_undone", false}, {"providers", json::array()}};
    for (std::size_t i = 0; i < providers.size(); ++i) {
        if (changes[i].empty()) {
            continue;
        }
        report("backing up " + providers[i]->name());
        providers[i]->back_up(run / providers[i]->id());
        store_changes(run / (providers[i]->id() + ".changes"), changes[i]);
        record["providers"].push_back(
            {{"id", providers[i]->id()},
             {"name", providers[i]->name()},
             {"database", providers[i]->configured().database()}});
    }
    return record;
}

/// begin makes the backups and the record of a run. Nothing is written without both.
json begin(
    fs::path const& run, provider_list const& providers,
    std::vector<std::vector<change>> const& changes, baseline_folder const& baselines,
    progress const& report)
{
    try {
        json record = back_up(run, providers, changes, report);
        for (std::unique_ptr<provider> const& player : providers) {
            baselines.keep(player->id(), run);
            record["baselines"].push_back(player->id());
        }
        store(run, record);
        return record;
    } catch (...) {
        // Half a backup would only fill the disk.
        std::error_code ignored;
        fs::remove_all(run, ignored);
        throw;
    }
}

/// check_written reads the database again. Throws failure(problem::unwritten) if a change does not
/// read as it was written.
void check_written(provider& player, std::vector<change> const& changes)
{
    std::unordered_map<std::string_view, statistics const*> found;
    for (track const& one : player.tracks()) {
        found[one.key] = &one.statistics;
    }
    std::size_t wrong_count = 0;
    for (change const& one : changes) {
        statistics expected = one.after;
        expected.rating = rating_after(expected.rating, player.can().rating_step);
        auto const now = found.find(one.key);
        bool const is_right =
            now != found.end() && (differences(*now->second, expected) & one.changed).empty();
        wrong_count += is_right ? 0 : 1;
    }
    if (wrong_count > 0) {
        throw failure(
            problem::unwritten, std::to_string(wrong_count) + " of " +
                                    std::to_string(changes.size()) +
                                    " tracks do not read as they were written; `statsync undo`"
                                    " takes the run back");
    }
}

/// report_tenths tells how far a long write is.
void report_tenths(provider& player, std::size_t count, progress const& report)
{
    constexpr std::size_t long_count = 1000;
    if (count < long_count) {
        player.report_writes({});
        return;
    }
    player.report_writes([&player, count, &report](std::size_t done) {
        std::size_t const tenth = done * 10 / count;
        if (tenth > (done - 1) * 10 / count && done < count) {
            report(player.name() + ": " + std::to_string(10 * tenth) + " % written");
        }
    });
}

/// write_all: where a database has no transactions, the failure of a write says so.
void write_all(provider& player, std::vector<change> const& changes)
{
    try {
        player.write(changes);
    } catch (std::exception const& error) {
        if (player.is_atomic()) {
            throw;
        }
        throw failure(
            problem::unwritten, std::string(error.what()) +
                                    "; without transactions some tracks may be written:"
                                    " `statsync undo` takes them back");
    }
}

/// write_provider records the states of what was written, right or wrong, for undo.
outcome write_provider(
    provider& player, std::vector<change> const& changes, json& entry, progress const& report)
{
    report(
        "writing " + std::to_string(changes.size()) + (changes.size() == 1 ? " track" : " tracks") +
        " to " + player.name() +
        (player.is_atomic() ? "" : ", not in one step: it has no transactions"));
    report_tenths(player, changes.size(), report);
    try {
        write_all(player, changes);
        entry["states"] = states_of(player);
        check_written(player, changes);
        entry["is_checked"] = true;
        return {player.name(), changes.size(), ""};
    } catch (std::exception const& error) {
        return {player.name(), 0, error.what()};
    }
}

} // namespace

std::vector<outcome> history::write(
    provider_list const& providers, std::vector<std::vector<change>> const& changes,
    std::span<baseline const> remembered_after, progress const& report) const
{
    std::vector<std::size_t> written;
    for (std::size_t i = 0; i < providers.size(); ++i) {
        if (!changes[i].empty()) {
            providers[i]->check_unused();
            written.push_back(i);
        }
    }
    std::set<std::size_t> failed;
    std::vector<outcome> outcomes;
    if (!written.empty()) {
        fs::create_directories(folder_);
        fs::permissions(folder_, fs::perms::owner_all);
        run_lock const lock(folder_);
        // Another statsync may have written since they were looked at.
        std::ranges::for_each(written, [&](std::size_t i) { providers[i]->check_unused(); });
        forget_unfinished_runs();
        fs::path const run = new_run();
        json record = begin(run, providers, changes, baselines_, report);
        // Before the first write: of a run that ends in the middle, no file says what it has done.
        std::ranges::for_each(providers, [&](auto const& one) { baselines_.forget(one->id()); });
        for (std::size_t place = 0; place < written.size(); ++place) {
            provider& player = *providers[written[place]];
            outcomes.push_back(write_provider(
                player, changes[written[place]], record["providers"][place], report));
            if (!outcomes.back().error.empty()) {
                failed.insert(written[place]);
            }
        }
        store(run, record);
        forget_old_runs();
    }
    for (std::size_t i = 0; i < remembered_after.size(); ++i) {
        if (!failed.contains(i)) {
            baselines_.store(providers[i]->id(), remembered_after[i]);
        }
    }
    return outcomes;
}

std::vector<outcome> history::undo(registry const& configured, progress const& report) const
{
    run_lock const lock(folder_);
    std::vector<fs::path> const all = runs(true);
    for (auto run = all.rbegin(); run != all.rend(); ++run) {
        json record = load(*run);
        if (record.at("is_undone").get<bool>()) {
            continue;
        }
        std::vector<std::string> const remembering =
            record.value("baselines", std::vector<std::string>{});
        std::ranges::for_each(remembering, [&](auto const& id) { baselines_.forget(id); });
        std::vector<outcome> outcomes;
        std::set<std::string> failed;
        for (json& entry : record.at("providers")) {
            std::string const id = entry.at("id");
            outcomes.push_back({entry.value("name", id), 0, ""});
            if (!is_configured(configured, id)) {
                outcomes.back().error =
                    "it is forgotten, and stays as it is; its backup is in " + (*run / id).string();
                continue;
            }
            try {
                std::unique_ptr<provider> const player = configured.open(configured.find(id));
                report("taking back what was written to " + player->name());
                outcomes.back().track_count = undo_provider(*player, *run, record, entry);
            } catch (std::exception const& error) {
                outcomes.back().error = error.what();
                failed.insert(id);
            }
        }
        for (std::string const& id : remembering) {
            if (is_configured(configured, id) && !failed.contains(id)) {
                baselines_.restore(id, *run);
            }
        }
        record["is_undone"] = failed.empty();
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
    // Names are in the order of the runs, also in one second, and after the clock was set back.
    constexpr int first_number = 1000;
    std::string begin = date;
    int number = first_number;
    if (std::vector<fs::path> const all = runs(true); !all.empty()) {
        std::string const last = all.back().filename();
        std::string const last_begin = last.substr(0, begin.size());
        if (last_begin >= begin) {
            begin = last_begin;
            number = std::max(std::atoi(last.c_str() + last_begin.size()) + 1, first_number);
        }
    }
    for (;; ++number) {
        fs::path const run = folder_ / (begin + std::to_string(number));
        if (fs::create_directory(run)) {
            return run;
        }
    }
}

std::vector<fs::path> history::runs(bool have_record) const
{
    std::vector<fs::path> found;
    if (fs::exists(folder_)) {
        for (fs::directory_entry const& entry : fs::directory_iterator(folder_)) {
            if (fs::exists(entry.path() / "run.json") == have_record) {
                found.push_back(entry.path());
            }
        }
    }
    std::ranges::sort(found);
    return found;
}

void history::forget_unfinished_runs() const
{
    for (fs::path const& run : runs(false)) {
        fs::remove_all(run);
    }
}

void history::forget_old_runs() const
{
    std::vector<fs::path> const all = runs(true);
    for (std::size_t i = 0; i + run_count_max < all.size(); ++i) {
        fs::remove_all(all[i]);
    }
}

} // namespace statsync
