#include "core/failure.hpp"
#include "tests/convention/convention.hpp"

#include <doctest/doctest.h>

namespace statsync::xml_types_test {
namespace {

constexpr fields three{field::rating, field::last_played, field::play_count};
constexpr fields rhythmbox_reliable =
    mandatory_fields | fields{field::track_number, field::disc_number};

convention_type rhythmbox()
{
    convention_type type = file_type("rhythmbox", "a.xml", make_rhythmbox, three);
    type.reliable = rhythmbox_reliable;
    return type;
}

TEST_CASE("Rhythmbox keeps the convention")
{
    check_convention(rhythmbox());
}

TEST_CASE("iTunes keeps the convention")
{
    check_convention(file_type("itunes", "a.xml", make_itunes, three));
}

/// document: a file of a player whose whole text is in the test.
class document
{
public:
    document(std::string const& type, std::string const& text)
    {
        replace_file(folder_ / "a.xml", text, 0640);
        instance const configured{
            "1",
            type,
            "n",
            {{"path", (folder_ / "a.xml").string()}, {"unknown", "Unknown,Nieznany"}}};
        player_ = type_named(all_types(), type).make(configured);
    }

    provider& player() { return *player_; }
    track first() { return player_->tracks().at(0); }
    std::string text() const { return read_file(folder_ / "a.xml"); }

    /// after writes the statistics of the first track, as far as the player stores them.
    std::string after(statistics const& values)
    {
        change const one{first().key, player_->can().writable, {}, values};
        player_->write(std::span(&one, 1));
        return text();
    }

private:
    temporary_folder folder_;
    std::unique_ptr<provider> player_;
};

std::string rhythmdb(std::string const& inside, std::string const& version = "2.0")
{
    return "<?xml version=\"1.0\" standalone=\"yes\"?>\r\n<rhythmdb version=\"" + version +
           "\">\r\n<!-- kept --><entry type=\"song\">\r\n    <location>file:///a%20b</location>" +
           inside + "\r\n  </entry>\r\n  <other what='is  this'/>\r\n</rhythmdb>";
}

std::string plist(std::string const& inside)
{
    return "<plist version=\"1.0\"><dict><key>Tracks</key><dict><key>1</key><dict>"
           "<key>Track ID</key><integer>1</integer>" +
           inside + "</dict></dict></dict></plist>";
}

TEST_CASE("only the bytes of a value change, and a new value looks like its neighbours")
{
    document file("rhythmbox", rhythmdb("<rating>3.5</rating>\r\n    <x>&#xF909;&amp;</x>"));
    CHECK(file.first().statistics.rating == 7);
    std::string const more = file.after({.rating = 8, .play_count = 2});
    CHECK(
        more == rhythmdb("<rating>4</rating>\r\n    <x>&#xF909;&amp;</x>"
                         "\r\n    <play-count>2</play-count>"));
    CHECK(file.after({}) == rhythmdb("\r\n    <x>&#xF909;&amp;</x>"));
}

TEST_CASE("a fraction of a star stays where another field changes")
{
    document file("rhythmbox", rhythmdb("<rating>3.5</rating>"));
    change const played{file.first().key, field::play_count, {}, {.play_count = 1}};
    file.player().write(std::span(&played, 1));
    CHECK(file.text() == rhythmdb("<rating>3.5</rating><play-count>1</play-count>"));
}

TEST_CASE("an empty element is filled, and one with an attribute keeps it")
{
    document file("rhythmbox", rhythmdb("<rating/><play-count a='b'>1</play-count>"));
    CHECK(
        file.after({.rating = 2, .play_count = 3}) ==
        rhythmdb("<rating>1</rating><play-count a='b'>3</play-count>"));
}

TEST_CASE("a value that is no number is none")
{
    for (std::string const word : {"nan", "-nan", "inf", "-inf", "1e999", "x", "-3"}) {
        CAPTURE(word);
        document file(
            "rhythmbox", rhythmdb(
                             "<rating>" + word + "</rating><play-count>" + word +
                             "</play-count><last-played>" + word + "</last-played>"));
        CHECK(file.first().statistics == statistics{});
        document items(
            "itunes",
            plist(
                "<key>Year</key><integer>" + word + "</integer><key>Rating</key>" + "<integer>" +
                word + "</integer><key>Play Count</key><integer>" + word + "</integer>"));
        CHECK(items.first().statistics == statistics{});
        CHECK(items.first().identity.year == 0);
    }
}

TEST_CASE("an untagged file has no artist, in any language")
{
    document file("rhythmbox", rhythmdb("<artist>Nieznany</artist><album>Unknown</album>"));
    CHECK(file.first().identity.artist.empty());
    CHECK(file.first().identity.album.empty());
    CHECK(file.player().artist_tracks("").size() == 1);
}

TEST_CASE("a newer Rhythmbox's file is read, and not written")
{
    std::string const text = rhythmdb("<rating>3</rating>", "2.1");
    document file("rhythmbox", text);
    CHECK(file.first().statistics.rating == 6);
    CHECK_THROWS_AS(file.after({.rating = 2}), failure);
    CHECK(file.text() == text);
}

TEST_CASE("a document in another encoding, or with entities, is read, and not written")
{
    std::string const tail = "<rhythmdb version='2.0'><entry type='song'><location>a</location>"
                             "<title>\xe9</title></entry></rhythmdb>";
    document latin("rhythmbox", "<?xml version='1.0' encoding='ISO-8859-1'?>" + tail);
    CHECK(latin.first().identity.title == "é");
    CHECK_THROWS_AS(latin.after({.rating = 2}), failure);

    document entity(
        "rhythmbox",
        "<!DOCTYPE rhythmdb [<!ENTITY r '<rating>1</rating>'>]><rhythmdb version='2.0'>"
        "<entry type='song'><location>a</location>&r;</entry></rhythmdb>");
    CHECK(entity.first().statistics.rating == 2);
    CHECK_THROWS_AS(entity.after({.rating = 4}), failure);
}

TEST_CASE("text that is no XML, or another player's, is an error with its line")
{
    for (char const* text : {"<rhythmdb>\n<entry>", "<rhythmdb></x>", "<plist version='1.0'/>"}) {
        document file("rhythmbox", text);
        CHECK_THROWS_WITH_AS(file.player().tracks(), doctest::Contains("a.xml"), failure);
    }
    document old("itunes", "<plist version='0.9'><dict/></plist>");
    CHECK_THROWS_AS(old.player().tracks(), failure);
    document loops("itunes", "<!DOCTYPE a [<!ENTITY a '&b;'><!ENTITY b '&a;'>]><plist>&a;</plist>");
    CHECK_THROWS_AS(loops.player().tracks(), failure);
}

TEST_CASE("the mode of the file stays")
{
    document file("rhythmbox", rhythmdb(""));
    auto const mode = [&] {
        return std::filesystem::status(file.player().where().files.at(0)).permissions();
    };
    std::filesystem::perms const before = mode();
    file.after({.rating = 2});
    CHECK(mode() == before);
}

TEST_CASE("a rating that iTunes computed is none, until one is written")
{
    document file(
        "itunes", plist("<key>Rating</key><integer>60</integer><key>Rating Computed</key><true/>"));
    CHECK(file.first().statistics.rating == 0);
    CHECK(file.after({.rating = 7}) == plist("<key>Rating</key><integer>80</integer>"));
}

TEST_CASE("the last play of iTunes is read in UTC, and is not written")
{
    document file("itunes", plist("<key>Play Date UTC</key><date>2010-08-21T18:31:59Z</date>"));
    CHECK(file.first().statistics.last_played == 1282415519);
    CHECK_FALSE(file.player().can().writable.has(field::last_played));
}

} // namespace
} // namespace statsync::xml_types_test
