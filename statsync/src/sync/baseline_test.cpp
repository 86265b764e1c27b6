#include "core/failure.hpp"
#include "store/file.hpp"
#include "store/temporary_folder.hpp"
#include "sync/baseline.hpp"

#include <doctest/doctest.h>

namespace statsync::baseline_test {
namespace {

identity const song{"Title", "Artist \"1\"", "Album\n", "", 2000, 1, 0};

remembered state_with(std::int64_t plays)
{
    statistics const own{.rating = 8, .play_count = plays, .labels = {"quiet", "\xff no UTF-8"}};
    remembered made{remembered_fields, own, own};
    made.agreed.rating = 7;
    return made;
}

TEST_CASE("a baseline is read as it was written")
{
    baseline state;
    state.set(song, state_with(5));
    identity other = song;
    other.disc_number = 2;
    state.set(other, {field::rating, {.rating = 3}, {.rating = 3}});
    baseline const read = baseline::from_text(state.text());
    CHECK(read.size() == 2);
    CHECK(read.find(other) == state.find(other));
    CHECK(read.find(song).agreed.rating == 7);
    CHECK(read.find(song).own.play_count == 5);
    identity unseen = song;
    unseen.year = 2001;
    CHECK(read.find(unseen).known.empty());
}

TEST_CASE("a baseline is kept with a run, and restored with it")
{
    temporary_folder const folder;
    temporary_folder const run;
    baseline_folder const all(folder / "baselines");
    CHECK_FALSE(all.exists());
    baseline state;
    state.set(song, state_with(5));
    all.store("a", state);
    all.keep("a", run.path());
    all.keep("b", run.path());
    state.set(song, state_with(6));
    all.store("a", state);
    all.store("b", state);
    all.restore("a", run.path());
    all.restore("b", run.path());
    CHECK(all.load("a").find(song).own.play_count == 5);
    CHECK(all.load("b").size() == 0);
    all.forget("a");
    CHECK(all.load("a").size() == 0);
}

TEST_CASE("a damaged baseline is named")
{
    temporary_folder const folder;
    replace_file(folder / "a", "[1");
    CHECK_THROWS_WITH_AS(
        baseline_folder(folder.path()).load("a"), doctest::Contains((folder / "a").c_str()),
        failure);
}

} // namespace
} // namespace statsync::baseline_test
