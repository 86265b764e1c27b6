#include "tickets/ratchet_file.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/core/temporary_folder_for_tests.hpp>
#include <cleat/core/unique_fd.hpp>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>

namespace cleat::app::ratchet_file_test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::string_view hex = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
constexpr std::string_view next =
    "9009c2a3b9098caa66d985282c30250116f22bfb07b56071f6e9efcc6da2d46d";

struct ratchet_file_fixture
{
    ratchet_file_fixture()
    {
        folder.write("tickets", before);
        fs::permissions(path, fs::perms{0640});
    }

    [[nodiscard]] std::string text() const
    {
        std::ostringstream all;
        all << std::ifstream{path}.rdbuf();
        return all.str();
    }

    temporary_folder folder;
    std::string path = folder.path() / "tickets";
    std::string other = path + ".next";
    std::string before = fmt::format("# of November\nratchet 600 40 {}\n", hex);
    std::string after = fmt::format("# of November\nratchet 600 41 {}\n", next);
};

TEST_CASE_FIXTURE(
    ratchet_file_fixture, "a file is replaced, with its mode, and only where it is due")
{
    struct stat old = {};
    REQUIRE(::stat(path.c_str(), &old) == 0);
    CHECK(rewrite_ratchets(path, 600s, 40).done);
    struct stat now = {};
    REQUIRE(::stat(path.c_str(), &now) == 0);
    CHECK(now.st_ino == old.st_ino);

    CHECK(rewrite_ratchets(path, 600s, 41).done);
    CHECK(text() == after);
    REQUIRE(::stat(path.c_str(), &now) == 0);
    CHECK(now.st_ino != old.st_ino);
    CHECK(now.st_mode == old.st_mode);
    CHECK(!fs::exists(other));
}

TEST_CASE_FIXTURE(ratchet_file_fixture, "the rest of a killed process is taken over")
{
    folder.write("tickets.next", "ratchet 600 41 9009c2");
    CHECK(text() == before); // Valid, whatever the other has written.
    CHECK(rewrite_ratchets(path, 600s, 41).done);
    CHECK(text() == after);
    CHECK(!fs::exists(other));
}

TEST_CASE_FIXTURE(ratchet_file_fixture, "nothing is written to a file that was there before")
{
    folder.write("tickets.next", ""); // As one that another user has made, and has open.
    unique_fd const reading{::open(other.c_str(), O_RDONLY | O_CLOEXEC)};
    CHECK(rewrite_ratchets(path, 600s, 41).done);
    CHECK(text() == after);
    struct stat seen = {};
    REQUIRE(::fstat(reading.get(), &seen) == 0);
    CHECK(seen.st_size == 0);
    CHECK(seen.st_nlink == 0);
}

TEST_CASE_FIXTURE(ratchet_file_fixture, "a folder in which each user may replace files is refused")
{
    fs::permissions(folder.path(), fs::perms{0777});
    for (file_rewriting const& refused :
         {rewrite_ratchets(path, 600s, 41), prove_rewriting(path)}) {
        CHECK(!refused.done);
        CHECK(
            refused.text ==
            fmt::format(
                "every user of this machine may replace files in {}", folder.path().string()));
        CHECK(refused.cure.find("chmod o-w") != std::string::npos);
    }
    CHECK(text() == before);
    fs::permissions(folder.path(), fs::perms{01777});
    CHECK(rewrite_ratchets(path, 600s, 41).done);
}

TEST_CASE_FIXTURE(ratchet_file_fixture, "a state that is too far behind is named by its line")
{
    file_rewriting const refused =
        rewrite_ratchets(path, 600s, 41 + limits::ticket_ratchet_steps_max);
    CHECK(!refused.done);
    CHECK(!refused.is_busy);
    CHECK(refused.text.starts_with(fmt::format("{}:2: this state is 100001 epochs old", path)));
    CHECK(!refused.cure.empty());
    CHECK(text() == before);
}

TEST_CASE_FIXTURE(ratchet_file_fixture, "one process writes at a time")
{
    folder.write("tickets.next", "");
    unique_fd const writing{::open(other.c_str(), O_RDWR | O_CLOEXEC)};
    struct flock whole = {};
    whole.l_type = F_WRLCK;
    REQUIRE(::fcntl(writing.get(), F_OFD_SETLK, &whole) == 0);
    file_rewriting const refused = rewrite_ratchets(path, 600s, 41);
    CHECK(!refused.done);
    CHECK(refused.is_busy);
    CHECK(refused.text == fmt::format("another process holds the lock of {}", other));
    CHECK(!refused.cure.empty());
    CHECK(text() == before);
    CHECK(fs::exists(other));
    CHECK(prove_rewriting(path).done);
}

TEST_CASE_FIXTURE(ratchet_file_fixture, "a link is not replaced")
{
    std::string const link = folder.path() / "link";
    fs::create_symlink("tickets", link);
    for (file_rewriting const& refused :
         {rewrite_ratchets(link, 600s, 41), prove_rewriting(link)}) {
        CHECK(!refused.done);
        CHECK(refused.text == fmt::format("cannot replace {}, which is a symbolic link", link));
        CHECK(!refused.cure.empty());
    }
    CHECK(text() == before);
}

TEST_CASE_FIXTURE(ratchet_file_fixture, "a file that is not there, or too large, is an error")
{
    CHECK(!rewrite_ratchets(folder.path() / "none", 600s, 41).done);
    CHECK(!prove_rewriting(folder.path() / "none").done);
    folder.write("tickets", std::string(100'000, '#'));
    CHECK(!rewrite_ratchets(path, 600s, 41).done);
}

TEST_CASE_FIXTURE(ratchet_file_fixture, "a folder with something in the way is an error")
{
    fs::create_directory(other);
    for (file_rewriting const& refused :
         {rewrite_ratchets(path, 600s, 41), prove_rewriting(path)}) {
        CHECK(!refused.done);
        CHECK(refused.text.starts_with(fmt::format("cannot make {}: ", other)));
    }
    CHECK(text() == before);
}

TEST_CASE_FIXTURE(ratchet_file_fixture, "a proof leaves no trace")
{
    CHECK(prove_rewriting(path).done);
    CHECK(text() == before);
    CHECK(!fs::exists(other));
}

} // namespace
} // namespace cleat::app::ratchet_file_test
