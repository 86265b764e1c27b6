#include <cleat/core/text_for_tests.hpp>
#include <cleat/tls/certificates/certificate.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/context.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>

namespace cleat::tls::certificate_test {
namespace {

using strings = std::vector<std::string>;

struct certificate_fixture
{
    backend::library_state library;
    strings warnings;

    certificate read(certificate_source const& source)
    {
        return read_certificate(library, source, std::chrono::system_clock::now(), warnings);
    }

    // The error's text, or empty where there is none.
    std::string refusal_of(certificate_source const& source)
    {
        try {
            static_cast<void>(read(source));
        } catch (spec_error const& refused) {
            return refused.what();
        }
        return {};
    }
};

bool has_text(strings const& all, std::string_view part)
{
    return std::ranges::any_of(all, [&](std::string const& each) { return contains(each, part); });
}

TEST_CASE_FIXTURE(
    certificate_fixture,
    "a certificate answers to the DNS names in it, or to its CN where there are none")
{
    test_identity const san =
        make_identity({.names = {"a.test", "*.b.test"}, .common_name = "c.test"});
    CHECK(read(san.source("san.pem")).names == strings{"a.test", "*.b.test"});
    test_identity const cn = make_identity({.common_name = "c.test"});
    CHECK(read(cn.source("cn.pem")).names == strings{"c.test"});
    CHECK(warnings.empty());
    test_identity const person = make_identity({.common_name = "Some One"});
    CHECK(read(person.source("person.pem")).names.empty());
}

TEST_CASE_FIXTURE(certificate_fixture, "names that could match nothing are left out and warned of")
{
    test_identity const odd = make_identity({.names = {"w*.test", "a.*.test", "good.test"}});
    CHECK(read(odd.source("odd.pem")).names == strings{"good.test"});
    CHECK(warnings.size() == 2);
    CHECK(has_text(warnings, "odd.pem"));
    CHECK(has_text(warnings, "w*.test"));
}

TEST_CASE_FIXTURE(certificate_fixture, "every kind of key is recognised")
{
    for (key_type const each : usable_key_types())
        CHECK(read(make_identity({.type = each}).source("key.pem")).type == each);
}

TEST_CASE_FIXTURE(
    certificate_fixture, "key, leaf and chain may be one text in any order of key and certificates")
{
    test_identity const root = make_identity({.common_name = "root", .authority = true});
    test_identity const leaf = make_identity({.names = {"a.test"}, .issuer = &root});
    std::string const junk = "subject=/CN=a.test\n-----BEGIN DH PARAMETERS-----\nMAYC\n"
                             "-----END DH PARAMETERS-----\n";
    std::string const all = leaf.key_pem + junk + leaf.certificate_pem + root.certificate_pem;
    certificate const found = read({all, all, "all.pem"});
    CHECK(common_name(found.leaf.get()) == "cleat test");
    REQUIRE(found.chain.size() == 1);
    CHECK(common_name(found.chain.front().get()) == "root");
    CHECK(warnings.empty());
}

TEST_CASE_FIXTURE(certificate_fixture, "a file without what is needed says what is missing")
{
    test_identity const good = make_identity({.names = {"a.test"}});
    CHECK(contains(refusal_of({"", good.key_pem, "x.pem"}), "x.pem: there is no certificate"));
    CHECK(contains(refusal_of({good.key_pem, good.key_pem, "x.pem"}), "there is no certificate"));
    CHECK(contains(
        refusal_of({"\x30\x82\x01\x02 DER", good.key_pem, "x.der"}), "there is no certificate"));
    CHECK(contains(
        refusal_of({"\xEF\xBB\xBF" + good.certificate_pem, good.key_pem, "x.pem"}),
        "x.pem: there is no certificate in PEM form in it: it begins with a byte order mark"));
    CHECK(contains(
        refusal_of({good.certificate_pem, "\x30\x82\x01\x02\x02\x01\x01 key", "x.pem"}),
        "there is no private key in PEM form in it: it is DER"));
    CHECK(contains(
        refusal_of({good.certificate_pem, good.certificate_pem, "x.pem"}),
        "there is no private key"));
    CHECK(contains(refusal_of({good.certificate_pem, "", "x.pem"}), "there is no private key"));
}

TEST_CASE_FIXTURE(
    certificate_fixture,
    "a certificate or key that is cut short anywhere is refused, never half read")
{
    test_identity const good = make_identity({.names = {"a.test"}});
    std::string const& pem = good.certificate_pem;
    std::size_t const end = pem.find("-----END CERTIFICATE-----") + 25;
    for (std::size_t n = 0; n < end; ++n)
        CHECK_MESSAGE(!refusal_of({pem.substr(0, n), good.key_pem, "cut.pem"}).empty(), n);
    CHECK(contains(
        refusal_of({pem.substr(0, end - 1), good.key_pem, "cut.pem"}), "line 1 has no end"));
    std::size_t const key_end = good.key_pem.find("-----END") + 20;
    for (std::size_t n = 0; n < key_end; ++n)
        CHECK_MESSAGE(!refusal_of({pem, good.key_pem.substr(0, n), "cut.key"}).empty(), n);
}

TEST_CASE_FIXTURE(certificate_fixture, "damage inside of a block is found and located")
{
    test_identity const good = make_identity({.names = {"a.test"}});
    std::string broken = good.certificate_pem;
    broken.replace(broken.find('\n') + 1, 8, "########");
    CHECK(contains(refusal_of({broken, good.key_pem, "bad.pem"}), "line 1 cannot be decoded"));
    std::string zeros = good.certificate_pem;
    zeros.replace(zeros.find('\n') + 1, 8, "AAAAAAAA");
    CHECK(contains(refusal_of({zeros, good.key_pem, "bad.pem"}), "cannot be decoded"));
    std::string key = good.key_pem;
    key.replace(key.find('\n') + 1, 8, "AAAAAAAA");
    CHECK(contains(
        refusal_of({good.certificate_pem, "\n\n" + key, "bad.key"}), "private key on line 3"));
    std::string const second = good.certificate_pem + broken;
    CHECK(!refusal_of({second, good.key_pem, "bad.pem"}).empty());
}

TEST_CASE_FIXTURE(
    certificate_fixture, "an encrypted key is refused without a prompt for the passphrase")
{
    test_identity const good = make_identity({.names = {"a.test"}});
    std::string const refusal =
        refusal_of({good.certificate_pem, encrypted_pem(good.key.get()), "locked.pem"});
    CHECK(contains(refusal, "locked.pem"));
    CHECK(contains(refusal, "is encrypted"));
    CHECK(contains(refusal, "openssl pkey"));
}

TEST_CASE_FIXTURE(
    certificate_fixture,
    "a key that belongs elsewhere is refused, and a chain upside down is recognised")
{
    test_identity const root = make_identity({.common_name = "root", .authority = true});
    test_identity const leaf = make_identity({.names = {"a.test"}, .issuer = &root});
    CHECK(contains(
        refusal_of({leaf.certificate_pem, root.key_pem, "a.pem"}),
        "does not belong to the certificate"));
    test_identity const rsa = make_identity({.type = key_type::rsa});
    CHECK(contains(
        refusal_of({leaf.certificate_pem, rsa.key_pem, "a.pem"}),
        "does not belong to the certificate"));
    CHECK(contains(
        refusal_of({root.certificate_pem + leaf.certificate_pem, leaf.key_pem, "a.pem"}),
        "belongs to certificate 2"));
}

TEST_CASE_FIXTURE(certificate_fixture, "a key on a curve that TLS does not use is refused by name")
{
    test_identity const odd =
        sign_identity(make_test_key(EVP_PKEY_EC, NID_secp224r1), {.names = {"a.test"}});
    CHECK(contains(refusal_of(odd.source("p224.pem")), "ECDSA P-256"));
}

TEST_CASE_FIXTURE(certificate_fixture, "dates and order deserve a warning, not a refusal")
{
    test_identity const old =
        make_identity({.names = {"a.test"}, .valid_from_days = -30, .valid_to_days = -1});
    static_cast<void>(read(old.source("old.pem")));
    CHECK(has_text(warnings, "old.pem: the certificate expired on 20"));

    warnings.clear();
    test_identity const early = make_identity({.names = {"a.test"}, .valid_from_days = 2});
    static_cast<void>(read(early.source("early.pem")));
    CHECK(has_text(warnings, "is valid from"));

    warnings.clear();
    test_identity const stranger = make_identity({.common_name = "stranger", .authority = true});
    test_identity const good = make_identity({.names = {"a.test"}});
    static_cast<void>(read(good.source("order.pem", stranger.certificate_pem)));
    CHECK(has_text(warnings, "certificate 2 did not issue"));
}

TEST_CASE_FIXTURE(certificate_fixture, "no refusal shows any of a key")
{
    test_identity const good = make_identity({.names = {"a.test"}});
    std::string key = good.key_pem;
    std::string const body = key.substr(key.find('\n') + 1, 20);
    key.replace(key.find('\n') + 40, 4, "####");
    CHECK(!contains(refusal_of({good.certificate_pem, key, "k.pem"}), body));
}

} // namespace
} // namespace cleat::tls::certificate_test
