#include "wire/bytes.hpp"
#include "wire/client_hello.hpp"
#include "wire/flight.hpp"
#include "wire/registry.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

namespace cleat::bench::wire::wire_test {
namespace {

// The registry.

TEST_CASE("the registry of suites has each number and each name once, in order")
{
    std::set<std::string_view> names;
    std::uint32_t before = 0;
    for (cipher_suite const& each : cipher_suites()) {
        CAPTURE(each.iana);
        CHECK((each.number > before || each.number == 0));
        before = each.number;
        CHECK(names.insert(each.iana).second);
        CHECK(
            (each.openssl.empty() || each.openssl == each.iana ||
             names.insert(each.openssl).second));
        CHECK(find_suite(each.number) == &each);
        CHECK(find_suite(each.iana) == &each);
        CHECK(find_suite(each.name()) == &each);
    }
    CHECK(cipher_suites().size() > 350);
    CHECK(find_suite(std::uint16_t{0x5600}) == nullptr);
    CHECK(find_suite("") == nullptr);
}

suite_traits traits(std::string_view name)
{
    cipher_suite const* const found = find_suite(name);
    REQUIRE(found != nullptr);
    return traits_of(*found);
}

TEST_CASE("what a suite is follows from its name")
{
    CHECK(traits("NULL-SHA256").null_encryption);
    CHECK(traits("NULL-SHA256").rsa_key_exchange);
    CHECK(traits("TLS_SHA256_SHA256").null_encryption);
    CHECK(traits("TLS_SHA256_SHA256").tls_1_3);
    CHECK(traits("ADH-AES128-SHA").anonymous);
    CHECK(traits("ADH-AES128-SHA").dhe);
    CHECK(traits("AECDH-NULL-SHA").anonymous);
    CHECK(traits("EXP-RC4-MD5").export_grade);
    CHECK(traits("EXP-RC4-MD5").rc4);
    CHECK(traits("DHE-RSA-AES128-SHA").dhe);
    CHECK(traits("DHE-RSA-AES128-SHA").forward_secret);
    CHECK(traits("DHE-RSA-AES128-SHA").cbc);
    CHECK_FALSE(traits("DH-RSA-AES128-SHA").forward_secret);
    CHECK_FALSE(traits("AES128-GCM-SHA256").forward_secret);
    CHECK(traits("AES128-GCM-SHA256").aead);
    CHECK(traits("ECDHE-RSA-DES-CBC3-SHA").triple_des);
    for (char const* const each :
         {"DES-CBC3-SHA", "DES-CBC-SHA", "IDEA-CBC-SHA", "EXP-RC2-CBC-MD5"})
        CHECK(traits(each).block_64);
    CHECK_FALSE(traits("AES128-SHA").block_64);
    CHECK_FALSE(traits("ECDHE-RSA-CHACHA20-POLY1305").cbc);
    CHECK(traits("ECDHE-RSA-CHACHA20-POLY1305").aead);
    CHECK(traits("TLS_AES_128_CCM_8_SHA256").tls_1_3);
    CHECK(traits("TLS_AES_128_CCM_8_SHA256").forward_secret);
    CHECK_FALSE(traits("RSA-PSK-AES128-CBC-SHA").rsa_key_exchange);
    CHECK(traits("RSA-PSK-AES128-CBC-SHA").psk);
}

TEST_CASE("groups are found by number and by name, each once")
{
    std::set<std::uint16_t> numbers;
    for (named_group const& each : named_groups()) {
        CHECK(numbers.insert(each.number).second);
        CHECK(find_group(each.number) == &each);
        CHECK(find_group(each.name) == &each);
    }
    for (char const* const each : {"X25519MLKEM768", "SecP256r1MLKEM768", "SecP384r1MLKEM1024"})
        CHECK(find_group(std::string_view{each})->post_quantum);
    CHECK(find_group(std::uint16_t{0x0a0a}) == nullptr);
}

// The ClientHello.

client_hello some_hello()
{
    client_hello made;
    made.session_id = "12345678";
    made.suites = {0x1301, 0xc02f};
    std::string const protocols[] = {"h2", "http/1.1"};
    std::uint16_t const groups[] = {29, 23};
    made.extensions = {
        server_name("example.org"), supported_groups(groups), x25519_key_share(), alpn(protocols)};
    return made;
}

TEST_CASE("every size in a ClientHello is right")
{
    client_hello const made = some_hello();
    std::string const all = records_of(made);
    reader record_bytes{all};
    CHECK(record_bytes.number(1) == 22);
    CHECK(record_bytes.number(2) == 0x0301);
    reader message{record_bytes.sized(2)};
    CHECK(record_bytes.empty());
    CHECK(message.number(1) == 1);
    reader body{message.sized(3)};
    CHECK(message.empty());
    CHECK(body.number(2) == 0x0303);
    CHECK(body.bytes(32).size() == 32);
    CHECK(body.sized(1) == "12345678");
    CHECK(body.sized(2) == "\x13\x01\xc0\x2f");
    CHECK(body.sized(1) == std::string_view("\0", 1));
    reader extensions{body.sized(2)};
    CHECK(body.empty());
    std::vector<std::size_t> types;
    while (!extensions.empty()) {
        types.push_back(extensions.number(2));
        std::string_view const contents = extensions.sized(2);
        if (types.back() == 0) {
            reader names{reader{contents}.sized(2)};
            CHECK(names.number(1) == 0);
            CHECK(names.sized(2) == "example.org");
            CHECK(names.empty());
        }
    }
    CHECK(extensions.ok());
    CHECK((types == std::vector<std::size_t>{0, 10, 51, 16}));
}

TEST_CASE("a hello of SSL 3.0 has no list of extensions")
{
    client_hello made;
    made.suites = {4};
    CHECK(message_of(made).size() == 4 + 2 + 32 + 1 + 2 + 2 + 2);
}

TEST_CASE("a hello is padded to a size, and split into records")
{
    for (std::size_t const size : {255U, 256U, 511U, 512U, 4096U, 16384U, 20000U}) {
        client_hello made = some_hello();
        REQUIRE(pad_to(made, size));
        CHECK(message_of(made).size() == size);
        std::string const records = records_of(made, 100);
        CHECK(records.size() == size + 5 * ((size + 99) / 100));
        reader bytes{records};
        std::string message;
        while (!bytes.empty()) {
            CHECK(bytes.number(3) == 0x160301);
            message += bytes.sized(2);
        }
        CHECK(bytes.ok());
        CHECK(message == message_of(made));
    }
    client_hello long_already = some_hello();
    CHECK_FALSE(pad_to(long_already, 20));
}

// The server's flight.

std::string message(std::size_t type, std::string const& body)
{
    return number(type, 1) + sized(body, 3);
}

std::string hello_body(std::uint16_t version, std::uint16_t suite, std::string const& extensions)
{
    std::string made = number(version, 2) + std::string(32, 'r') + sized("id", 1) +
                       number(suite, 2) + number(1, 1);
    return extensions.empty() ? made : made + sized(extensions, 2);
}

std::string in_record(std::string const& messages)
{
    return record(record_type::handshake, 0x0303, messages);
}

std::string full_flight()
{
    std::string const exchange =
        number(3, 1) + number(29, 2) + sized(std::string(32, 'k'), 1) + "signature";
    std::string const chain =
        sized("leaf", 3) + sized("issuer", 3); // Their contents are read elsewhere.
    return in_record(
               message(2, hello_body(0x0303, 0xc02f, number(0xff01, 2) + sized(sized("", 1), 2))) +
               message(11, sized(chain, 3))) +
           in_record(
               message(22, "staple") + message(12, exchange) + message(13, "wanted") +
               message(14, ""));
}

TEST_CASE("a flight of TLS 1.2 is read at every split of its bytes")
{
    std::string const all = full_flight();
    for (std::size_t split = 0; split <= all.size(); ++split) {
        CAPTURE(split);
        flight read;
        read.add(std::string_view{all}.substr(0, split));
        CHECK(read.done() == (split == all.size()));
        CHECK_FALSE(read.malformed());
        read.add(std::string_view{all}.substr(split));
        REQUIRE(read.complete());
        REQUIRE(read.hello());
        CHECK(read.hello()->version == 0x0303);
        CHECK(read.hello()->suite == 0xc02f);
        CHECK(read.hello()->session_id == "id");
        CHECK(read.hello()->compression == 1);
        CHECK(read.hello()->extensions.contains(0xff01));
        CHECK_FALSE(read.hello()->retry);
        CHECK((read.certificates() == std::vector<std::string>{"leaf", "issuer"}));
        REQUIRE(read.exchange());
        CHECK(read.exchange()->group == 29);
        CHECK(read.exchange()->public_key == std::string(32, 'k'));
        CHECK(read.has_staple());
        CHECK(read.wants_certificate());
    }
    flight byte_by_byte;
    for (char const each : all)
        byte_by_byte.add({&each, 1});
    CHECK(byte_by_byte.complete());
}

TEST_CASE("a handshake message may be in many records")
{
    std::string const messages =
        message(2, hello_body(0x0301, 0x002f, "")) + message(11, sized("", 3)) + message(14, "");
    flight read;
    for (char const each : messages)
        read.add(in_record(std::string(1, each)));
    CHECK(read.complete());
    CHECK(read.hello()->version == 0x0301);
    CHECK(read.certificates().empty());
}

TEST_CASE("a HelloRetryRequest names the group that the server wants")
{
    std::string const magic{
        "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91"
        "\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c",
        32};
    std::string const extensions =
        number(43, 2) + sized(number(0x0304, 2), 2) + number(51, 2) + sized(number(4588, 2), 2);
    std::string const body = number(0x0303, 2) + magic + sized("", 1) + number(0x1302, 2) +
                             number(0, 1) + sized(extensions, 2);
    flight read;
    read.add(in_record(message(2, body)));
    REQUIRE(read.done());
    CHECK(read.hello()->retry);
    CHECK(read.hello()->version == 0x0304);
    CHECK(read.hello()->group == 4588);
    CHECK(read.hello()->suite == 0x1302);
}

TEST_CASE("a key exchange in a finite field has the size of its prime")
{
    std::string const exchange = sized(std::string(1, '\0') + std::string(256, 'p'), 2) +
                                 sized("2", 2) + sized("public", 2) + "signature";
    flight read;
    read.add(in_record(message(2, hello_body(0x0303, 0x009e, "")) + message(12, exchange)));
    REQUIRE(read.exchange());
    CHECK(read.exchange()->prime.size() == 256);
    CHECK(read.exchange()->public_key == "public");
    CHECK_FALSE(read.exchange()->group);
}

TEST_CASE("alerts: a warning goes before a flight, a fatal one ends it")
{
    flight read;
    read.add(record(record_type::alert, 0x0303, "\x01\x70"));
    CHECK_FALSE(read.done());
    CHECK(read.alert()->description == 112);
    read.add(full_flight());
    CHECK(read.complete());

    flight refused;
    refused.add(record(record_type::alert, 0x0303, "\x02\x28"));
    CHECK(refused.done());
    CHECK(refused.alert()->fatal);
    CHECK(refused.alert()->description == 40);
}

TEST_CASE("bytes that are no TLS end the flight")
{
    for (std::string const& each :
         {std::string{"HTTP/1.1 400 Bad Request"}, std::string{"\x16\x02\x00", 3},
          std::string{"\x16\x03\x03\xff\xff", 5}, record(record_type::alert, 0x0303, "\x02"),
          in_record(message(11, "first")), in_record(message(2, "short")),
          in_record(message(2, hello_body(0x0303, 0xc02f, "")) + message(11, "\x01\x02\x03")),
          in_record(std::string{"\x02\xff\xff\xff", 4})}) {
        flight read;
        read.add(each);
        CHECK(read.malformed());
        CHECK(read.done());
        read.add(full_flight());
        CHECK(!read.complete());
    }
}

TEST_CASE("no bytes of a hostile server break the reader")
{
    std::mt19937 random{1};
    std::string const good = full_flight();
    for (int i = 0; i < 20'000; ++i) {
        std::string bytes = good;
        for (unsigned k = random() % 4; k-- > 0;)
            bytes[random() % bytes.size()] = static_cast<char>(random());
        bytes.resize(random() % (bytes.size() + 1));
        flight read;
        read.add(bytes);
        CHECK((read.done() || !read.complete()));
    }
}

} // namespace
} // namespace cleat::bench::wire::wire_test
