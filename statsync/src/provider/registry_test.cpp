#include "core/failure.hpp"
#include "provider/registry.hpp"
#include "store/file.hpp"
#include "store/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <set>

#include <sys/stat.h>

namespace statsync::registry_test {
namespace {

unsigned mode_of(std::filesystem::path const& file)
{
    struct stat state
    {
    };
    REQUIRE(::stat(file.c_str(), &state) == 0);
    return state.st_mode & 0777;
}

TEST_CASE("an instance is created, changed under its id, and forgotten, across restarts")
{
    temporary_folder const folder;
    std::filesystem::path const file = folder / "config/providers.json";
    std::string id;
    {
        registry all(file, all_types());
        id = all.create("example", "", {{"path", "/a"}}).id;
        CHECK(all.find(id).name == "Example");
    }
    CHECK(mode_of(file) == 0600);
    {
        registry all(file, all_types());
        all.reconfigure("Example", {{"path", "/b"}, {"name", "Mine"}});
        CHECK(all.find("Mine").id == id);
        CHECK(all.find(id).setting("path") == "/b");
    }
    registry all(file, all_types());
    CHECK(all.open(all.find("Mine"))->configured().setting("path") == "/b");
    all.forget("Mine");
    CHECK(registry(file, all_types()).instances().empty());
}

TEST_CASE("an empty name is the type's title")
{
    temporary_folder const folder;
    registry all(folder / "providers.json", all_types());
    all.create("example", "Mine", {{"path", "/a"}});
    CHECK(all.reconfigure("Mine", {{"name", ""}}).name == "Example");
}

TEST_CASE("a value of which no provider can be made is refused, and changes nothing")
{
    temporary_folder const folder;
    registry all(folder / "providers.json", all_types());
    for (char const* nonsense : {"an hour", "-1", "1h", "99999999999999999999"}) {
        CHECK_THROWS_AS(all.create("banshee", "", {{"tolerance", nonsense}}), failure);
        CHECK(all.instances().empty());
    }
    all.create("banshee", "b", {{"tolerance", "3600"}});
    CHECK_THROWS_AS(all.reconfigure("b", {{"tolerance", "x"}}), failure);
    CHECK(all.open(all.find("b"))->can().tolerance_s == 3600);
}

TEST_CASE("there are any number of instances, and forgetting one leaves the others")
{
    temporary_folder const folder;
    registry all(folder / "providers.json", all_types());
    std::set<std::string> ids;
    for (int i = 0; i < 10; ++i) {
        ids.insert(all.create("example", std::to_string(i), {{"path", "/a"}}).id);
    }
    CHECK(ids.size() == 10);
    all.forget("4");
    CHECK(all.instances().size() == 9);
    CHECK_THROWS_AS(all.find("4"), failure);
}

TEST_CASE("settings that make no sense are refused, and nothing changes")
{
    temporary_folder const folder;
    registry all(folder / "providers.json", all_types());
    CHECK_THROWS_AS(all.create("winamp", "", {}), failure);
    CHECK_THROWS_AS(all.create("example", "", {}), failure);
    CHECK_THROWS_AS(all.create("example", "", {{"path", "/a"}, {"colour", "red"}}), failure);
    CHECK_THROWS_AS(all.create("example", "", {{"path", "/a"}, {"password", "x"}}), failure);
    CHECK_THROWS_AS(all.create("example", "", {{"path", "/a"}, {"write", "maybe"}}), failure);
    CHECK(all.instances().empty());

    std::string const id = all.create("example", "", {{"path", "/a"}}).id;
    CHECK_THROWS_AS(all.reconfigure(id, {{"id", "other"}}), failure);
    CHECK_THROWS_AS(all.reconfigure(id, {{"path", ""}}), failure);
    CHECK(all.find(id).setting("path") == "/a");
}

TEST_CASE("two of the same name are told apart by their ids only")
{
    temporary_folder const folder;
    registry all(folder / "providers.json", all_types());
    std::string const id = all.create("example", "x", {{"path", "/a"}}).id;
    all.create("example", "x", {{"path", "/b"}});
    CHECK_THROWS_AS(all.find("x"), failure);
    CHECK(all.find(id).setting("path") == "/a");
}

TEST_CASE("keys of another version stay in the file")
{
    temporary_folder const folder;
    std::filesystem::path const file = folder / "providers.json";
    replace_file(
        file,
        R"({"later": 1, "providers": [{"id": "1", "type": "future", "name": "f", "x": "y"}]})");
    registry all(file, all_types());
    all.create("example", "", {{"path", "/a"}});
    std::string const text = read_file(file);
    CHECK(text.find("\"later\": 1") != std::string::npos);
    CHECK(text.find("\"x\": \"y\"") != std::string::npos);
    CHECK_THROWS_AS(all.open(all.find("f")), failure);
}

TEST_CASE("a file that is no configuration is an error that names it")
{
    temporary_folder const folder;
    std::filesystem::path const file = folder / "providers.json";
    for (char const* text : {"", "{", "[]", R"({"providers": [{"name": "x"}]})", "\xff\xfe"}) {
        replace_file(file, text);
        CHECK_THROWS_WITH_AS(
            registry(file, all_types()), doctest::Contains("providers.json"), failure);
    }
}

TEST_CASE("a password comes from a file or from the environment")
{
    temporary_folder const folder;
    replace_file(folder / "secret", "word\r\na note\n");
    instance one{"1", "t", "n", {{"password-file", (folder / "secret").string()}}};
    CHECK(secret(one) == "word");
    one.settings = {{"password-env", "STATSYNC_TEST_SECRET"}};
    ::unsetenv("STATSYNC_TEST_SECRET");
    CHECK_THROWS_AS(secret(one), failure);
    ::setenv("STATSYNC_TEST_SECRET", "other", 1);
    CHECK(secret(one) == "other");
    CHECK(secret({}).empty());
}

} // namespace
} // namespace statsync::registry_test
