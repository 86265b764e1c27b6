#include <cleat/core/limits.hpp>
#include <cleat/core/temporary_folder_for_tests.hpp>
#include <cleat/tls/store/file_text.hpp>

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include <sys/stat.h>

namespace cleat::tls::file_text_test {
namespace {

struct file_fixture
{
    [[nodiscard]] std::string path(char const* name) const { return folder.path() / name; }
    [[nodiscard]] file_text read(char const* name) const { return read_file(path(name)); }

    temporary_folder folder;
};

} // namespace

TEST_CASE_FIXTURE(file_fixture, "a file is read whole, with every byte that it has")
{
    using namespace std::string_view_literals;
    for (std::string_view const text : {""sv, "x"sv, "a\0b\n\0"sv}) {
        folder.write("file", text);
        file_text const found = read("file");
        CHECK(found.fault == file_fault::none);
        CHECK(found.text.view() == text);
    }
}

TEST_CASE_FIXTURE(file_fixture, "a file may be as large as the limit, and no larger")
{
    std::string text(limits::pem_file_max, 'x');
    folder.write("large", text);
    CHECK(read("large").text.view() == text);

    folder.write("too-large", text + 'x');
    file_text const found = read("too-large");
    CHECK(found.fault == file_fault::too_large);
    CHECK(found.text.view().empty());
    CHECK(description(found, "a.pem") == "a.pem is larger than 1 MiB");
    CHECK_FALSE(may_pass(found));
}

TEST_CASE("a file that is longer than the kernel says is read from its beginning")
{
    // The kernel makes this file when it is read, and gives its size as 0.
    char const* const path = "/proc/self/limits";
    struct stat facts = {};
    REQUIRE(::stat(path, &facts) == 0);
    REQUIRE(facts.st_size == 0);
    std::ostringstream expected;
    expected << std::ifstream{path}.rdbuf();

    file_text const found = read_file(path);
    CHECK(found.fault == file_fault::none);
    CHECK(found.text.view() == expected.str());
}

TEST_CASE_FIXTURE(file_fixture, "a file that is not there is named with the system's reason")
{
    file_text const found = read("none");
    CHECK(found.fault == file_fault::error);
    CHECK(found.reason == boost::system::errc::no_such_file_or_directory);
    CHECK(description(found, "a.pem") == "cannot read a.pem: No such file or directory");
    CHECK(cure(found) == "Check the path and who may read it.");
    CHECK_FALSE(may_pass(found));
}

TEST_CASE_FIXTURE(file_fixture, "a directory is no file")
{
    file_text const found = read_file(folder.path());
    CHECK(found.fault == file_fault::is_directory);
    CHECK(description(found, "pems") == "pems is a directory");
}

TEST_CASE_FIXTURE(file_fixture, "a FIFO and a device are refused, and not waited for")
{
    REQUIRE(::mkfifo(path("fifo").c_str(), 0600) == 0);
    for (std::string const& each : {path("fifo"), std::string{"/dev/zero"}}) {
        file_text const found = read_file(each);
        CHECK(found.fault == file_fault::not_a_regular_file);
        CHECK(description(found, "a.pem") == "a.pem is a FIFO, a socket or a device");
    }
}

TEST_CASE("a lack of resources may pass, and other errors stay")
{
    using namespace boost::system;
    auto const failed = [](errc::errc_t why) {
        return file_text{
            .text = {}, .fault = file_fault::error, .reason = errc::make_error_code(why)};
    };
    for (errc::errc_t const why :
         {errc::too_many_files_open, errc::too_many_files_open_in_system, errc::not_enough_memory,
          errc::interrupted, errc::resource_unavailable_try_again})
        CHECK(may_pass(failed(why)));
    for (errc::errc_t const why : {errc::permission_denied, errc::io_error, errc::not_a_directory})
        CHECK_FALSE(may_pass(failed(why)));
    CHECK(cure(failed(errc::too_many_files_open)).find("ulimit -n") != std::string_view::npos);
}

TEST_CASE("a secret text leaves nothing in the text that it is moved from")
{
    for (std::string const& text : {std::string{"short"}, std::string(100, 'x')}) {
        secret_text from{text};
        secret_text first{std::move(from)};
        CHECK(first.view() == text);
        CHECK(from.view().empty()); // NOLINT: it is what the test is about
        secret_text second{"another"};
        second = std::move(first);
        CHECK(second.view() == text);
        CHECK(first.view().empty()); // NOLINT: as above
    }
}

TEST_CASE("a stamp changes with the file, and is none for a while after a change")
{
    temporary_folder const folder;
    std::string const path = folder.path() / "a.pem";
    std::time_t const later = std::time(nullptr) + 60;
    CHECK(stamp_of(path, later) == 0);
    folder.write("a.pem", "one");
    CHECK(stamp_of(path) == 0);
    CHECK(read_file(path).stamp == 0);
    file_stamp const first = stamp_of(path, later);
    CHECK(first != 0);
    CHECK(first == stamp_of(path, later));
    folder.write("a.pem", "other");
    file_stamp const second = stamp_of(path, later);
    CHECK(second != first);
    folder.write("b.pem", "other");
    std::filesystem::rename(folder.path() / "b.pem", path);
    CHECK(stamp_of(path, later) != second);
}

} // namespace cleat::tls::file_text_test
