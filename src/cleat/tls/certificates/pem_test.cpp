#include <cleat/tls/certificates/pem.hpp>

#include <doctest/doctest.h>

namespace cleat::tls::pem_test {
namespace {

TEST_CASE("blocks are found in order, with the line that each begins on")
{
    auto const blocks =
        pem_blocks("a comment\n-----BEGIN CERTIFICATE-----\r\nAAAA\r\n-----END CERTIFICATE-----\r\n"
                   "-----BEGIN EC PRIVATE KEY-----\nBBBB\n-----END EC PRIVATE KEY-----");
    REQUIRE(blocks.size() == 2);
    CHECK(blocks[0].is_certificate());
    CHECK(blocks[0].line == 2);
    CHECK(blocks[0].complete);
    CHECK(blocks[1].is_private_key());
    CHECK(!blocks[1].is_encrypted());
    CHECK(blocks[1].line == 5);
    CHECK(blocks[1].complete);
    CHECK(blocks[1].text.ends_with("-----END EC PRIVATE KEY-----"));
}

TEST_CASE("a block without its end is there, and known to be incomplete")
{
    auto const cut = pem_blocks("-----BEGIN CERTIFICATE-----\nAAAA\n");
    REQUIRE(cut.size() == 1);
    CHECK(!cut[0].complete);

    auto const run_over =
        pem_blocks("-----BEGIN CERTIFICATE-----\nAA\n-----BEGIN CERTIFICATE-----\nBB\n"
                   "-----END CERTIFICATE-----\n");
    REQUIRE(run_over.size() == 2);
    CHECK(!run_over[0].complete);
    CHECK(run_over[1].complete);

    auto const wrong_end =
        pem_blocks("-----BEGIN CERTIFICATE-----\nAA\n-----END PRIVATE KEY-----\n");
    REQUIRE(wrong_end.size() == 1);
    CHECK(!wrong_end[0].complete);
}

TEST_CASE("both forms of an encrypted key are recognised")
{
    auto const old_form =
        pem_blocks("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n"
                   "DEK-Info: AES-128-CBC,00\n\nAA\n-----END RSA PRIVATE KEY-----\n");
    REQUIRE(old_form.size() == 1);
    CHECK(old_form[0].is_encrypted());
    auto const new_form = pem_blocks(
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAA\n-----END ENCRYPTED PRIVATE KEY-----\n");
    REQUIRE(new_form.size() == 1);
    CHECK(new_form[0].is_private_key());
    CHECK(new_form[0].is_encrypted());
}

TEST_CASE("text that only looks like PEM has no blocks")
{
    CHECK(pem_blocks("").empty());
    CHECK(pem_blocks("\n\n\n").empty());
    CHECK(pem_blocks("-----BEGIN -----\n").empty());
    CHECK(pem_blocks("-----BEGIN CERTIFICATE\n").empty());
    CHECK(pem_blocks(" -----BEGIN CERTIFICATE-----\n").empty());
    CHECK(pem_blocks("-----END CERTIFICATE-----\n").empty());
}

TEST_CASE("what is no PEM, but can become it, has the command that converts it")
{
    auto const has = [](std::string_view text, std::string_view word) {
        return conversion_hint(text).find(word) != std::string_view::npos;
    };
    CHECK(has("\xEF\xBB\xBF-----BEGIN CERTIFICATE-----\n", "byte order mark"));
    CHECK(has(std::string_view{"\xFF\xFE-\0-\0", 6}, "iconv"));
    CHECK(has("\x30\x82\x01\x02\x30\x81 and more", "openssl x509 -inform DER"));
    CHECK(has("\x30\x82\x01\x02\x02\x01\x03 and more", "openssl pkcs12"));
    CHECK(has("\x30\x80\x02\x01\x03\x30 and more", "openssl pkcs12"));
    CHECK(has(std::string_view{"\x30\x82\x01\x02\x02\x01\0\x30", 8}, "openssl pkey -inform DER"));
    for (char const* other : {"", "0", "0\x82", "just some text", "-----BEGIN"})
        CHECK(conversion_hint(other).empty());
}

} // namespace
} // namespace cleat::tls::pem_test
