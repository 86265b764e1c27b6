#include "privileged/trusted_path.hpp"

#include <cleat/core/temporary_folder_for_tests.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cleat::app::trusted_path_test {
namespace {

namespace fs = std::filesystem;

constexpr uid_t another_user = 65'534;

// A file system of its own, whose root is a temporary folder, and whose root user is who runs the
// test.
struct path_fixture
{
    path_fixture()
    {
        folder.write("etc/keys/site.pem", "key");
        mode("", 0755);
        mode("etc", 0755);
        mode("etc/keys", 0700);
        mode("etc/keys/site.pem", 0600);
    }

    [[nodiscard]] std::string path(std::string const& name) const { return folder.path() / name; }
    void mode(std::string const& name, mode_t bits) const
    {
        REQUIRE(::chmod(path(name).c_str(), bits) == 0);
    }
    void link(std::string const& target, std::string const& name) const
    {
        fs::create_symlink(target, path(name));
    }
    // Only root can.
    void give(std::string const& name) const
    {
        REQUIRE(::lchown(path(name).c_str(), another_user, another_user) == 0);
    }
    static bool is_root() { return ::geteuid() == 0; }

    static std::string text_of(file_opening const& opened)
    {
        if (!opened.fd)
            return to_string(opened);
        std::string text(100, '\0');
        ssize_t const size = ::read(opened.fd.get(), text.data(), text.size());
        text.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
        return text;
    }
    [[nodiscard]] std::string read(std::string const& name) const
    {
        return text_of(paths.open_file(name));
    }
    [[nodiscard]] bool refuses(std::string const& name, std::string const& why) const
    {
        file_opening const opened = paths.open_file(name);
        CAPTURE(to_string(opened));
        CHECK_FALSE(opened.fd);
        CHECK(opened.reason == boost::system::errc::permission_denied);
        return opened.refusal.find(why) != std::string::npos;
    }

    temporary_folder folder;
    trusted_paths paths{
        unique_fd{::open(folder.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)}, ::geteuid()};
};

} // namespace

TEST_CASE_FIXTURE(path_fixture, "a file whose folders are all root's is opened for reading")
{
    CHECK(read("/etc/keys/site.pem") == "key");
    CHECK(read("//etc/./keys//site.pem") == "key");
    CHECK(read("/etc/keys/../keys/site.pem") == "key");
    unique_fd const fd = std::move(paths.open_file("/etc/keys/site.pem").fd);
    CHECK((::fcntl(fd.get(), F_GETFL) & O_ACCMODE) == O_RDONLY);
    CHECK((::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE_FIXTURE(path_fixture, "links of root's are followed, as certbot has them")
{
    folder.write("etc/archive/one.pem", "one");
    mode("etc/archive", 0755);
    fs::create_directory(path("etc/live"));
    mode("etc/live", 0755);
    link("../archive/one.pem", "etc/live/relative.pem");
    link("/etc/archive/one.pem", "etc/live/absolute.pem");
    link("live", "etc/now");
    CHECK(read("/etc/live/relative.pem") == "one");
    CHECK(read("/etc/live/absolute.pem") == "one");
    CHECK(read("/etc/now/relative.pem") == "one");
}

TEST_CASE_FIXTURE(path_fixture, "nothing leads out of the root")
{
    CHECK(read("/../../etc/keys/site.pem") == "key");
    link("../../../../../../../../etc/keys/site.pem", "etc/up");
    CHECK(read("/etc/up") == "key");
}

TEST_CASE_FIXTURE(path_fixture, "a folder that others may write to is refused, and is named")
{
    for (mode_t const bits : {0770U, 0707U}) {
        mode("etc/keys", bits);
        CHECK(
            refuses("/etc/keys/site.pem", "write to the folder /etc/keys (chmod go-w /etc/keys)"));
    }
    mode("etc/keys", 01777); // As /tmp, which programs need as it is.
    CHECK(refuses("/etc/keys/site.pem", "to the folder /etc/keys (move the file to a folder of"));
    mode("etc/keys", 0755);
    mode("etc", 0775);
    CHECK(refuses("/etc/keys/site.pem", "the folder /etc ("));
    mode("etc", 0755);
    mode("", 0777);
    CHECK(refuses("/etc/keys/site.pem", "the folder / ("));
}

TEST_CASE_FIXTURE(path_fixture, "also where only a link or two dots lead through it")
{
    folder.write("open/site.pem", "x");
    mode("open", 0777);
    link("../open/site.pem", "etc/out");
    CHECK(refuses("/etc/out", "the folder /etc/../open"));
    CHECK(refuses("/open/../etc/keys/site.pem", "the folder /open"));
}

TEST_CASE_FIXTURE(path_fixture, "a link that another user has planted is not followed")
{
    if (!is_root())
        return;
    link("/etc/keys/site.pem", "etc/planted");
    give("etc/planted");
    CHECK(refuses("/etc/planted", "the symbolic link /etc/planted belongs to user 65534"));
    fs::create_directory_symlink("keys", path("etc/way"));
    give("etc/way");
    CHECK(refuses("/etc/way/site.pem", "the symbolic link /etc/way"));
}

TEST_CASE_FIXTURE(path_fixture, "a folder of another user is refused, the file may be one's")
{
    if (!is_root())
        return;
    give("etc/keys/site.pem");
    CHECK(read("/etc/keys/site.pem") == "key");
    give("etc/keys");
    CHECK(refuses("/etc/keys/site.pem", "the folder /etc/keys belongs to user 65534"));
    CHECK_FALSE(paths.open_folder("/etc/keys").fd);
    CHECK_FALSE(paths.open_log("/etc/keys/log").fd);
}

TEST_CASE_FIXTURE(path_fixture, "only a regular file is opened, and a FIFO is not waited for")
{
    REQUIRE(::mkfifo(path("etc/fifo").c_str(), 0600) == 0);
    CHECK(refuses("/etc/fifo", "/etc/fifo is a FIFO, a socket or a device"));
    CHECK(paths.open_file("/etc/keys").reason == boost::system::errc::is_a_directory);
    CHECK(paths.open_file("/etc/keys/..").reason == boost::system::errc::is_a_directory);
    CHECK(paths.open_file("/").reason == boost::system::errc::is_a_directory);
    CHECK(paths.open_file("/etc/keys/site.pem/x").reason == boost::system::errc::not_a_directory);
}

TEST_CASE_FIXTURE(path_fixture, "a file that is missing, and links without an end")
{
    file_opening const missing = paths.open_file("/etc/none/site.pem");
    CHECK(missing.reason == boost::system::errc::no_such_file_or_directory);
    CHECK(missing.refusal == "/etc/none");
    link("b", "etc/a");
    link("a", "etc/b");
    CHECK(paths.open_file("/etc/a").reason == boost::system::errc::too_many_symbolic_link_levels);
}

TEST_CASE_FIXTURE(path_fixture, "the configuration itself is root's alone to write")
{
    folder.write("etc/cleat.conf", "x");
    mode("etc/cleat.conf", 0644);
    CHECK(text_of(paths.open_own_file("/etc/cleat.conf")) == "x");
    mode("etc/cleat.conf", 0664);
    CHECK(
        text_of(paths.open_own_file("/etc/cleat.conf")).find("may write to /etc/cleat.conf") !=
        std::string::npos);
    mode("etc/cleat.conf", 0644);
    if (!is_root())
        return;
    give("etc/cleat.conf");
    CHECK_FALSE(paths.open_own_file("/etc/cleat.conf").fd);
}

TEST_CASE_FIXTURE(path_fixture, "a folder is opened for listing, by its link too")
{
    link("keys", "etc/link");
    for (char const* name : {"/etc/keys", "/etc/keys/", "/etc/link"}) {
        file_opening const opened = paths.open_folder(name);
        REQUIRE(opened.fd);
        struct stat about = {};
        REQUIRE(::fstat(opened.fd.get(), &about) == 0);
        CHECK(S_ISDIR(about.st_mode));
        CHECK((::fcntl(opened.fd.get(), F_GETFL) & O_PATH) == 0);
    }
    CHECK(paths.open_folder("/etc/keys/site.pem").reason == boost::system::errc::not_a_directory);
}

TEST_CASE_FIXTURE(path_fixture, "below a pem-dir a file may be a link, and a folder may not")
{
    link("keys", "etc/link");
    CHECK(paths.open_file("/etc/link/site.pem", 1).fd); // The pem-dir itself is the link.
    CHECK_FALSE(paths.open_file("/etc/link/site.pem", 2).fd);
    CHECK(is_denied(paths.open_file("/etc//./link/site.pem", 2).reason));
    CHECK(paths.open_folder("/etc/link", 0).fd);
    CHECK_FALSE(paths.open_folder("/etc/link", 1).fd);
    link("keys/site.pem", "etc/one.pem");
    link("link/site.pem", "etc/two.pem"); // Where it leads is root's choice.
    for (char const* name : {"/etc/one.pem", "/etc/two.pem"})
        CHECK_MESSAGE(paths.open_file(name, 1).fd, name);
    CHECK(paths.open_file("/etc/link", 1).reason == boost::system::errc::is_a_directory);
}

namespace {

// The visited names, each with the number of its folder.
struct visited
{
    [[nodiscard]] error_code operator()(int folder, std::string const& name)
    {
        struct stat facts = {};
        REQUIRE(::fstat(folder, &facts) == 0);
        names.emplace_back(facts.st_ino, name);
        return failure;
    }

    std::vector<std::pair<ino_t, std::string>> names{};
    error_code failure{};
};

ino_t number_of(std::string const& path)
{
    struct stat facts = {};
    REQUIRE(::stat(path.c_str(), &facts) == 0);
    return facts.st_ino;
}

} // namespace

TEST_CASE_FIXTURE(path_fixture, "every name is visited on which it depends where a path leads")
{
    folder.write("etc/archive/one.pem", "one");
    mode("etc/archive", 0755);
    link("../etc/archive", "etc/now");
    link("../now/one.pem", "etc/keys/link.pem");
    ino_t const etc = number_of(path("etc"));
    ino_t const keys = number_of(path("etc/keys"));
    ino_t const archive = number_of(path("etc/archive"));
    using places = std::vector<std::pair<ino_t, std::string>>;

    visited plain;
    CHECK(!paths.follow("/etc/keys/../keys/site.pem", 0, false, std::ref(plain)).reason);
    CHECK(plain.names == places{{keys, "site.pem"}});
    visited links;
    CHECK(!paths.follow("/etc/keys/link.pem", 0, false, std::ref(links)).reason);
    CHECK(links.names == places{{keys, "link.pem"}, {etc, "now"}, {archive, "one.pem"}});
    visited whole;
    CHECK(!paths.follow("/etc/now", 0, true, std::ref(whole)).reason);
    CHECK(whole.names == places{{etc, "now"}, {archive, ""}});
    visited missing;
    CHECK(!paths.follow("/etc/keys/none/site.pem", 0, false, std::ref(missing)).reason);
    CHECK(missing.names == places{{keys, "none"}});
}

TEST_CASE_FIXTURE(path_fixture, "a path that is not to be trusted is not visited to its end")
{
    visited none;
    CHECK(
        paths.follow("/etc/keys", 0, false, std::ref(none)).reason ==
        boost::system::errc::is_a_directory);
    link("keys", "etc/link");
    CHECK(is_denied(paths.follow("/etc/link", 1, true, std::ref(none)).reason));
    mode("etc/keys", 0777);
    CHECK(is_denied(paths.follow("/etc/keys/none", 0, false, std::ref(none)).reason));
    CHECK(none.names.empty());
    mode("etc/keys", 0700);
    visited failing{.failure = make_error_code(boost::system::errc::no_space_on_device)};
    CHECK(
        paths.follow("/etc/link/site.pem", 0, false, std::ref(failing)).reason ==
        boost::system::errc::no_space_on_device);
    CHECK(failing.names.size() == 1);
}

TEST_CASE_FIXTURE(path_fixture, "a log is appended to, and made where it is missing")
{
    mode("etc/keys", 0755);
    folder.write("etc/keys/old", "before ");
    for (char const* name : {"/etc/keys/old", "/etc/keys/new"}) {
        file_opening const opened = paths.open_log(name);
        REQUIRE(opened.fd);
        CHECK(
            (::fcntl(opened.fd.get(), F_GETFL) & (O_ACCMODE | O_APPEND)) == (O_WRONLY | O_APPEND));
        REQUIRE(::write(opened.fd.get(), "line", 4) == 4);
    }
    CHECK(folder.read("etc/keys/old") == "before line");
    CHECK(folder.read("etc/keys/new") == "line");
}

TEST_CASE_FIXTURE(path_fixture, "a log is no link, no second name of a file, and no device")
{
    link("site.pem", "etc/keys/link");
    fs::create_hard_link(path("etc/keys/site.pem"), path("etc/keys/hard"));
    namespace errc = boost::system::errc;
    CHECK(paths.open_log("/etc/keys/link").reason == errc::too_many_symbolic_link_levels);
    CHECK(paths.open_log("/etc/keys/hard").reason == errc::too_many_links);
    CHECK(paths.open_log("/etc/keys").reason == errc::is_a_directory);
    CHECK(paths.open_log("/etc/keys/..").reason == errc::is_a_directory);
    CHECK(folder.read("etc/keys/site.pem") == "key");
}

} // namespace cleat::app::trusted_path_test
