#include <cleat/core/limits.hpp>
#include <cleat/tls/hello/client_hello_reader.hpp>
#include <cleat/tls/hello/hello_bytes_for_tests.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::tls::client_hello_reader_test {
namespace {

using bytes = hello_bytes;
using status = client_hello_reader::status;

bytes text(std::string_view characters)
{
    return {characters.begin(), characters.end()};
}

bytes name_extension(std::string_view name)
{
    bytes entry{0};
    add_all(entry, with_length(text(name), 2));
    return extension_of(0, with_length(entry, 2));
}

bytes protocols_extension(std::vector<std::string> const& protocols)
{
    bytes list;
    for (std::string const& each : protocols)
        add_all(list, with_length(text(each), 1));
    return extension_of(16, with_length(list, 2));
}

bytes usual_message(std::size_t padding = 300)
{
    bytes extensions = extension_of(21, bytes(padding));
    add_all(extensions, name_extension("www.example.org"));
    add_all(extensions, protocols_extension({"h2", "acme-tls/1"}));
    return hello_message(extensions);
}

status read_all(bytes const& stream)
{
    client_hello_reader reader;
    return reader.read(stream);
}

void check_usual(client_hello_reader const& reader, bytes const& expected)
{
    CHECK(reader.facts().server_name == "www.example.org");
    CHECK(std::ranges::equal(
        reader.facts().protocols, text("\x02h2\x0a"
                                       "acme-tls/1")));
    CHECK(std::ranges::equal(reader.message(), octets{expected}.subspan(4)));
}

TEST_CASE("a ClientHello in one record is complete, and bytes behind it are ignored")
{
    bytes stream = in_records(usual_message(), 10'000);
    add_all(stream, {20, 3, 3, 0, 1, 1, 0xff});
    client_hello_reader reader;
    CHECK(reader.read(stream) == status::complete);
    check_usual(reader, usual_message());
    CHECK(reader.read(bytes{1, 2, 3}) == status::complete);
}

TEST_CASE("it may be cut anywhere, in two parts or into single bytes")
{
    bytes const stream = in_records(usual_message(20), 50);
    for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
        client_hello_reader reader;
        status const first = reader.read(octets{stream}.first(cut));
        CHECK(first == (cut == stream.size() ? status::complete : status::incomplete));
        CHECK(reader.read(octets{stream}.subspan(cut)) == status::complete);
        check_usual(reader, usual_message(20));
    }
    client_hello_reader reader;
    for (std::size_t i = 0; i != stream.size(); ++i)
        CHECK(
            reader.read(octets{stream}.subspan(i, 1)) ==
            (i + 1 == stream.size() ? status::complete : status::incomplete));
    check_usual(reader, usual_message(20));
}

TEST_CASE("it may be spread over records of any size, and be longer than one")
{
    for (std::size_t const size : {1U, 2U, 3U, 4U, 5U, 100U, 16'384U}) {
        bytes const whole = usual_message(size == 16'384 ? 40'000 : 300);
        client_hello_reader reader;
        CHECK(reader.read(in_records(whole, size)) == status::complete);
        check_usual(reader, whole);
    }
}

TEST_CASE("without SNI and ALPN there are no facts")
{
    client_hello_reader reader;
    CHECK(reader.read(in_records(hello_message({}), 1000)) == status::complete);
    CHECK(reader.facts().server_name.empty());
    CHECK(reader.facts().protocols.empty());
}

TEST_CASE("a session that a client offers is seen, in each way of offering one")
{
    auto const offers = [](bytes const& extensions, bytes const& session) {
        client_hello_reader reader;
        REQUIRE(
            reader.read(in_records(hello_message(extensions, {0x1301}, session), 1000)) ==
            status::complete);
        return reader.facts().offers_session;
    };
    bytes const id(32, 0xbb);
    bytes const tls_1_3 = extension_of(43, {2, 3, 4});
    auto const with_tls_1_3 = [&](bytes extensions) {
        add_all(extensions, tls_1_3);
        return extensions;
    };
    CHECK_FALSE(offers({}, {}));
    CHECK(offers({}, id));
    CHECK_FALSE(offers(tls_1_3, id)); // For middleboxes.
    CHECK_FALSE(offers(extension_of(35, {}), {}));
    CHECK(offers(extension_of(35, {1, 2}), {}));
    CHECK_FALSE(offers(with_tls_1_3(extension_of(35, {})), id));
    CHECK(offers(with_tls_1_3(extension_of(35, {1, 2})), id));
    CHECK(offers(with_tls_1_3(extension_of(41, {1, 2})), id));
}

TEST_CASE("one that is too long is known by its length, or by the bytes that have come")
{
    bytes stream{22, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff};
    CHECK(read_all(stream) == status::too_long);
    // Its message would fit, but not in records of one byte.
    CHECK(read_all(in_records(usual_message(20'000), 1)) == status::too_long);
    CHECK(read_all(in_records(usual_message(64'000), 16'384)) == status::complete);
    CHECK(read_all(in_records(usual_message(65'420), 16'384)) == status::too_long);
}

TEST_CASE("other bytes are known as early as they can be")
{
    for (bytes const& each : std::vector<bytes>{
             text("G"),
             text("SSH-2.0"),
             {0x80},
             {21},
             {23, 3, 3},
             {22, 2},
             {22, 3, 1, 0, 0},
             {22, 3, 1, 0x40, 1},
             {22, 3, 1, 0xff, 0xff},
             {22, 3, 1, 0, 4, 2}})
        CHECK(read_all(each) == status::other);
    // An alert between two records of a ClientHello.
    bytes stream = in_records(usual_message(), 100);
    stream.resize(105);
    add_all(stream, {21, 3, 3, 0, 2, 1, 0});
    CHECK(read_all(stream) == status::other);
}

TEST_CASE("malformed parts are no ClientHello")
{
    CHECK(read_all(in_records(hello_message({0}), 1000)) == status::other);
    CHECK(read_all(in_records(hello_message({0, 0, 0, 9}), 1000)) == status::other);
    CHECK(
        read_all(in_records(hello_message(extension_of(0, {0, 3, 0, 0, 0})), 1000)) ==
        status::other);
    CHECK(read_all(in_records(hello_message(extension_of(0, {})), 1000)) == status::other);
    CHECK(read_all(in_records(hello_message(extension_of(16, {})), 1000)) == status::other);
    CHECK(read_all(in_records(hello_message(extension_of(16, {0, 0})), 1000)) == status::other);
    CHECK(read_all(in_records(hello_message(extension_of(16, {0, 1, 0})), 1000)) == status::other);
    CHECK(
        read_all(in_records(hello_message(extension_of(16, {0, 2, 5, 'h'})), 1000)) ==
        status::other);
    CHECK(read_all(in_records({1, 0, 0, 0}, 1000)) == status::other);
}

TEST_CASE("no bytes at all confuse it")
{
    std::minstd_rand random{11};
    bytes const good = in_records(usual_message(40), 70);
    for (int round = 0; round != 20'000; ++round) {
        bytes stream = good;
        for (unsigned changes = random() % 4; changes-- != 0;)
            stream[random() % stream.size()] = static_cast<std::uint8_t>(random());
        stream.resize(random() % (stream.size() + 1));
        client_hello_reader reader;
        octets left = stream;
        while (!left.empty()) {
            std::size_t const size = std::min<std::size_t>(1 + random() % 90, left.size());
            static_cast<void>(reader.read(left.first(size)));
            left = left.subspan(size);
        }
        status const end = reader.read({});
        CHECK(end == read_all(stream)); // However it is cut.
        if (end == status::complete)
            CHECK(reader.facts().server_name.size() <= 15);
    }
}

} // namespace
} // namespace cleat::tls::client_hello_reader_test
