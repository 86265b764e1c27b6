#include "core/failure.hpp"
#include "provider/registry.hpp"
#include "store/temporary_folder.hpp"
#include "tests/convention/convention.hpp"

#include <doctest/doctest.h>

namespace statsync::example_test {
namespace {

void make_example(std::filesystem::path const& file, sample_list samples)
{
    std::string text;
    for (sample const& one : samples) {
        text += one.stored.artist + '\t' + one.stored.album + '\t' + one.stored.title + '\t' +
                std::to_string(one.statistics.play_count) + '\n';
    }
    replace_file(file, text);
}

TEST_CASE("the example keeps the convention")
{
    convention_type type = file_type("example", "tracks", make_example, field::play_count);
    type.reliable = mandatory_fields;
    check_convention(type);
}

TEST_CASE("the example reads its tracks and writes play counts")
{
    temporary_folder const folder;
    std::filesystem::path const file = folder / "tracks";
    replace_file(file, "Artist\tAlbum\tTitle\t3\nOther\t\tSong\t0\n", 0640);
    registry all(folder / "providers.json", all_types());
    std::unique_ptr<provider> const example =
        all.open(all.create("example", "", {{"path", file.string()}}));
    CHECK(example->artists() == std::set<std::string>{"Artist", "Other"});
    track const one = *example->artist_tracks("Other").at(0);

    change const more{one.key, field::play_count, one.statistics, {.play_count = 7}};
    example->write(std::span(&more, 1));
    CHECK(example->artist_tracks("Other").at(0)->statistics.play_count == 7);
    CHECK(read_file(file) == "Artist\tAlbum\tTitle\t3\nOther\t\tSong\t7\n");

    change const rating{one.key, field::rating, {}, {.rating = 2}};
    CHECK_THROWS_AS(example->write(std::span(&rating, 1)), failure);
}

TEST_CASE("a provider whose setting write is no has nothing to write")
{
    temporary_folder const folder;
    registry all(folder / "providers.json", all_types());
    std::unique_ptr<provider> const example =
        all.open(all.create("example", "", {{"path", "/none"}, {"write", "no"}}));
    CHECK(example->can().writable.empty());
    CHECK_THROWS_AS(example->tracks(), failure);
}

TEST_CASE("a file that has changed since it was read is not written")
{
    temporary_folder const folder;
    replace_file(folder / "tracks", "A\tB\tC\t3\n");
    registry all(folder / "providers.json", all_types());
    std::unique_ptr<provider> const example =
        all.open(all.create("example", "", {{"path", (folder / "tracks").string()}}));
    track const one = example->tracks().at(0);
    replace_file(folder / "tracks", "A\tB\tC\t4\n");
    change const more{one.key, field::play_count, one.statistics, {.play_count = 7}};
    CHECK_THROWS_AS(example->write(std::span(&more, 1)), failure);
    CHECK(read_file(folder / "tracks") == "A\tB\tC\t4\n");
}

} // namespace
} // namespace statsync::example_test
