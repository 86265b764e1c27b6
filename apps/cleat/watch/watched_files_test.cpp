#include "watch/file_watch.hpp"
#include "watch/watched_files.hpp"

#include <cleat/core/temporary_folder_for_tests.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <time.h>
#include <unistd.h>

namespace cleat::app::watched_files_test {
namespace {

namespace fs = std::filesystem;
using names = std::set<std::string>;

// Folders and links of a test.
struct tree
{
    void file(std::string const& path, std::string const& text = "x") const
    {
        fs::create_directories((root / path).parent_path());
        std::ofstream{root / path} << text;
    }
    void link(std::string const& path, std::string const& target) const
    {
        fs::create_directories((root / path).parent_path());
        fs::remove(root / path);
        fs::create_symlink(target, root / path);
    }
    // The watched names in a folder.
    [[nodiscard]] names in(watched_files const& files, std::string const& path) const
    {
        auto const found = files.find((root / path).string());
        return found == files.end() ? names{} : found->second.names;
    }
    [[nodiscard]] watched_files watch(std::string const& path) const
    {
        watched_files files;
        add_path(files, (root / path).string());
        return files;
    }

    temporary_folder folder;
    // The system's folder for temporary ones may be a link itself.
    fs::path root = fs::canonical(folder.path());
};

} // namespace

TEST_CASE("a plain file is watched in its folder, whether it is there or not")
{
    tree const t;
    watched_files const files = t.watch("site.pem");
    REQUIRE(files.size() == 1);
    CHECK(files.begin()->first == t.root.string());
    CHECK(files.begin()->second.names == names{"site.pem"});
}

TEST_CASE("certbot's link is watched, and the file that it leads to")
{
    tree const t;
    t.file("archive/site/cert1.pem");
    t.link("live/site/cert.pem", "../../archive/site/cert1.pem");
    watched_files const files = t.watch("live/site/cert.pem");
    CHECK(t.in(files, "live/site") == names{"cert.pem"});
    CHECK(t.in(files, "archive/site") == names{"cert1.pem"});
}

TEST_CASE("the link that Kubernetes swaps is in the middle")
{
    tree const t;
    t.file("certs/..2026_1/tls.crt");
    t.link("certs/..data", "..2026_1");
    t.link("certs/tls.crt", "..data/tls.crt");
    watched_files const files = t.watch("certs/tls.crt");
    CHECK(t.in(files, "certs") == names{"..data", "tls.crt"});
    CHECK(t.in(files, "certs/..2026_1") == names{"tls.crt"});
}

TEST_CASE("links in a circle end")
{
    tree const t;
    t.link("a", "b");
    t.link("b", "a");
    CHECK(!t.watch("a").empty());
}

TEST_CASE("a configuration's files are watched, and every name in pem-dir")
{
    tree const t;
    t.file("dir/one.pem");
    t.file("dir/sub/two.pem");
    t.file("dir/.hidden/three.pem");
    t.file("elsewhere/four.pem");
    t.link("dir/four.pem", "../elsewhere/four.pem");
    config settings;
    settings.file = (t.root / "cleat.conf").string();
    settings.client_verify_ca.value = (t.root / "ca/ca.pem").string();
    settings.deny_from.value.files = {(t.root / "lists/denied").string()};
    t.file("crls/ca.crl");
    settings.client_verify_crl.value = (t.root / "crls").string();
    settings.client_allow_file.value = (t.root / "rules/clients").string();
    settings.ticket_secret.value = (t.root / "secrets/tickets").string();
    pem_file& pem = settings.pem_files.emplace_back();
    pem.cert.value = (t.root / "site.crt").string();
    pem.private_key.value = (t.root / "keys/site.key").string();
    settings.pem_dirs.push_back({(t.root / "dir").string(), {}});
    settings.pem_dir_recursive.value = true;
    watched_files const files = find_files(settings).files;
    CHECK(files.at(t.root.string()).names == names{"cleat.conf", "site.crt"});
    CHECK(t.in(files, "keys") == names{"site.key"});
    CHECK(t.in(files, "ca") == names{"ca.pem"});
    CHECK(t.in(files, "lists") == names{"denied"});
    CHECK(files.at((t.root / "crls").string()).all);
    CHECK(t.in(files, "rules") == names{"clients"});
    CHECK(t.in(files, "secrets") == names{"tickets"});
    CHECK(files.at((t.root / "dir").string()).all);
    CHECK(t.in(files, "dir") == names{"four.pem"});
    CHECK(t.in(files, "elsewhere") == names{"four.pem"});
    CHECK(files.at((t.root / "dir/sub").string()).all);
    CHECK(!files.contains((t.root / "dir/.hidden").string()));
}

TEST_CASE("a name is needed by the configuration's own path, over links and dots")
{
    tree const t;
    t.file("archive/site/cert1.pem");
    t.link("live/site/cert.pem", "../../archive/site/cert1.pem");
    std::string const way = (t.root / "live/site/../site/cert.pem").string();
    watched_files files;
    add_path(files, way);
    CHECK(files.at((t.root / "live/site").string()).ways == names{way});
    CHECK(files.at((t.root / "archive/site").string()).ways == names{way});
}

TEST_CASE("the status changes with each change that matters, and only then")
{
    tree const t;
    t.file("dir/one.pem");
    watched_files files = t.watch("site.pem");
    files[(t.root / "dir").string()].all = true;
    auto const status_of = [](watched_files const& watched) {
        std::size_t sum = 0;
        for (folder_status const& each : statuses_of(watched))
            sum = sum * 31 + each.value();
        return sum;
    };
    std::set<std::size_t> seen{status_of(files)};
    CHECK(seen.contains(status_of(files)));
    t.file("site.pem", "one");
    CHECK(seen.insert(status_of(files)).second);
    t.file("site.pem", "another");
    CHECK(seen.insert(status_of(files)).second);
    t.file("unrelated", "x");
    CHECK(seen.contains(status_of(files)));
    t.file("dir/two.pem");
    CHECK(seen.insert(status_of(files)).second);
    fs::rename(t.root / "dir/two.pem", t.root / "dir/three.pem");
    CHECK(seen.insert(status_of(files)).second);
    fs::remove(t.root / "dir/one.pem");
    CHECK(seen.insert(status_of(files)).second);
}

TEST_CASE("a folder that comes between the listing and the watch is not missed")
{
    tree const t;
    t.file("dir/one.pem");
    config settings;
    settings.pem_dirs.push_back({(t.root / "dir").string(), {}});
    settings.pem_dir_recursive.value = true;
    timespec before{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &before);
    watch_plan plan = find_files(settings);
    file_watch watch;
    REQUIRE_FALSE(watch.watch(plan.files));
    // A minute: a folder's time may be later than the coarse clock at its end, since Linux 6.13.
    watch.look_back({before.tv_sec + 60, 0});
    CHECK_FALSE(watch.take_changes().any());

    plan = find_files(settings);
    t.file("dir/sub/two.pem");
    REQUIRE_FALSE(watch.watch(plan.files));
    watch.look_back(before);
    CHECK_FALSE(watch.take_changes().is_complete);
    CHECK_FALSE(watch.take_changes().any()); // Once.
}

TEST_CASE("a folder that the process may not read any more has no status, and others keep theirs")
{
    if (::geteuid() != 0)
        return;
    tree const t;
    t.file("closed/site.pem");
    t.file("closed/dir/one.pem");
    t.file("open/site.pem");
    watched_files files;
    for (char const* name : {"closed/site.pem", "open/site.pem"})
        add_path(files, (t.root / name).string());
    files[(t.root / "closed/dir").string()].all = true;
    for (fs::path const& each : {t.root, t.root / "open"})
        fs::permissions(each, fs::perms{0755});
    fs::permissions(t.root / "closed", fs::perms{0700});
    std::vector<folder_status> const before = statuses_of(files);
    REQUIRE(::seteuid(65'534) == 0); // As cleat does after its start.
    std::vector<folder_status> const after = statuses_of(files);
    bool const closed = is_closed((t.root / "closed").string());
    bool const open = !is_closed((t.root / "open").string());
    REQUIRE(::seteuid(0) == 0);
    CHECK(closed);
    CHECK(open);
    REQUIRE(before.size() == 3);
    CHECK((before[0] && before[1] && before[2]));
    CHECK(after == std::vector<folder_status>{std::nullopt, std::nullopt, before[2]});
}

} // namespace cleat::app::watched_files_test
