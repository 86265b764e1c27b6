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

struct offered_session
{
    bytes ticket;
    bytes id;

    bool operator==(offered_session const&) const = default;
};

offered_session offered(bytes const& extensions, bytes const& id)
{
    client_hello_reader reader;
    REQUIRE(
        reader.read(in_records(hello_message(extensions, {0x1301}, id), 1000)) == status::complete);
    hello_facts const& facts = reader.facts();
    return {
        {facts.ticket.begin(), facts.ticket.end()},
        {facts.session_id.begin(), facts.session_id.end()}};
}

bytes joined(bytes first, bytes const& second)
{
    add_all(first, second);
    return first;
}

bytes pre_shared_keys(std::vector<bytes> const& tickets)
{
    bytes identities;
    for (bytes const& each : tickets)
        add_all(identities, joined(with_length(each, 2), bytes(4)));
    return extension_of(
        41, joined(with_length(identities, 2), with_length(with_length(bytes(32), 1), 2)));
}

TEST_CASE("a session that a client offers is seen, in each way of offering one")
{
    bytes const id(32, 0xbb);
    bytes const ticket{1, 2, 3};
    bytes const tls_1_3 = extension_of(43, {2, 3, 4});
    bytes const by_ticket = extension_of(35, ticket);
    CHECK(offered({}, {}) == offered_session{});
    CHECK(offered({}, id) == offered_session{{}, id});
    CHECK(offered(tls_1_3, id) == offered_session{}); // For middleboxes.
    CHECK(offered(extension_of(35, {}), {}) == offered_session{});
    CHECK(offered(extension_of(35, {}), id) == offered_session{{}, id});
    CHECK(offered(by_ticket, {}) == offered_session{ticket, {}});
    CHECK(offered(by_ticket, id) == offered_session{ticket, {}}); // To see what is accepted.
    CHECK(offered(joined(extension_of(35, {}), tls_1_3), id) == offered_session{});
    CHECK(offered(joined(by_ticket, tls_1_3), id) == offered_session{ticket, {}});
    CHECK(offered(joined(tls_1_3, pre_shared_keys({ticket})), id) == offered_session{ticket, {}});
    CHECK(
        offered(joined(tls_1_3, pre_shared_keys({ticket, {4}})), id) ==
        offered_session{ticket, {}});
}

TEST_CASE("a list of pre-shared keys that is malformed has no ticket")
{
    for (bytes const& body : {bytes{}, bytes{1}, bytes{0, 0}, bytes{0, 3, 0, 9, 1}, bytes{0, 9, 0}})
        CHECK(offered(extension_of(41, body), {}) == offered_session{});
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
