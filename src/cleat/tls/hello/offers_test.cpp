#include <cleat/core/limits.hpp>
#include <cleat/tls/handles.hpp>
#include <cleat/tls/hello/hello_bytes_for_tests.hpp>
#include <cleat/tls/hello/offers.hpp>

#include <openssl/ssl.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cleat::tls::offers_test {
namespace {

using numbers = std::vector<std::uint16_t>;

constexpr std::size_t supported_groups = 10;
constexpr std::size_t supported_versions = 43;

client_offers offers(hello_bytes const& records, error_code why)
{
    ssl_ctx_ptr const ctx{SSL_CTX_new(TLS_method())};
    ssl_ptr const ssl{SSL_new(ctx.get())};
    return offers_in(std::as_bytes(std::span{records}), why, ssl.get());
}

hello_bytes with_groups(numbers const& groups, numbers const& suites)
{
    return in_records(
        hello_message(extension_of(supported_groups, list_of(groups, 2)), suites), 1000);
}

} // namespace

TEST_CASE("versions are those of the extension, without GREASE, or all up to the message's")
{
    hello_bytes const list = extension_of(supported_versions, list_of({0x3a3a, 0x302, 0x301}, 1));
    client_offers const found =
        offers(in_records(hello_message(list), 1000), error::no_shared_version);
    CHECK(found.versions == "TLSv1.1,TLSv1");
    CHECK(found.ciphers.empty());
    CHECK(found.groups.empty());

    hello_bytes const old = hello_message({}, {0x002f}, {}, 0x0301);
    CHECK(offers(in_records(old, 1000), error::no_shared_version).versions == "up to TLSv1");
    hello_bytes const strange = extension_of(supported_versions, list_of({0x7f1c, 0x0304}, 1));
    CHECK(
        offers(in_records(hello_message(strange), 1000), error::no_shared_version).versions ==
        "0x7f1c,TLSv1.3");
}

TEST_CASE("suites and groups have the names that the configuration has, and others their number")
{
    hello_bytes const records =
        with_groups({0x1a1a, 29, 23, 4588, 0x0202}, {0x2a2a, 0xc02f, 0xfefe, 0x00ff, 0x5600});
    client_offers const by_cipher = offers(records, error::no_shared_cipher);
    CHECK(
        by_cipher.ciphers == "ECDHE-RSA-AES128-GCM-SHA256,0xfefe,"
                             "TLS_EMPTY_RENEGOTIATION_INFO_SCSV,TLS_FALLBACK_SCSV");
    CHECK(by_cipher.groups == "X25519,P-256,X25519MLKEM768,0x0202");
    client_offers const by_group = offers(records, error::no_shared_group);
    CHECK(by_group.ciphers.empty());
    CHECK(by_group.groups == by_cipher.groups);
    CHECK(offers(records, error::not_tls).groups.empty());
}

TEST_CASE("a long list is cut, and says by how much")
{
    numbers suites(limits::logged_offers_max + 7, 0xfefe);
    std::string const found = offers(with_groups({}, suites), error::no_shared_cipher).ciphers;
    CHECK(found.ends_with(",0xfefe and 7 more"));
    CHECK(std::ranges::count(found, ',') == limits::logged_offers_max - 1);
}

TEST_CASE("a ClientHello that is not whole, or malformed, has no offers")
{
    hello_bytes const whole = with_groups({29, 23}, {0xc02f});
    for (std::size_t size = 0; size < whole.size(); ++size) {
        hello_bytes const part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        CHECK(offers(part, error::no_shared_cipher).ciphers.empty());
    }
    hello_bytes const torn =
        in_records(hello_message(extension_of(supported_groups, {0, 9, 0, 29, 0})), 1000);
    CHECK(offers(torn, error::no_shared_group).groups.empty());
}

} // namespace cleat::tls::offers_test
