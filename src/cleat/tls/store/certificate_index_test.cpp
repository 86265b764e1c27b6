#include <cleat/core/temporary_folder_for_tests.hpp>
#include <cleat/tls/store/certificate_index.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

namespace cleat::tls::certificate_index_test {
namespace {

using names = std::vector<std::string>;

constexpr certificate_stamps stamps{11, 12};

/// A store with two certificates, and its index.
struct index_fixture
{
    index_fixture()
    {
        names const all{"a.example", "*.b.example"};
        certificate_summary summary;
        summary.digest.fill(std::byte{7});
        summary.valid_until = 1'900'000'000;
        summary.lifetime = 7'776'000;
        summary.signature = 5;
        summary.key_bits = 256;
        summary.type = key_type::ecdsa_p384;
        store.add({{"one.pem", "/keys/one"}, 0, summary, all, stamps});
        store.add({{"/srv/two.pem", ""}, 0, {}, {}, {21, 21}});
        store.add({{"/srv/new.pem", ""}, 0, {}, {}, {}}); // Without stamps.
        store.seal();
        REQUIRE_FALSE(write_index(store, path));
    }

    certificate_index read()
    {
        fault.clear();
        return certificate_index::read(path, ::geteuid(), fault);
    }
    [[nodiscard]] std::string bytes() const
    {
        std::ostringstream all;
        all << std::ifstream{path}.rdbuf();
        return all.str();
    }

    temporary_folder folder;
    std::string path = folder.path() / "index";
    certificate_store store{"/srv"};
    std::string fault;
};

std::optional<scanned_certificate> recalled(
    certificate_index const& index, certificate_paths const& paths,
    certificate_stamps const& known = stamps, std::string const& working_folder = "/srv")
{
    scanned_certificate found;
    return index.recall(paths, working_folder, known, found) ? std::optional{found} : std::nullopt;
}

} // namespace

TEST_CASE_FIXTURE(index_fixture, "an index remembers what a store has")
{
    certificate_index const index = read();
    CHECK(fault.empty());
    CHECK(index.size() == 2);
    std::optional<scanned_certificate> const found = recalled(index, {"one.pem", "/keys/one"});
    REQUIRE(found);
    CHECK(found->summary.digest == store.summary(0).digest);
    CHECK(found->summary.valid_until == 1'900'000'000);
    CHECK(found->summary.lifetime == 7'776'000);
    CHECK(found->summary.signature == 5);
    CHECK(found->summary.key_bits == 256);
    CHECK(found->summary.type == key_type::ecdsa_p384);
    CHECK(found->names == names{"a.example", ".b.example"});
    CHECK(recalled(index, {"/srv/one.pem", "/keys/one"}));
    CHECK(recalled(index, {"two.pem", ""}, {21, 21}));
}

TEST_CASE_FIXTURE(index_fixture, "other files, and files that have changed, are not recalled")
{
    certificate_index const index = read();
    CHECK_FALSE(recalled(index, {"one.pem", "/keys/one"}, {11, 13}));
    CHECK_FALSE(recalled(index, {"one.pem", "/keys/one"}, {13, 12}));
    CHECK_FALSE(recalled(index, {"one.pem", ""}));
    CHECK_FALSE(recalled(index, {"one.pem", "/keys/one"}, stamps, "/elsewhere"));
    CHECK_FALSE(recalled(index, {"new.pem", ""}, {}));
}

TEST_CASE_FIXTURE(index_fixture, "a certificate with an OCSP response is read at every start")
{
    certificate_store with_response{"/srv"};
    with_response.add({{"one.pem", "", "one.ocsp"}, 0, {}, {}, stamps, {}});
    with_response.add({{"two.pem", ""}, 0, {}, {}, stamps, {}});
    with_response.seal();
    REQUIRE_FALSE(write_index(with_response, path));
    certificate_index const index = read();
    CHECK(index.size() == 1);
    CHECK_FALSE(recalled(index, {"one.pem", "", "one.ocsp"}));
    CHECK_FALSE(recalled(index, {"one.pem", ""}));
    CHECK_FALSE(recalled(index, {"two.pem", "", "two.ocsp"}));
    CHECK(recalled(index, {"two.pem", ""}));
}

TEST_CASE_FIXTURE(index_fixture, "no file is an empty index, without a fault")
{
    std::filesystem::remove(path);
    CHECK(read().size() == 0);
    CHECK(fault.empty());
}

TEST_CASE_FIXTURE(index_fixture, "a file that is cut short, at any byte, or longer is not believed")
{
    std::string const whole = bytes();
    for (std::size_t size = 0; size < whole.size(); ++size) {
        std::ofstream{path} << whole.substr(0, size);
        REQUIRE(read().size() == 0);
        REQUIRE_FALSE(fault.empty());
    }
    std::ofstream{path} << whole << '\0';
    CHECK(read().size() == 0);
    CHECK_FALSE(fault.empty());
}

TEST_CASE_FIXTURE(index_fixture, "a file with any other byte is not believed")
{
    std::string const whole = bytes();
    for (std::size_t place = 0; place < whole.size(); ++place) {
        std::string other = whole;
        other[place] = static_cast<char>(other[place] ^ 1);
        std::ofstream{path} << other;
        REQUIRE(read().size() == 0);
        REQUIRE_FALSE(fault.empty());
    }
}

TEST_CASE_FIXTURE(
    index_fixture, "a file that others may write, and no file at all, is not believed")
{
    ::chmod(path.c_str(), 0664);
    CHECK(read().size() == 0);
    CHECK(fault == "another user may have written it");
    ::chmod(path.c_str(), 0602);
    CHECK(read().size() == 0);
    ::chmod(path.c_str(), 0600);
    CHECK(read().size() == 2);
    std::filesystem::remove(path);
    std::filesystem::create_directory(path);
    CHECK(read().size() == 0);
    CHECK(fault == "it is no regular file");
}

TEST_CASE_FIXTURE(
    index_fixture, "the file of another user is not believed" * doctest::skip(::geteuid() != 0))
{
    constexpr uid_t other = 12345;
    REQUIRE(::chown(path.c_str(), other, 0) == 0);
    CHECK(read().size() == 0);
    CHECK(fault == "another user may have written it");
    fault.clear();
    CHECK(certificate_index::read(path, other, fault).size() == 2);
}

TEST_CASE_FIXTURE(index_fixture, "names that no certificate can have are not believed")
{
    for (std::string const& name :
         {std::string(200, 'b'), std::string{"a b"}, std::string{"-*.a"}}) {
        certificate_store forged{"/srv"};
        names const all{name};
        forged.add({{"/srv/one.pem", ""}, 0, {}, all, {1, 1}});
        forged.seal();
        REQUIRE_FALSE(write_index(forged, path));
        CHECK_MESSAGE(read().size() == 0, name);
        CHECK_FALSE(fault.empty());
    }
}

TEST_CASE_FIXTURE(index_fixture, "an index is replaced as a whole, and for its owner only")
{
    certificate_store const empty{"/srv"};
    REQUIRE_FALSE(write_index(empty, path));
    CHECK(read().size() == 0);
    CHECK(fault.empty());
    struct stat facts = {};
    REQUIRE(::stat(path.c_str(), &facts) == 0);
    CHECK((facts.st_mode & 0777) == 0600);
    CHECK_FALSE(std::filesystem::exists(path + ".new"));
    CHECK(write_index(empty, folder.path() / "nowhere" / "index"));
}

} // namespace cleat::tls::certificate_index_test
