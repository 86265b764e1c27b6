#include <cleat/core/temporary_folder_for_tests.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/store/certificate_collection.hpp>
#include <cleat/tls/store/file_text.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <poll.h>

namespace cleat::tls::certificate_collection_test {
namespace {

using made_collection = std::shared_ptr<certificate_collection const>;
using texts = std::vector<std::string>;

/// A folder of certificates, and a spec that names it.
struct sites
{
    sites() { spec.folders.push_back({.path = folder.path()}); }

    // Writes a certificate for these names to a file.
    void put(
        std::string const& file, std::vector<std::string> const& names,
        key_type type = key_type::ecdsa_p256) const
    {
        test_identity const made = make_identity({.type = type, .names = names});
        folder.write(file, made.certificate_pem + made.key_pem);
    }

    [[nodiscard]] std::string path(std::string const& file) const { return folder.path() / file; }

    made_collection read(certificate_collection const* before = nullptr)
    {
        mistakes.clear();
        warnings.clear();
        spec.on_warning = [this](std::string_view finding) { warnings.emplace_back(finding); };
        return read_collection(spec, before, mistakes);
    }

    // The file whose certificate a name gets.
    static std::string file_for(certificate_collection const& all, std::string_view name)
    {
        candidates const found = all.set.find(name);
        return found.empty() ? std::string{} : name_of(all, found.front().number);
    }

    static std::string default_of(certificate_collection const& all)
    {
        return name_of(all, all.set.defaults().front().number);
    }

    static std::string name_of(certificate_collection const& all, certificate_store::number which)
    {
        return std::filesystem::path{all.store.origin(which)}.filename().string();
    }

    // A file that has just changed is read again: its stamp is not known. Whether it is depends on
    // the clock alone.
    void wait_for_stamps() const
    {
        for (auto const& each : std::filesystem::recursive_directory_iterator{folder.path()})
            while (each.is_regular_file() && stamp_of(each.path()) == 0)
                static_cast<void>(::poll(nullptr, 0, 20));
    }

    temporary_folder folder;
    certificate_store_spec spec;
    texts mistakes;
    texts warnings;
};

} // namespace

TEST_CASE_FIXTURE(sites, "a folder's files are found by the names in their certificates")
{
    put("a.pem", {"a.test", "*.a.test"});
    put("b.pem", {"b.test"});
    put("below/c.pem", {"c.test"});
    put(".hidden.pem", {"hidden.test"});
    made_collection const flat = read();
    REQUIRE(flat);
    CHECK(mistakes.empty());
    CHECK(flat->read == 2);
    CHECK(file_for(*flat, "www.a.test") == "a.pem");
    CHECK(file_for(*flat, "b.test") == "b.pem");
    CHECK(file_for(*flat, "c.test").empty());
    CHECK(default_of(*flat) == "a.pem");
    CHECK(flat->changes.empty());

    spec.folders.front().recursive = true;
    spec.folders.front().glob = "[bc].pem";
    made_collection const deep = read();
    REQUIRE(deep);
    CHECK(deep->store.size() == 2);
    CHECK(file_for(*deep, "c.test") == "c.pem");
    CHECK(default_of(*deep) == "b.pem");
}

TEST_CASE_FIXTURE(
    sites, "the later file serves a name that two have, and the last one is the default")
{
    put("a.pem", {"a.test"});
    put("b.pem", {"a.test"});
    made_collection const folders = read();
    REQUIRE(folders);
    CHECK(file_for(*folders, "a.test") == "b.pem");
    REQUIRE(warnings.size() == 1);
    CHECK(warnings.front().find("both answer to a.test") != std::string::npos);

    test_identity const apart = make_identity({.names = {"a.test"}});
    temporary_folder const other;
    other.write("chain", apart.certificate_pem);
    other.write("key", apart.key_pem);
    spec.files.push_back({.chain = path("a.pem")});
    spec.files.push_back({.chain = other.path() / "chain", .private_key = other.path() / "key"});
    made_collection const all = read();
    REQUIRE(all);
    CHECK(all->store.size() == 4);
    CHECK(default_of(*all) == "key"); // Its origin is "chain with key".
}

TEST_CASE_FIXTURE(sites, "every mistake names its file and its cure")
{
    CHECK(read() == nullptr);
    CHECK(mistakes.front().starts_with(folder.path().string() + " has no file that counts"));

    put("a.pem", {"a.test"});
    folder.write("b.pem", "not a certificate");
    folder.write("c.pem", make_identity({.names = {"c.test"}}).certificate_pem); // Without a key.
    std::filesystem::create_symlink("/nonexistent", folder.path() / "d.pem");
    spec.folders.push_back({.path = "/nonexistent"});
    CHECK(read() == nullptr);
    CHECK(mistakes.size() == 1);
    CHECK(mistakes.front().starts_with("cannot read /nonexistent: No such file or directory. "));

    spec.folders.pop_back();
    CHECK(read() == nullptr);
    REQUIRE(mistakes.size() == 3);
    CHECK(mistakes[0].starts_with(path("b.pem") + ": "));
    CHECK(mistakes[1].starts_with(path("c.pem") + ": "));
    CHECK(mistakes[2].starts_with("cannot read " + path("d.pem") + ": No such file"));

    context_spec server;
    server.certificate_store = spec;
    CHECK(find_mistakes(server) == mistakes);
    std::string const expected = mistakes.front() + " (and 2 more: see tls::find_mistakes)";
    CHECK_THROWS_WITH_AS(
        static_cast<void>(read_collection(server, nullptr)), expected.c_str(), spec_error);

    spec = {};
    CHECK(read() == nullptr);
    CHECK(mistakes.front().find("neither folders nor files") != std::string::npos);
}

TEST_CASE_FIXTURE(sites, "settings that cannot go together are mistakes")
{
    put("a.pem", {"a.test"});
    context_spec server;
    server.certificate_store = spec;
    CHECK(find_mistakes(server).empty());
    server.groups = "no such group";
    CHECK(find_mistakes(server).size() == 1);
    server = {};
    server.certificate_store = spec;
    server.certificates.push_back(make_identity({.names = {"b.test"}}).source("b"));
    server.certificate_store->cache = 0;
    REQUIRE(find_mistakes(server).size() == 2);
    CHECK(find_mistakes(server)[0].find("`certificates`") != std::string::npos);
    CHECK(find_mistakes(server)[1].find("cache is 0") != std::string::npos);
    server = {};
    server.role = role::client;
    server.certificate_store = spec;
    CHECK(find_mistakes(server).front().find("only a server") != std::string::npos);
}

TEST_CASE_FIXTURE(sites, "a context without the server's threads refuses a store")
{
    put("a.pem", {"a.test"});
    for (role const each : {role::server, role::client}) {
        context_spec alone;
        alone.role = each;
        alone.certificate_store = spec;
        CHECK_THROWS_WITH_AS(context{alone}, doctest::Contains("only a net::server"), spec_error);
    }
}

TEST_CASE_FIXTURE(sites, "a second reading reads what has changed")
{
    for (char const* name : {"a", "b", "c", "d", "e"})
        put(std::string{name} + ".pem", {std::string{name} + ".test"});
    wait_for_stamps();
    made_collection const first = read();
    REQUIRE(first);
    CHECK(first->read == 5);

    made_collection const same = read(first.get());
    REQUIRE(same);
    CHECK(same->read == 0);
    CHECK(same->changes.empty());
    CHECK(same->set.can_follow(first->set));

    // A folder in front of the others.
    sites in_front;
    in_front.put("z.pem", {"z.test"});
    spec.folders.insert(spec.folders.begin(), in_front.spec.folders.front());
    made_collection const more = read(same.get());
    REQUIRE(more);
    CHECK(more->read == 1);
    CHECK(more->store.size() == 6);
    CHECK(default_of(*more) == "z.pem");
    CHECK(file_for(*more, "b.test") == "b.pem");
    spec.folders.erase(spec.folders.begin());

    put("b.pem", {"b.test", "new.test"});
    put("f.pem", {"f.test"});
    put("e.pem", {"e.test"}, key_type::rsa);
    std::filesystem::remove(path("c.pem"));
    made_collection const next = read(same.get());
    REQUIRE(next);
    CHECK(next->read == 3);
    REQUIRE(next->changes.size() == 3);
    CHECK_FALSE(next->changes[0].has_other_type);
    CHECK(next->changes[1].has_other_type); // e.pem
    CHECK(next->store.size() == 5);
    CHECK(file_for(*next, "new.test") == "b.pem");
    CHECK(file_for(*next, "f.test") == "f.pem");
    CHECK(file_for(*next, "c.test").empty());
    CHECK(file_for(*next, "a.test") == "a.pem");
    CHECK_FALSE(next->set.can_follow(same->set)); // There was no RSA key.
    CHECK(file_for(*first, "c.test") == "c.pem"); // A collection never changes.
}

TEST_CASE_FIXTURE(sites, "a broken file refuses a second reading, unless it is to be skipped")
{
    for (char const* name : {"a", "b", "c"})
        put(std::string{name} + ".pem", {std::string{name} + ".test"});
    made_collection const first = read();
    REQUIRE(first);
    folder.write("b.pem", "not a certificate");
    folder.write("d.pem", "nor this");
    put("c.pem", {"c.test", "new.test"});
    CHECK(read(first.get()) == nullptr);
    CHECK(mistakes.size() == 2);

    spec.skip_broken = true;
    CHECK(read() == nullptr); // The first reading is strict.
    made_collection const next = read(first.get());
    REQUIRE(next);
    CHECK(next->store.size() == 3);
    CHECK(file_for(*next, "b.test") == "b.pem"); // As it was.
    CHECK(file_for(*next, "new.test") == "c.pem");
    REQUIRE(warnings.size() == 2);
    CHECK(warnings[0].starts_with("skipped: " + path("b.pem") + ": "));

    put("b.pem", {"b.test", "repaired.test"});
    folder.write("A.pem", "a new default"); // It comes before a.pem.
    CHECK(read(next.get()) == nullptr);
    std::filesystem::remove(path("A.pem"));
    made_collection const last = read(next.get());
    REQUIRE(last);
    CHECK(file_for(*last, "repaired.test") == "b.pem");
}

TEST_CASE_FIXTURE(sites, "a changed certificate is tried out with the server's settings")
{
    put("a.pem", {"a.test"});
    put("b.pem", {"b.test"});
    made_collection const first = read();
    REQUIRE(first);
    put("b.pem", {"b.test"}, key_type::rsa);
    made_collection const next = read(first.get());
    REQUIRE(next);
    context_spec server;
    server.certificate_store = spec;
    server.version_max = protocol_version::tls_1_2;
    CHECK_NOTHROW(prove_changes(server, *next));
    server.ciphers = "ECDHE-ECDSA-AES128-GCM-SHA256";
    CHECK_THROWS_WITH_AS(
        prove_changes(server, *next), doctest::Contains("b.pem: no TLSv1.2"), spec_error);
}

} // namespace cleat::tls::certificate_collection_test
