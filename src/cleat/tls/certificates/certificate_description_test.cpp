#include <cleat/tls/certificates/certificate.hpp>
#include <cleat/tls/certificates/certificate_description.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace cleat::tls::certificate_description_test {
namespace {

using places = std::vector<std::size_t>;

/// A root, an intermediate that it issued, and a server's certificate below that.
struct description_fixture
{
    [[nodiscard]] certificate_description describe(std::string const& chain) const
    {
        std::optional<certificate_description> const found =
            describe_certificate(library, certificate_text{chain, site.key_pem, "site.pem"});
        REQUIRE(found);
        return *found;
    }

    backend::library_state library;
    test_identity root = make_identity({.common_name = "root", .authority = true});
    test_identity middle =
        make_identity({.common_name = "middle", .issuer = &root, .authority = true});
    test_identity site = make_identity({.names = {"site.example"}, .issuer = &middle});
    test_identity other = make_identity({.common_name = "other", .authority = true});
};

} // namespace

TEST_CASE_FIXTURE(description_fixture, "a chain without its root is whole")
{
    certificate_description const found = describe(site.certificate_pem + middle.certificate_pem);
    CHECK_FALSE(found.lacks_issuer);
    CHECK(found.misplaced.empty());
    CHECK(found.issuer == "middle");
    REQUIRE(found.chain.size() == 1);
    CHECK(found.chain.front().name == "middle");
    CHECK(found.names == std::vector<std::string>{"site.example"});
    CHECK(found.has_san);
    CHECK(found.key == "ECDSA P-256");
    CHECK(found.key_bits == 256);
    CHECK(found.key_matches);
    CHECK_FALSE(found.is_sha1);
}

TEST_CASE_FIXTURE(description_fixture, "an issuer that is nowhere in the file is missing")
{
    CHECK(describe(site.certificate_pem).lacks_issuer);
    CHECK(describe(site.certificate_pem + root.certificate_pem).lacks_issuer);
    CHECK(describe(site.certificate_pem + root.certificate_pem).misplaced.empty());
}

TEST_CASE_FIXTURE(description_fixture, "an issuer that comes late is misplaced, not missing")
{
    certificate_description const found =
        describe(site.certificate_pem + root.certificate_pem + middle.certificate_pem);
    CHECK_FALSE(found.lacks_issuer);
    CHECK(found.misplaced == places{2, 3});
}

TEST_CASE_FIXTURE(description_fixture, "a self-signed certificate needs no issuer")
{
    test_identity const alone = make_identity({.names = {"alone.example"}});
    certificate_description const found = describe(alone.certificate_pem);
    CHECK_FALSE(found.lacks_issuer);
    CHECK_FALSE(found.key_matches); // The fixture's key.
}

TEST_CASE_FIXTURE(description_fixture, "a text without a certificate has no description")
{
    CHECK_FALSE(describe_certificate(library, certificate_text{"nothing", site.key_pem, ""}));
    std::string damaged = site.certificate_pem;
    damaged[damaged.size() / 2] = '?';
    CHECK_FALSE(describe_certificate(library, certificate_text{damaged, site.key_pem, ""}));
}

TEST_CASE_FIXTURE(description_fixture, "names that no client asks for are apart")
{
    test_identity const odd = make_identity({.names = {"w*.example", "good.example"}});
    certificate_description const found = describe(odd.certificate_pem);
    CHECK(found.names == std::vector<std::string>{"good.example"});
    CHECK(found.unusable_names == std::vector<std::string>{"w*.example"});
}

} // namespace cleat::tls::certificate_description_test
