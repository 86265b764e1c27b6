#include "core/failure.hpp"
#include "store/mysql_server.hpp"
#include "tests/convention/convention.hpp"

#include <doctest/doctest.h>

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

TEST_CASE("Amarok's database is read and written on a server that runs")
{
    if (!may_run()) {
        return;
    }
    temporary_folder const folder;
    setting_map const settings = amarok().make(folder.path(), convention_samples());
    mysql_server const server(settings.at("path"));
    setting_map const address{
        {"host", "localhost"},
        {"port", "3306"},
        {"socket", server.address().socket},
        {"user", "root"},
        {"database", "amarok"}};
    std::unique_ptr<provider> const player =
        type_named(all_types(), "amarok-server").make({"1", "amarok-server", "n", address});
    CHECK(player->tracks().size() == 57);
    track const one = *player->artist_tracks("testStatistics").at(0);
    change const all{one.key, statistic_fields, one.statistics, {9, 100, 200, 25, {"lab'ls"}}};
    player->write(std::span(&all, 1));
    CHECK(player->artist_tracks("testStatistics").at(0)->statistics == all.after);
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
