#include "core/failure.hpp"
#include "provider/registry.hpp"
#include "store/mysql_server.hpp"
#include "sync/history.hpp"
#include "sync/plan.hpp"
#include "tests/convention/convention.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace statsync::amarok_test {
namespace {

convention_type amarok()
{
    return file_type("amarok", "mysqle", make_amarok, statistic_fields);
}

/// may_run: without mariadbd there is nothing to test.
bool may_run()
{
    if (mysql_server::program().empty()) {
        MESSAGE("skipped: mariadbd is not installed");
        return false;
    }
    return true;
}

TEST_CASE("Amarok keeps the convention")
{
    if (may_run()) {
        check_convention(amarok());
    }
}

/// value: the first value of a query, from Amarok's directory.
std::string value(std::filesystem::path const& folder, std::string const& sql)
{
    mysql_server const server(folder);
    mysql_address address = server.address();
    address.database = "amarok";
    std::string text = "no row";
    open_mysql(address)->select(sql, [&](sql_row const& row) { text = row.text(0); });
    return text;
}

TEST_CASE("a track that was never played gets a row of its own, and no other track's")
{
    if (!may_run()) {
        return;
    }
    temporary_folder const folder;
    setting_map const settings = amarok().make(folder.path(), convention_samples());
    std::unique_ptr<provider> const player =
        type_named(all_types(), "amarok")
            .make({"1", "amarok", "n", {{"path", settings.at("path")}, {"database", "amarok"}}});
    track const one = *player->artist_tracks("utfTitle").at(0);
    change const played{one.key, field::play_count, {}, {.play_count = 321}};
    player->write(std::span(&played, 1));
    CHECK(
        value(settings.at("path"), "SELECT url FROM statistics WHERE playcount = 321") == one.key);
    CHECK(
        value(settings.at("path"), "SELECT COUNT(*) FROM statistics WHERE playcount = 321") == "1");
}

TEST_CASE("a database of a newer Amarok is not written")
{
    if (!may_run()) {
        return;
    }
    temporary_folder const folder;
    setting_map const settings = amarok().make(folder.path(), convention_samples());
    {
        mysql_server const server(settings.at("path"));
        mysql_address address = server.address();
        address.database = "amarok";
        open_mysql(address)->execute("UPDATE admin SET version = 17");
    }
    std::unique_ptr<provider> const player =
        type_named(all_types(), "amarok")
            .make({"1", "amarok", "n", {{"path", settings.at("path")}, {"database", "amarok"}}});
    track const one = player->tracks().at(0);
    change const played{one.key, field::play_count, {}, {.play_count = 321}};
    CHECK_THROWS_AS(player->write(std::span(&played, 1)), failure);
}

/// served_folder: a server with an empty database, which a suite fills and drops.
class served_folder
{
public:
    served_folder() : server_(empty(folder_.path())) {}

    setting_map settings() const
    {
        return {
            {"host", "localhost"},
            {"port", "3306"},
            {"socket", server_.address().socket},
            {"user", "root"},
            {"database", "amarok"}};
    }

    mysql_address address() const
    {
        mysql_address address = server_.address();
        address.database = "amarok";
        return address;
    }

    std::unique_ptr<sql_database> emptied() const
    {
        open_mysql(server_.address())->execute("DROP DATABASE IF EXISTS amarok");
        open_mysql(server_.address())->execute("CREATE DATABASE amarok");
        return open_mysql(address());
    }

private:
    static std::filesystem::path empty(std::filesystem::path const& folder)
    {
        std::filesystem::create_directories(folder / "amarok");
        return folder;
    }

    temporary_folder folder_;
    mysql_server server_;
};

TEST_CASE("Amarok on a server keeps the convention")
{
    if (!may_run()) {
        return;
    }
    served_folder const served;
    auto const make = [&](std::filesystem::path const&, sample_list samples) {
        make_amarok_tables(*served.emptied(), samples);
        return served.settings();
    };
    check_convention({"amarok-server", make, statistic_fields});
}

TEST_CASE("Amarok 1.4 on a server keeps the convention")
{
    if (!may_run()) {
        return;
    }
    served_folder const served;
    auto const make = [&](std::filesystem::path const&, sample_list samples) {
        make_amarok_1_4_tables(*served.emptied(), samples);
        return served.settings();
    };
    check_convention({"amarok-1.4-server", make, statistic_fields, identity_fields, true});
}

std::unique_ptr<provider> amarok_1_4_on(served_folder const& served)
{
    return type_named(all_types(), "amarok-1.4-server")
        .make({"1", "amarok-1.4-server", "n", served.settings()});
}

TEST_CASE("a label that the server takes for another one is that label")
{
    if (!may_run()) {
        return;
    }
    served_folder const served;
    make_amarok_1_4_tables(*served.emptied(), convention_samples());
    std::unique_ptr<provider> const player = amarok_1_4_on(served);
    track const one = *player->artist_tracks("testStatistics").at(2);
    change const relabelled{
        one.key,
        field::labels,
        {},
        {.labels = {"SINGLETAG", "M\u00FCltiple", "Caf\u00E9", "Cafe"}}};
    player->write(std::span(&relabelled, 1));
    CHECK(
        player->artist_tracks("testStatistics").at(2)->statistics.labels ==
        label_set{"singleTag", "multiple", "Cafe"});
}

TEST_CASE("a server's own spelling of a label is no difference, and a second run writes nothing")
{
    if (!may_run()) {
        return;
    }
    served_folder const served;
    make_amarok_1_4_tables(*served.emptied(), convention_samples());
    temporary_folder const folder;
    make_amarok_1_4(folder / "collection.db", convention_samples());
    provider_list players;
    players.push_back(amarok_1_4_on(served));
    players.push_back(
        type_named(all_types(), "amarok-1.4")
            .make({"2", "amarok-1.4", "n", {{"path", (folder / "collection.db").string()}}}));
    // Of its own labels the server has the first spelling; of new ones "Neu" comes before "neu".
    label_set const labels{"SingleTag ", "Multiple", "Neu", "neu", "Stra\u00DFe", "\u03A9"};
    track const one = *players[1]->artist_tracks("testStatistics").at(0);
    change const relabelled{one.key, field::labels, one.statistics, {.labels = labels}};
    players[1]->write(std::span(&relabelled, 1));

    plan_options options;
    options.merging.preferred = {1};
    std::vector<std::vector<change>> const changes =
        changes_of(make_plan(players, options), players);
    CHECK(changes[1].empty());
    players[0]->write(changes[0]);
    label_set const expected{"singleTag", "multiple", "Neu", "Stra\u00DFe", "\u03A9"};
    CHECK(players[0]->artist_tracks("testStatistics").at(0)->statistics.labels == expected);
    plan const again = make_plan(players, options);
    CHECK(again.updated_count() == 0);
    auto const in_conflict = [](merged_track const& each) { return !each.in_conflict.empty(); };
    CHECK(std::ranges::none_of(again.merged, in_conflict));
}

/// check_unstorable_label writes a label, after that of another track: neither track may change.
void check_unstorable_label(provider& player, std::string const& label)
{
    CAPTURE(label);
    auto const labels_of = [&](std::size_t place) {
        return player.artist_tracks("testStatistics").at(place)->statistics.labels;
    };
    std::vector<track> const before = player.tracks();
    std::string const keys[] = {
        player.artist_tracks("testStatistics").at(0)->key,
        player.artist_tracks("testStatistics").at(1)->key};
    change const both[] = {
        {keys[0], statistic_fields, {}, {.play_count = 99, .labels = {"good"}}},
        {keys[1], statistic_fields, {}, {.play_count = 99, .labels = {"a", label}}}};
    std::string text;
    try {
        player.write(both);
    } catch (failure const& error) {
        text = error.what();
    }
    CHECK(text.starts_with("the label '" + label + "' cannot be stored: "));
    CHECK(labels_of(0) == label_set{"singleTag"});
    CHECK(labels_of(1) == label_set{"multiple", "tags"});
    CHECK(std::ranges::equal(player.tracks(), before, {}, &track::statistics, &track::statistics));
}

TEST_CASE("a label that the server cannot hold is an error before any track is changed")
{
    if (!may_run()) {
        return;
    }
    served_folder const served;
    make_amarok_1_4_tables(*served.emptied(), convention_samples());
    std::unique_ptr<provider> const player = amarok_1_4_on(served);
    check_unstorable_label(*player, "\U0001F600");
    check_unstorable_label(*player, std::string(256, 'x'));
    std::unique_ptr<sql_database> const database = open_mysql(served.address());
    database->execute("SET SESSION sql_mode = ''");
    database->execute("SET GLOBAL sql_mode = ''");
    database->execute("ALTER TABLE labels MODIFY name VARCHAR(255) CHARACTER SET latin1");
    check_unstorable_label(*amarok_1_4_on(served), "\u03A9");
    // Those that it could hold are not left behind, either.
    std::string count;
    database->select(
        "SELECT COUNT(*) FROM labels WHERE name IN ('a', 'good')",
        [&](sql_row const& row) { count = row.text(0); });
    CHECK(count == "0");
}

TEST_CASE(
    "a track gets a row on a server, too, where the row of a file that is gone has its unique id")
{
    if (!may_run()) {
        return;
    }
    served_folder const served;
    make_amarok_1_4_tables(*served.emptied(), convention_samples());
    open_mysql(served.address())
        ->execute(
            "INSERT INTO statistics SELECT './gone.mp3', -1, 1, 2, 99, 10, 99, UPPER(uniqueid), 1"
            " FROM uniqueid WHERE url NOT IN (SELECT url FROM statistics) LIMIT 1");
    std::unique_ptr<provider> const player = amarok_1_4_on(served);
    std::vector<change> changes;
    for (track const& one : player->tracks()) {
        changes.push_back({one.key, field::play_count, one.statistics, {.play_count = 321}});
    }
    player->write(changes);
    for (track const& one : player->tracks()) {
        CHECK(one.statistics.play_count == 321);
    }
}

TEST_CASE("a label that is too long for Amarok is an error before any track is changed")
{
    if (!may_run()) {
        return;
    }
    temporary_folder const folder;
    setting_map const settings = amarok().make(folder.path(), convention_samples());
    std::unique_ptr<provider> const player =
        type_named(all_types(), "amarok")
            .make({"1", "amarok", "n", {{"path", settings.at("path")}, {"database", "amarok"}}});
    check_unstorable_label(*player, std::string(101, 'x'));
}

std::string label_count(served_folder const& served)
{
    std::string count;
    open_mysql(served.address())->select("SELECT COUNT(*) FROM labels", [&](sql_row const& row) {
        count = row.text(0);
    });
    return count;
}

/// check_undone_labels gives two tracks new labels in a run. Where `is_begun_only`, the run is as
/// one that ended behind the insertion of its labels, before the first track.
void check_undone_labels(served_folder const& served, std::string const& type, bool is_begun_only)
{
    CAPTURE(type);
    CAPTURE(is_begun_only);
    temporary_folder const folder;
    registry all(folder / "providers.json", all_types());
    provider_list players;
    players.push_back(all.open(all.create(type, "player", served.settings())));
    std::string const count = label_count(served);
    track const one = *players[0]->artist_tracks("testStatistics").at(0);
    track const other = *players[0]->artist_tracks("testStatistics").at(1);
    std::vector<std::vector<change>> const changes{
        {{one.key, field::labels, one.statistics, {.labels = {"new", "tags"}}},
         {other.key, field::labels, other.statistics, {.labels = {"newer"}}}}};
    history const runs(folder / "state");
    auto const ignore = [](std::string const&) {};
    CHECK(runs.write(players, changes, {}, ignore).at(0).error.empty());
    CHECK(label_count(served) == std::to_string(std::stoi(count) + 2));
    if (is_begun_only) {
        change const back[] = {
            {one.key, field::labels, {}, one.statistics},
            {other.key, field::labels, {}, other.statistics}};
        players[0]->write(back);
    }
    CHECK(runs.undo(all, ignore).at(0).error.empty());
    CHECK(label_count(served) == count);
    std::unique_ptr<provider> const again = all.open(all.find("player"));
    CHECK(again->artist_tracks("testStatistics").at(1)->statistics == other.statistics);
}

TEST_CASE("undo takes new labels from the list of labels, too, unless another track has them")
{
    if (!may_run()) {
        return;
    }
    served_folder const served;
    for (bool is_begun_only : {false, true}) {
        make_amarok_tables(*served.emptied(), convention_samples());
        check_undone_labels(served, "amarok-server", is_begun_only);
        make_amarok_1_4_tables(*served.emptied(), convention_samples());
        check_undone_labels(served, "amarok-1.4-server", is_begun_only);
    }
}

/// socket_of_other starts a server in a child process, which then waits to be killed.
std::string socket_of_other(std::filesystem::path const& data, pid_t& child)
{
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    child = ::fork();
    if (child == 0) {
        mysql_server const server(data);
        std::string const socket = server.address().socket;
        ssize_t const sent = ::write(ends[1], socket.data(), socket.size());
        ::close(sent < 0 ? -1 : ends[1]);
        ::pause();
        ::_exit(1);
    }
    ::close(ends[1]);
    char text[4096];
    ssize_t const size = ::read(ends[0], text, sizeof text);
    ::close(ends[0]);
    REQUIRE(size > 0);
    return std::string(text, static_cast<std::size_t>(size));
}

TEST_CASE("a server whose statsync is killed ends, so that the next run can write")
{
    if (!may_run()) {
        return;
    }
    temporary_folder const folder;
    std::filesystem::create_directories(folder / "amarok");
    pid_t child = -1;
    std::filesystem::path const place =
        std::filesystem::path(socket_of_other(folder.path(), child)).parent_path();
    int const server_id = std::stoi(read_file(place / "pid"));
    int const server = static_cast<int>(::syscall(SYS_pidfd_open, server_id, 0));
    REQUIRE(server >= 0);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    pollfd ended{server, POLLIN, 0};
    constexpr int deadline_ms = 60000;
    CHECK(::poll(&ended, 1, deadline_ms) == 1);
    ::close(server);
    std::filesystem::remove_all(place);
    mysql_server const next(folder.path());
    CHECK(open_mysql(next.address()) != nullptr);
}

/// program_path: a folder before all others in which programs are looked for.
class program_path
{
public:
    explicit program_path(std::filesystem::path const& first) : usual_(std::getenv("PATH"))
    {
        ::setenv("PATH", (first.string() + ":" + usual_).c_str(), 1);
    }
    program_path(program_path const&) = delete;
    program_path& operator=(program_path const&) = delete;
    ~program_path() { ::setenv("PATH", usual_.c_str(), 1); }

private:
    std::string usual_;
};

TEST_CASE("a server ends where an error of another kind ends the wait for it")
{
    temporary_folder const folder;
    std::filesystem::create_directories(folder / "amarok");
    // Its socket is a link to itself, so that the question whether it is there throws.
    replace_file(
        folder / "mariadbd",
        "#!/bin/sh\nfor word; do case $word in --socket=*) socket=${word#*=};; esac; done\n"
        "echo $$ > \"$0.id\"\nln -s socket \"$socket\"\nexec tail -f /dev/null\n");
    std::filesystem::permissions(folder / "mariadbd", std::filesystem::perms::owner_all);
    program_path const path(folder.path());
    CHECK_THROWS_AS(mysql_server(folder.path()), std::filesystem::filesystem_error);
    pid_t const server = std::stoi(read_file(folder / "mariadbd.id"));
    CHECK(::kill(server, 0) != 0);
}

TEST_CASE("a server that is not there is an error, and names no password")
{
    temporary_folder const folder;
    replace_file(folder / "secret", "geheim\n");
    instance const configured{
        "1",
        "amarok-server",
        "n",
        {{"host", "127.0.0.1"},
         {"port", "1"},
         {"user", "amarokuser"},
         {"database", "amarokdb"},
         {"password-file", (folder / "secret").string()}}};
    std::unique_ptr<provider> const player =
        type_named(all_types(), "amarok-server").make(configured);
    CHECK_THROWS_AS(player->tracks(), failure);
    try {
        player->tracks();
    } catch (failure const& error) {
        CHECK(std::string(error.what()).find("geheim") == std::string::npos);
    }
    for (char const* port : {"", "x", "99999"}) {
        instance nonsense = configured;
        nonsense.settings["port"] = port;
        CHECK_THROWS_AS(type_named(all_types(), "amarok-server").make(nonsense)->tracks(), failure);
    }
}

} // namespace
} // namespace statsync::amarok_test
