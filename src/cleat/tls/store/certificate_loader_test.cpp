#include <cleat/core/temporary_folder_for_tests.hpp>
#include <cleat/core/text_for_tests.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/certificates/ocsp_statement_for_tests.hpp>
#include <cleat/tls/store/certificate_loader.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace cleat::tls::certificate_loader_test {
namespace {

/// A store with one certificate, whose key is in a file of its own.
struct loader_fixture
{
    loader_fixture()
    {
        folder.write("site.pem", site.certificate_pem);
        folder.write("site.key", site.key_pem);
        added = add({path("site.pem"), path("site.key")});
    }

    [[nodiscard]] std::string path(char const* name) const { return folder.path() / name; }

    certificate_store::number add(certificate_paths const& paths)
    {
        certificate_on_disk const found = read_from_disk(library, paths, folder.path(), warnings);
        return store.add({.paths = paths, .summary = summary_of(found), .names = found.read.names});
    }

    // The error of loading the certificate once more, or nothing.
    [[nodiscard]] std::optional<load_error> error() const { return error(store, added); }

    [[nodiscard]] std::optional<load_error> error(
        certificate_store const& holder, certificate_store::number certificate) const
    {
        try {
            static_cast<void>(load_certificate(library, holder, certificate));
        } catch (load_error const& failed) {
            return failed;
        }
        return {};
    }

    temporary_folder folder;
    backend::library_state library;
    test_identity site = make_identity({.names = {"site.example"}});
    test_identity other = make_identity({.names = {"site.example"}});
    certificate_store store{folder.path()};
    std::vector<std::string> warnings;
    certificate_store::number added = 0;
};

} // namespace

TEST_CASE_FIXTURE(loader_fixture, "a certificate of the store is loaded from its files")
{
    certificate const found = load_certificate(library, store, added);
    CHECK(X509_cmp(found.leaf.get(), site.certificate.get()) == 0);
    CHECK(X509_check_private_key(found.leaf.get(), found.key.get()) == 1);
    CHECK(found.chain.empty());
    CHECK(found.names == std::vector<std::string>{"site.example"});
    CHECK(found.origin == path("site.pem") + " with " + path("site.key"));
}

TEST_CASE_FIXTURE(loader_fixture, "chain and key may be in one file")
{
    test_identity const issuer = make_identity({.common_name = "issuer", .authority = true});
    test_identity const leaf = make_identity({.names = {"one.example"}, .issuer = &issuer});
    folder.write("one.pem", leaf.certificate_pem + issuer.certificate_pem + leaf.key_pem);
    certificate const found = load_certificate(library, store, add({path("one.pem"), ""}));
    CHECK(X509_cmp(found.leaf.get(), leaf.certificate.get()) == 0);
    REQUIRE(found.chain.size() == 1);
    CHECK(X509_cmp(found.chain.front().get(), issuer.certificate.get()) == 0);
    CHECK(found.origin == path("one.pem"));
}

TEST_CASE_FIXTURE(loader_fixture, "a relative path begins where the program was started")
{
    folder.write("below/site.pem", site.certificate_pem + site.key_pem);
    certificate const found = load_certificate(library, store, add({"below/site.pem", ""}));
    CHECK(X509_cmp(found.leaf.get(), site.certificate.get()) == 0);
    CHECK(found.origin == "below/site.pem");
}

TEST_CASE_FIXTURE(loader_fixture, "the summary has what a log needs of a certificate")
{
    test_identity const rsa = make_identity({.type = key_type::rsa, .valid_to_days = 100 * 365});
    folder.write("rsa.pem", rsa.certificate_pem + rsa.key_pem);
    certificate_summary const& found = store.summary(add({path("rsa.pem"), ""}));
    CHECK(found.type == key_type::rsa);
    CHECK(found.key_bits == 2048);
    CHECK(found.signature == NID_sha256WithRSAEncryption);
    CHECK(found.valid_until == backend::posix_time(X509_get0_notAfter(rsa.certificate.get())));
    CHECK(found.lifetime == 36'501LL * 86'400 + 1);
    CHECK(found.digest != store.summary(added).digest);
}

TEST_CASE_FIXTURE(loader_fixture, "the digest of a certificate changes with each of its texts")
{
    certificate_source const whole{"chain and key", "chain and key", "one.pem"};
    certificate_source const parts{"chain", "key", "two.pem"};
    file_digest const of_parts = source_digest(library, parts);
    CHECK(source_digest(library, whole) == source_digest(library, whole));
    CHECK(source_digest(library, whole) != of_parts);
    CHECK(source_digest(library, {"chain", "another key", "two.pem"}) != of_parts);
    CHECK(source_digest(library, {"another chain", "key", "two.pem"}) != of_parts);
    CHECK(source_digest(library, {"chain", "key", "two.pem", "response"}) != of_parts);
    CHECK(source_digest(library, {"chain", "key", "renamed.pem"}) == of_parts);
}

TEST_CASE_FIXTURE(loader_fixture, "a lifetime of centuries is one of 136 years")
{
    test_identity const old = make_identity({.valid_to_days = 300 * 365});
    folder.write("old.pem", old.certificate_pem + old.key_pem);
    CHECK(store.summary(add({path("old.pem"), ""})).lifetime == UINT32_MAX);
}

TEST_CASE_FIXTURE(loader_fixture, "a renewed certificate is loaded before the reload")
{
    test_identity const more = make_identity({.names = {"more.example", "SITE.example"}});
    for (test_identity const& each : {std::cref(other), std::cref(more)}) {
        folder.write("site.pem", each.certificate_pem);
        folder.write("site.key", each.key_pem);
        certificate const found = load_certificate(library, store, added);
        CHECK(X509_cmp(found.leaf.get(), each.certificate.get()) == 0);
        CHECK(X509_check_private_key(found.leaf.get(), found.key.get()) == 1);
    }
}

TEST_CASE_FIXTURE(loader_fixture, "a certificate that cannot take the place of the old is refused")
{
    test_identity const elsewhere = make_identity({.names = {"elsewhere.example"}});
    test_identity const rsa = make_identity({.type = key_type::rsa, .names = {"site.example"}});
    std::string const changed = path("site.pem") + " with " + path("site.key") +
                                ": the file has changed since the last start or reload, and ";
    for (auto const& [each, wrong] :
         {std::pair{&elsewhere, "it lacks names of the one before"},
          std::pair{&rsa, "its key has another type than the one before"}}) {
        folder.write("site.pem", each->certificate_pem);
        folder.write("site.key", each->key_pem);
        std::optional<load_error> const failed = error();
        REQUIRE(failed);
        CHECK(failed->what() == changed + wrong);
        CHECK(failed->cure == "A reload reads it again.");
        CHECK_FALSE(failed->may_pass);
    }
    folder.write("site.pem", site.certificate_pem);
    folder.write("site.key", site.key_pem);
    CHECK_FALSE(error());
}

TEST_CASE_FIXTURE(loader_fixture, "an index with another name or type of key is not believed")
{
    certificate_on_disk const disk =
        read_from_disk(library, {path("site.pem"), path("site.key")}, folder.path(), warnings);
    certificate_summary const good = summary_of(disk);
    certificate_summary other_type = good;
    other_type.type = key_type::rsa;
    std::string const index = path("site.pem") + " with " + path("site.key") +
                              ": the index of certificates does not fit the file: ";
    for (auto const& [summary, names, wrong] :
         {std::tuple{
              good, std::vector<std::string>{"site.example", "victim.example"},
              "it lacks names of the one before"},
          std::tuple{
              other_type, std::vector<std::string>{"site.example"},
              "its key has another type than the one before"}}) {
        certificate_store forged{folder.path()};
        auto const number = forged.add(
            {.paths = {path("site.pem"), path("site.key")}, .summary = summary, .names = names});
        std::optional<load_error> const failed = error(forged, number);
        REQUIRE(failed);
        CHECK(failed->what() == index + wrong);
        CHECK(failed->cure == "Remove the file that certificate-index names, and start again.");
    }
}

TEST_CASE_FIXTURE(loader_fixture, "the key of another certificate is refused")
{
    folder.write("site.key", other.key_pem);
    std::optional<load_error> const failed = error();
    REQUIRE(failed);
    CHECK(contains(failed->what(), path("site.key")));
    CHECK(contains(failed->what(), "the private key does not belong to the certificate"));
    CHECK(contains(failed->what(), "it has changed since the last start or reload"));
    CHECK(failed->cure == "Repair the file, and reload.");
    CHECK_FALSE(failed->may_pass);
}

TEST_CASE_FIXTURE(loader_fixture, "a file that is cut short, or empty, is refused")
{
    folder.write("site.pem", site.certificate_pem.substr(0, 100));
    REQUIRE(error());
    CHECK(contains(error()->what(), "cut short"));
    CHECK(contains(error()->what(), "it has changed since the last start or reload"));
    folder.write("site.pem", "");
    REQUIRE(error());
    CHECK(contains(error()->what(), "there is no certificate in it"));
}

TEST_CASE_FIXTURE(loader_fixture, "a file that is gone is named")
{
    std::filesystem::remove(path("site.key"));
    std::optional<load_error> const failed = error();
    REQUIRE(failed);
    CHECK(failed->what() == "cannot read " + path("site.key") + ": No such file or directory");
    CHECK(failed->cure == "Check the path and who may read it.");
    CHECK_FALSE(failed->may_pass);
}

TEST_CASE_FIXTURE(loader_fixture, "no refusal shows any of a key")
{
    std::string const secret = other.key_pem.substr(60, 30);
    for (std::string const& text :
         {other.key_pem, other.key_pem.substr(0, 120), other.key_pem + other.key_pem}) {
        folder.write("site.key", text);
        REQUIRE(error());
        CHECK_FALSE(contains(error()->what(), secret));
    }
}

namespace {

/// The certificate of loader_fixture, once more, with an OCSP response.
struct stapled_fixture : loader_fixture
{
    stapled_fixture()
    {
        write(first);
        paths = {path("site.pem"), path("site.key"), path("site.ocsp")};
        certificate_on_disk found = read();
        response_digest = found.response_digest;
        added = store.add(
            {.paths = paths,
             .summary = summary_of(found),
             .names = found.read.names,
             .stamps = found.stamps,
             .response_digest = response_digest});
    }

    void write(std::string const& response) const { folder.write("site.ocsp", response); }

    certificate_on_disk read()
    {
        certificate_on_disk found = read_from_disk(library, paths, folder.path(), warnings);
        read_response_from_disk(library, paths, folder.path(), found, warnings);
        return found;
    }

    // The response that the certificate is loaded with; empty: none.
    [[nodiscard]] std::string loaded_response() const
    {
        certificate const found = load_certificate(library, store, added);
        CHECK(X509_cmp(found.leaf.get(), site.certificate.get()) == 0);
        return found.staple ? found.staple->der : std::string{};
    }

    // Why the file cannot be used at a start.
    std::string refusal()
    {
        try {
            static_cast<void>(read());
        } catch (spec_error const& failed) {
            return failed.what();
        }
        return {};
    }

    std::string first = ocsp_statement{.certificate = site.certificate.get()}.der();
    std::string renewed = ocsp_statement{
        .certificate = site.certificate.get(),
        .next_update =
            std::chrono::system_clock::now() +
            std::chrono::hours{
                100}}.der();
    certificate_paths paths;
    file_digest response_digest{};
};

} // namespace

TEST_CASE_FIXTURE(stapled_fixture, "a certificate is loaded with its OCSP response")
{
    CHECK(warnings.empty());
    CHECK(loaded_response() == first);
    CHECK(response_digest != file_digest{});
    certificate_on_disk const without = read_from_disk(library, paths, folder.path(), warnings);
    CHECK(without.digest != store.summary(added).digest);
    CHECK_FALSE(without.read.staple);
}

TEST_CASE_FIXTURE(stapled_fixture, "another response is another digest of the certificate")
{
    write(renewed);
    certificate_on_disk const found = read();
    CHECK(found.digest != store.summary(added).digest);
    CHECK(found.response_digest != response_digest);
    write(first);
    CHECK(read().digest == store.summary(added).digest);
}

TEST_CASE_FIXTURE(stapled_fixture, "the stamps change with the response")
{
    std::time_t const later = std::time(nullptr) + 100;
    certificate_stamps const before = stamps_of(paths, folder.path(), later);
    CHECK(before.is_known());
    CHECK(before == stamps_of(paths, folder.path(), later));
    CHECK(before != stamps_of({paths.chain, paths.private_key}, folder.path(), later));
    write(renewed + "more");
    certificate_stamps const after = stamps_of(paths, folder.path(), later);
    CHECK(after.is_known());
    CHECK(after != before);
    CHECK(after.chain == before.chain);
    CHECK_FALSE(stamps_of(paths, folder.path()).is_known()); // It has only just changed.
}

TEST_CASE_FIXTURE(stapled_fixture, "a response that was renewed since is loaded")
{
    write(renewed);
    CHECK(loaded_response() == renewed);
}

TEST_CASE_FIXTURE(stapled_fixture, "without a usable response a certificate is loaded all the same")
{
    for (std::string const& content :
         {std::string{}, std::string{"wrong"},
          ocsp_statement{.certificate = other.certificate.get()}.der()}) {
        write(content);
        CHECK(loaded_response().empty());
    }
    std::filesystem::remove(path("site.ocsp"));
    CHECK(loaded_response().empty());
}

TEST_CASE_FIXTURE(stapled_fixture, "a start refuses a response that cannot be used")
{
    write("");
    CHECK(refusal() == path("site.ocsp") + " is empty");
    write("wrong");
    CHECK(contains(refusal(), path("site.ocsp") + ": this is no OCSP response in DER form"));
    write(ocsp_statement{.certificate = other.certificate.get()}.der());
    CHECK(contains(refusal(), "for another certificate"));
    std::filesystem::remove(path("site.ocsp"));
    CHECK(refusal() == "cannot read " + path("site.ocsp") + ": No such file or directory");
}

TEST_CASE_FIXTURE(
    stapled_fixture, "a certificate for another name is refused, whatever the response")
{
    test_identity const elsewhere = make_identity({.names = {"elsewhere.example"}});
    for (std::string const& response : {first, renewed}) {
        write(response);
        folder.write("site.pem", elsewhere.certificate_pem);
        folder.write("site.key", elsewhere.key_pem);
        REQUIRE(error());
        CHECK(contains(error()->what(), "lacks names"));
        folder.write("site.pem", site.certificate_pem);
        folder.write("site.key", site.key_pem);
        CHECK_FALSE(error());
    }
}

} // namespace cleat::tls::certificate_loader_test
