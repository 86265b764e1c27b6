// Conversations over a wire that is whole, split, a byte at a time, cut, or short of room. The
// bytes that come out, and the error at the end, must not depend on the wire. More than 600 lines:
// it is one promise, and the conversations are easier to compare in one file.
//
// Tests run at every split and cut of the bytes that their engine reads. The exceptions: data of
// any size and repeated KeyUpdates have split tests of their own; RSA and post-quantum handshakes,
// and a moved engine, run a byte at a time, which is every split at once; a write without room
// reads nothing.

#include <cleat/core/limits.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/connection_for_tests.hpp>
#include <cleat/tls/engine.hpp>
#include <cleat/tls/handles.hpp>
#include <cleat/tls/key_update_for_tests.hpp>
#include <cleat/tls/split_wire_for_tests.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace cleat::tls::engine_test {
namespace {

using session_ptr = std::unique_ptr<SSL_SESSION, freed_by<SSL_SESSION_free>>;

// Contexts of both sides for one version. X25519 keeps the flights short: tests split them at each
// byte.
struct pair_of_contexts
{
    context server;
    context client;
};

struct context_options
{
    protocol_version version = protocol_version::tls_1_3;
    key_type key = key_type::ecdsa_p256;
    peer_verification verify = peer_verification::none;
    bool client_certificate = false;
    std::string groups = "X25519:P-256"; // In TLS 1.2 the group of a certificate counts too.
};

pair_of_contexts make_contexts(context_options const& w)
{
    static test_identity const authority =
        make_identity({.common_name = "people", .authority = true});
    static test_identity const person =
        make_identity({.common_name = "alice", .issuer = &authority});
    static test_identity const ecdsa = make_identity({.names = {"cleat.example"}});
    static test_identity const rsa =
        make_identity({.type = key_type::rsa, .names = {"cleat.example"}});
    test_identity const& identity = w.key == key_type::rsa ? rsa : ecdsa;

    context_spec server;
    server.version_min = server.version_max = w.version;
    server.groups = w.groups;
    server.alpn = {"echo/1"};
    server.certificates.push_back(identity.source("test"));
    server.verify = w.verify;
    if (w.verify != peer_verification::none)
        server.verify_authorities = authority.certificate_pem;
    server.refuse_unknown_names = true;
    server.tickets = std::make_shared<ticket_secret const>(ticket_secret{std::byte{1}});

    context_spec client;
    client.role = role::client;
    client.version_min = client.version_max = w.version;
    client.groups = w.groups;
    client.alpn = {"echo/1"};
    client.verify = peer_verification::required;
    client.verify_authorities = identity.certificate_pem;
    client.server_name = "cleat.example";
    if (w.client_certificate)
        client.certificates.push_back(person.source("alice"));
    return {context{server}, context{client}};
}

pair_of_contexts const& contexts_of(protocol_version v)
{
    static pair_of_contexts const both[] = {
        make_contexts({.version = protocol_version::tls_1_2}),
        make_contexts({.version = protocol_version::tls_1_3})};
    return both[v == protocol_version::tls_1_3 ? 1 : 0];
}

std::span<std::byte const> bytes_of(std::string_view text)
{
    return std::as_bytes(std::span{text});
}

std::string text_of(std::span<std::byte const> data)
{
    return {reinterpret_cast<char const*>(data.data()), data.size()};
}

// Both sides report the same facts of a handshake that is done.
bool agrees(engine_pair const& d)
{
    handshake_info const server = d.server.engine.info();
    handshake_info const client = d.client.engine.info();
    return server.version == client.version && server.cipher == client.cipher &&
           server.alpn == "echo/1" && client.alpn == "echo/1" &&
           server.server_name == "cleat.example" && client.peer_certificate;
}

// A conversation: handshake, a question, an answer, close_notify from each side. False at the first
// result that is wrong.
bool conversation_succeeds(engine_pair& d)
{
    if (!d.established() || !agrees(d))
        return false;
    bool good = write_all(d.client, d.server, bytes_of("question")).next == want::nothing;
    std::vector<std::byte> question;
    good = good && read_all(d.server, d.client, question).next == want::input;
    good = good && text_of(question) == "question";
    good = good && write_all(d.server, d.client, bytes_of("answer")).next == want::nothing;
    good = good && !close(d.server, d.client).error;
    std::vector<std::byte> answer;
    good = good && read_all(d.client, d.server, answer).error == error::closed;
    good = good && text_of(answer) == "answer";
    good = good && !close(d.client, d.server).error;
    good = good && read_all(d.server, d.client, question).error == error::closed;
    return good;
}

bool conversation_succeeds(pair_of_contexts const& contexts, delivery to_server, delivery to_client)
{
    engine_pair d{contexts.server, contexts.client, to_server, to_client};
    return conversation_succeeds(d);
}

struct flights
{
    std::size_t to_server = 0;
    std::size_t to_client = 0;
};

// The length of each direction of a conversation, and 4 bytes more: ECDSA signatures differ in
// length by a few bytes, and a split after the end changes nothing.
flights length_of_conversation(pair_of_contexts const& contexts)
{
    engine_pair d{contexts.server, contexts.client};
    REQUIRE(conversation_succeeds(d));
    return {d.server.received.size() + 4, d.client.received.size() + 4};
}

TEST_CASE("a context counts its engines, wherever they are moved")
{
    struct counter : engine_count
    {
        int ends = 0; // How often no engine was left.
    };
    counter count;
    count.on_none_left = [](engine_count& c) noexcept { ++static_cast<counter&>(c).ends; };
    pair_of_contexts both = make_contexts({});
    both.server.count_engines(count);
    {
        engine first{both.server};
        engine second{std::move(first)};
        CHECK(count.engines == 1);
        engine third{both.server};
        CHECK(count.engines == 2);
        third = std::move(second);
        CHECK(count.engines == 1);
        CHECK(count.ends == 0);
    }
    CHECK(count.engines == 0);
    CHECK(count.ends == 1);
}

TEST_CASE("a conversation succeeds with every delivery")
{
    for (protocol_version const version : both_versions)
        for (key_type const key : {key_type::ecdsa_p256, key_type::rsa})
            for (bool const certified : {false, true}) {
                pair_of_contexts const contexts = make_contexts(
                    {version, key,
                     certified ? peer_verification::required : peer_verification::none, certified,
                     "?X25519MLKEM768:X25519:P-256"});
                CHECK(conversation_succeeds(contexts, {}, {}));
                CHECK(conversation_succeeds(contexts, {.chunk = 1}, {.chunk = 1}));
                CHECK(conversation_succeeds(contexts, {.chunk = 5}, {.chunk = 3}));
                CHECK(conversation_succeeds(contexts, {.chunk = 1000}, {.chunk = 1000}));
            }
}

TEST_CASE("a conversation succeeds when it is split at any position")
{
    for (protocol_version const version : both_versions) {
        pair_of_contexts const& contexts = contexts_of(version);
        flights const length = length_of_conversation(contexts);
        for (std::size_t position = 1; position < length.to_server; ++position)
            if (!conversation_succeeds(contexts, {.split_at = position}, {}))
                FAIL_CHECK("to the server, split at " << position);
        for (std::size_t position = 1; position < length.to_client; ++position)
            if (!conversation_succeeds(contexts, {}, {.split_at = position}))
                FAIL_CHECK("to the client, split at " << position);
    }
}

TEST_CASE("a conversation with a client certificate succeeds when it is split at any position")
{
    for (protocol_version const version : both_versions) {
        pair_of_contexts const contexts =
            make_contexts({version, key_type::ecdsa_p256, peer_verification::required, true});
        std::size_t const length = length_of_conversation(contexts).to_server;
        for (std::size_t position = 1; position < length; ++position)
            if (!conversation_succeeds(contexts, {.split_at = position}, {}))
                FAIL_CHECK("split at " << position);
        engine_pair d{contexts.server, contexts.client};
        REQUIRE(d.established());
        CHECK(d.server.engine.info().peer_certificate);
        CHECK(d.server.engine.peer_common_name() == "alice");
        std::string const pem = d.server.engine.peer_trusted_pem();
        CHECK(pem.starts_with("-----BEGIN TRUSTED CERTIFICATE-----\n"));
        CHECK(pem.ends_with("-----END TRUSTED CERTIFICATE-----\n"));
        CHECK(d.client.engine.peer_trusted_pem() != pem);
        CHECK(d.server.engine.peer_identity().subject == "CN=alice");
        CHECK(d.server.engine.peer_identity().fingerprint.size() == 64);
        CHECK(d.server.engine.peer_identity().issuer.starts_with("CN="));
        CHECK_FALSE(d.server.engine.peer_identity().serial.empty());
    }
}

// The end of a side's handshake, and of its reading after it, when FIN came in place of a byte.
struct cut_short
{
    bool established = false;
    step handshake;
    error_code end;
};

cut_short cut(
    pair_of_contexts const& contexts, side engine_pair::*which, std::size_t position,
    std::size_t& length)
{
    delivery const whole_wire{};
    delivery const cut_wire{.cut_at = position};
    bool const server = which == &engine_pair::server;
    engine_pair d{
        contexts.server, contexts.client, server ? cut_wire : whole_wire,
        server ? whole_wire : cut_wire};
    side& reader = d.*which;
    side& peer = server ? d.client : d.server;
    auto const [server_step, client_step] = d.handshake();
    cut_short seen;
    seen.handshake = server ? server_step : client_step;
    seen.established = reader.engine.established();
    if (peer.engine.established()) {
        static_cast<void>(write_all(peer, reader, bytes_of("data")));
        static_cast<void>(close(peer, reader));
    }
    length = reader.received.size();
    std::vector<std::byte> plaintext;
    if (seen.established)
        seen.end = read_all(reader, peer, plaintext).error;
    return seen;
}

void cut_everywhere(pair_of_contexts const& contexts, side engine_pair::*which)
{
    std::size_t length = whole;
    bool once_established = false;
    for (std::size_t position = 0; position <= length; ++position) {
        cut_short const seen = cut(contexts, which, position, length);
        if (!seen.established) {
            CHECK_MESSAGE(seen.handshake.error == error::truncated, "cut at " << position);
            continue;
        }
        once_established = true;
        // error::closed needs the whole close_notify.
        CHECK_MESSAGE(
            seen.end == (position >= length ? error::closed : error::truncated),
            "cut at " << position);
    }
    CHECK(once_established);
}

TEST_CASE(
    "FIN at any position of what a server reads is a truncation until the close_notify is whole")
{
    for (protocol_version const version : both_versions)
        cut_everywhere(contexts_of(version), &engine_pair::server);
}

TEST_CASE(
    "FIN at any position of what a client reads is a truncation until the close_notify is whole")
{
    for (protocol_version const version : both_versions)
        cut_everywhere(contexts_of(version), &engine_pair::client);
}

TEST_CASE("a handshake succeeds with any room for its output")
{
    std::vector<std::size_t> rooms{100, 16709};
    for (std::size_t room = 1; room <= 40; ++room)
        rooms.push_back(room);
    for (protocol_version const version : both_versions)
        for (std::size_t const room : rooms) {
            pair_of_contexts const& contexts = contexts_of(version);
            engine_pair d{contexts.server, contexts.client, {.room = room}, {.room = room}};
            CHECK(d.established());
            CHECK((d.server.wants_output > 0) == (room < 500));
            CHECK(!close(d.server, d.client).error);
            std::vector<std::byte> nothing;
            CHECK(read_all(d.client, d.server, nothing).error == error::closed);
            CHECK(nothing.empty());
        }
}

TEST_CASE("a write stops before a record that has no room, and the next write may have other bytes")
{
    pair_of_contexts const& contexts = contexts_of(protocol_version::tls_1_3);
    engine_pair d{contexts.server, contexts.client};
    REQUIRE(d.established());
    std::vector<std::byte> const data = pattern(100'000);

    d.server.delivery.room = 1;
    CHECK(write_all(d.server, d.client, data).next == want::output);
    d.server.delivery.room = limits::record_max - 1;
    step const none = write_all(d.server, d.client, data);
    CHECK(none.next == want::output);
    CHECK(none.bytes == 0);

    d.server.delivery.room = limits::record_max; // Room for one record at a time.
    d.server.wants_output = 0;
    step const all = write_all(d.server, d.client, data);
    CHECK(all.next == want::nothing);
    CHECK(all.bytes == data.size());
    CHECK(d.server.wants_output == data.size() / limits::plaintext_record_max);
    std::vector<std::byte> text;
    CHECK(read_all(d.client, d.server, text).next == want::input);
    CHECK(text == data);
}

TEST_CASE("data of any size arrives unchanged in both directions")
{
    for (protocol_version const version : both_versions)
        for (std::size_t const chunk :
             {whole, std::size_t{1}, std::size_t{1448}, std::size_t{16384}}) {
            pair_of_contexts const& contexts = contexts_of(version);
            engine_pair d{contexts.server, contexts.client, {.chunk = chunk}, {.chunk = chunk}};
            REQUIRE(d.established());
            for (int const n : {0, 1, 16383, 16384, 16385, 100'000}) {
                std::size_t const size = static_cast<std::size_t>(n);
                std::vector<std::byte> const data = pattern(size);
                std::size_t const before = d.client.received.size();
                std::vector<std::byte> down;
                CHECK(write_all(d.server, d.client, data).bytes == size);
                CHECK((d.client.received.size() > before) == (size > 0)); // No empty records.
                CHECK(read_all(d.client, d.server, down).next == want::input);
                CHECK(down == data);
                std::vector<std::byte> up;
                CHECK(write_all(d.client, d.server, data).bytes == size);
                CHECK(read_all(d.server, d.client, up).next == want::input);
                CHECK(up == data);
            }
        }
}

TEST_CASE("a flight of data may be split at any position")
{
    for (protocol_version const version : both_versions) {
        pair_of_contexts const& contexts = contexts_of(version);
        engine_pair d{contexts.server, contexts.client};
        REQUIRE(d.established());
        // Short: at every position. Long: near every border of a record, and at a stride.
        for (std::size_t const size : {std::size_t{100}, std::size_t{40'000}}) {
            std::vector<std::byte> const data = pattern(size);
            std::set<std::size_t> positions;
            for (std::size_t i = 1; i<size + 100; i += size> 1000 ? 997 : 1)
                positions.insert(i);
            for (std::size_t record = 0; record < size; record += 16384)
                for (std::size_t near = 0; near < 64; ++near)
                    positions.insert(record + near + 1);
            for (std::size_t const position : positions) {
                d.server.delivery.split_at = d.server.received.size() + position;
                REQUIRE(write_all(d.client, d.server, data).bytes == size);
                std::vector<std::byte> text;
                step const end = read_all(d.server, d.client, text);
                if (end.error || text != data)
                    FAIL_CHECK(size << " bytes split at " << position);
            }
        }
    }
}

TEST_CASE("small buffers are filled one after the other, and has_plaintext reports the rest")
{
    for (protocol_version const version : both_versions) {
        pair_of_contexts const& contexts = contexts_of(version);
        engine_pair d{contexts.server, contexts.client};
        REQUIRE(d.established());
        std::vector<std::byte> const data = pattern(20'000);
        REQUIRE(write_all(d.server, d.client, data).bytes == data.size());

        std::vector<std::byte> text;
        std::array<std::byte, 7> little{};
        wire w{d.client.next_input(), {}, false};
        step const first = d.client.engine.read(w, little);
        CHECK(first.bytes == little.size());
        CHECK(first.next == want::nothing);
        CHECK(d.client.engine.has_plaintext());
        d.client.consumed = d.client.received.size() - w.in.size();
        text.assign(little.begin(), little.end());
        CHECK(read_all(d.client, d.server, text, 7).next == want::input);
        CHECK(text == data);
        CHECK(!d.client.engine.has_plaintext());

        std::vector<std::byte> const record = pattern(100);
        for (std::size_t position = 1; position < 140; ++position) {
            d.client.delivery.split_at = d.client.received.size() + position;
            REQUIRE(write_all(d.server, d.client, record).bytes == record.size());
            text.clear();
            CHECK(read_all(d.client, d.server, text, 7).next == want::input);
            CHECK_MESSAGE(text == record, "split at " << position);
        }
    }
}

TEST_CASE("a read into an empty buffer takes no input")
{
    pair_of_contexts const& contexts = contexts_of(protocol_version::tls_1_3);
    engine_pair d{contexts.server, contexts.client};
    REQUIRE(d.established());
    REQUIRE(write_all(d.client, d.server, bytes_of("x")).bytes == 1);
    std::span<std::byte const> const input = d.server.next_input();
    for (std::size_t size = 0; size <= input.size(); ++size) {
        wire w{input.first(size), {}, false};
        step const s = d.server.engine.read(w, {});
        CHECK(!s.error);
        CHECK(s.bytes == 0);
        CHECK(w.in.size() == size);
    }
}

TEST_CASE("both sides report what the handshake agreed on")
{
    for (protocol_version const version : both_versions) {
        pair_of_contexts const& contexts = contexts_of(version);
        engine_pair d{contexts.server, contexts.client};
        CHECK(!d.server.engine.established());
        REQUIRE(d.established());
        handshake_info const info = d.server.engine.info();
        CHECK(info.version == (version == protocol_version::tls_1_3 ? "TLSv1.3" : "TLSv1.2"));
        CHECK(info.server_name == "cleat.example");
        CHECK(info.alpn == "echo/1");
        CHECK(info.group == "X25519");
        CHECK(!info.cipher.empty());
        CHECK(!info.resumed);
        CHECK(!info.peer_certificate);
        CHECK(d.client.engine.info().alpn == "echo/1");
        CHECK(d.client.engine.info().peer_certificate);
        CHECK(d.server.engine.ends_with_tickets() == (version == protocol_version::tls_1_3));
        CHECK(!d.client.engine.ends_with_tickets());
        CHECK(d.server.engine.failure().reason.empty());
    }
}

// The newest session of a client of these contexts. OpenSSL resumes each only once.
session_ptr& newest_session(pair_of_contexts const& contexts)
{
    static session_ptr newest;
    newest.reset();
    SSL_CTX* const ctx = contexts.client.native_handle();
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT);
    SSL_CTX_sess_set_new_cb(ctx, [](SSL*, SSL_SESSION* s) {
        newest.reset(s);
        return 1;
    });
    return newest;
}

TEST_CASE("a ticket resumes when its handshake is split at any position")
{
    for (protocol_version const version : both_versions) {
        pair_of_contexts const contexts = make_contexts({.version = version});
        session_ptr& newest = newest_session(contexts);
        REQUIRE(conversation_succeeds(contexts, {}, {}));
        session_ptr session = std::move(newest);
        std::size_t length = 2;
        for (std::size_t position = 1; position < length; ++position) {
            REQUIRE(session != nullptr);
            engine_pair d{
                contexts.server, contexts.client, {.split_at = position}, {.split_at = position}};
            REQUIRE(SSL_set_session(d.client.engine.native_handle(), session.get()) == 1);
            bool const good = conversation_succeeds(d);
            length = std::max(d.server.received.size(), d.client.received.size());
            if (!good || !d.server.engine.info().resumed || !d.client.engine.info().resumed)
                FAIL_CHECK("split at " << position);
            // Not every library's server issues a new ticket for a used one.
            if (newest == nullptr)
                REQUIRE(conversation_succeeds(contexts, {}, {}));
            session = std::move(newest);
        }
    }
}

TEST_CASE("a KeyUpdate is answered during a conversation, and no byte is lost")
{
    pair_of_contexts const& contexts = contexts_of(protocol_version::tls_1_3);
    for (std::size_t const chunk : {whole, std::size_t{1}}) {
        engine_pair d{contexts.server, contexts.client, {.chunk = chunk}, {.chunk = chunk}};
        REQUIRE(d.established());
        std::vector<std::byte> tickets; // read_all takes the tickets.
        REQUIRE(read_all(d.client, d.server, tickets).next == want::input);
        std::vector<std::byte> up;
        for (int i = 0; i < 3; ++i) {
            REQUIRE(request_key_update(d.client.engine));
            REQUIRE(write_all(d.client, d.server, bytes_of("new")).bytes == 3);
            std::size_t const before = d.client.received.size();
            CHECK(read_all(d.server, d.client, up).next == want::input);
            REQUIRE(write_all(d.server, d.client, bytes_of("keys")).bytes == 4);
            // The answer to the request, and the data.
            CHECK(d.client.received.size() - before > 4 + 2 * (limits::record_header_size + 17));
            std::vector<std::byte> down;
            CHECK(read_all(d.client, d.server, down).next == want::input);
            CHECK(text_of(down) == "keys");
        }
        CHECK(text_of(up) == "newnewnew");
    }
}

TEST_CASE("a KeyUpdate, its answer and close_notify may be split at any position")
{
    pair_of_contexts const& contexts = contexts_of(protocol_version::tls_1_3);
    std::size_t longest = 1;
    for (std::size_t position = 0; position < longest; ++position) {
        engine_pair d{contexts.server, contexts.client};
        REQUIRE(d.established());
        std::vector<std::byte> tickets; // read_all takes the tickets.
        REQUIRE(read_all(d.client, d.server, tickets).next == want::input);
        std::size_t const up_before = d.server.received.size();
        std::size_t const down_before = d.client.received.size();
        d.server.delivery.split_at = up_before + position;
        d.client.delivery.split_at = down_before + position;
        REQUIRE(request_key_update(d.client.engine));
        REQUIRE(write_all(d.client, d.server, bytes_of("new")).bytes == 3);
        REQUIRE(!close(d.client, d.server).error);
        std::vector<std::byte> up;
        std::vector<std::byte> down;
        error_code const server_end = read_all(d.server, d.client, up).error;
        REQUIRE(write_all(d.server, d.client, bytes_of("keys")).bytes == 4);
        REQUIRE(!close(d.server, d.client).error);
        error_code const client_end = read_all(d.client, d.server, down).error;
        bool const well = server_end == error::closed && client_end == error::closed &&
                          text_of(up) == "new" && text_of(down) == "keys";
        CHECK_MESSAGE(well, "split at " << position);
        longest =
            std::max(d.server.received.size() - up_before, d.client.received.size() - down_before);
    }
    CHECK(longest > 3 * limits::record_header_size);
}

TEST_CASE("FIN at any position of a KeyUpdate, data and close_notify is a truncation")
{
    pair_of_contexts const& contexts = contexts_of(protocol_version::tls_1_3);
    std::size_t length = 1;
    for (std::size_t position = 0; position <= length; ++position) {
        engine_pair d{contexts.server, contexts.client};
        REQUIRE(d.established());
        std::size_t const before = d.server.received.size();
        d.server.delivery.cut_at = before + position;
        REQUIRE(request_key_update(d.client.engine));
        REQUIRE(write_all(d.client, d.server, bytes_of("new")).bytes == 3);
        REQUIRE(!close(d.client, d.server).error);
        length = d.server.received.size() - before;
        std::vector<std::byte> text;
        error_code const end = read_all(d.server, d.client, text).error;
        CHECK_MESSAGE(
            end == (position < length ? error::truncated : error::closed), "cut at " << position);
        CHECK((text.empty() || text_of(text) == "new"));
    }
    CHECK(length > 3 * limits::record_header_size);
}

// The client closes, and the server answers. Both directions are split at `position`.
void close_and_read(protocol_version version, std::size_t position, std::size_t answer_size)
{
    CAPTURE(position);
    pair_of_contexts const& contexts = contexts_of(version);
    engine_pair d{contexts.server, contexts.client};
    REQUIRE(d.established());
    d.server.delivery.split_at = d.server.received.size() + position;
    d.client.delivery.split_at = d.client.received.size() + position;
    REQUIRE(!close(d.client, d.server).error);
    std::size_t const sent = d.server.received.size();
    CHECK(!close(d.client, d.server).error);
    CHECK(d.server.received.size() == sent); // It is sent once.
    CHECK(write_all(d.client, d.server, bytes_of("x")).error == error::write_after_close);

    std::vector<std::byte> nothing;
    CHECK(read_all(d.server, d.client, nothing).error == error::closed);
    CHECK(read_all(d.server, d.client, nothing).error == error::closed); // It stays closed.
    std::vector<std::byte> const answer = pattern(answer_size);
    CHECK(write_all(d.server, d.client, answer).bytes == answer.size());
    CHECK(!close(d.server, d.client).error);
    std::vector<std::byte> text;
    CHECK(read_all(d.client, d.server, text).error == error::closed);
    CHECK(text == answer);
}

TEST_CASE("a side that has closed can still read, and cannot write, split at any position")
{
    for (protocol_version const version : both_versions) {
        close_and_read(version, 0, 50'000);
        // An answer of 10 bytes and its close_notify have at most 10 + 2 * 29 + 2.
        for (std::size_t position = 1; position <= 70; ++position)
            close_and_read(version, position, 10);
    }
}

TEST_CASE("closing at any position before the handshake is done sends nothing")
{
    for (protocol_version const version : both_versions) {
        pair_of_contexts const& contexts = contexts_of(version);
        engine_pair d{contexts.server, contexts.client, {.chunk = 1}, {.chunk = 1}};
        std::size_t calls = 0;
        auto const close_first = [&](engine& e, wire& w) {
            ++calls;
            std::size_t const room = w.out.size();
            CHECK(!e.close(w).error);
            CHECK(w.out.size() == room);
            return e.handshake(w);
        };
        for (int turns = 0; turns < 16; ++turns) {
            if (!d.client.engine.established())
                static_cast<void>(drive(d.client, d.server, close_first));
            if (!d.server.engine.established())
                static_cast<void>(drive(d.server, d.client, close_first));
        }
        CHECK(d.client.engine.established());
        CHECK(d.server.engine.established());
        CHECK(calls > 500); // One for each byte of the handshake.
    }
}

// Reads a record of 4 bytes in two parts, and FIN with the second part.
void read_before_fin(engine_pair& d, std::size_t position)
{
    std::span<std::byte const> const input = d.server.next_input();
    std::array<std::byte, 100> plaintext{};
    std::array<std::byte, 1000> room{};
    wire first{input.first(position), room, false};
    step const part = d.server.engine.read(first, plaintext);
    CHECK(!part.error);
    wire rest{input.subspan(position), room, true};
    step const last = d.server.engine.read(rest, plaintext);
    CHECK_MESSAGE(part.bytes + last.bytes == 4, "split at " << position);
    CHECK_MESSAGE(last.error == error::truncated, "split at " << position);
}

TEST_CASE("data and FIN are data and a truncation, with the data split at any position")
{
    for (protocol_version const version : both_versions) {
        std::size_t length = 1;
        for (std::size_t position = 0; position <= length; ++position) {
            pair_of_contexts const& contexts = contexts_of(version);
            engine_pair d{contexts.server, contexts.client};
            REQUIRE(d.established());
            std::size_t const before = d.server.received.size();
            REQUIRE(write_all(d.client, d.server, bytes_of("half")).bytes == 4);
            length = d.server.received.size() - before;
            d.server.fin = true;
            read_before_fin(d, position);
            // This direction stays truncated, and the other one still works.
            d.server.consumed = d.server.received.size();
            std::vector<std::byte> more;
            CHECK(read_all(d.server, d.client, more).error == error::truncated);
            CHECK(write_all(d.server, d.client, bytes_of("all")).bytes == 3);
        }
    }
}

TEST_CASE("FIN at any position of a record is a truncation, without data")
{
    for (protocol_version const version : both_versions) {
        std::size_t length = 1;
        for (std::size_t position = 0; position < length; ++position) {
            pair_of_contexts const& contexts = contexts_of(version);
            engine_pair d{contexts.server, contexts.client};
            REQUIRE(d.established());
            std::size_t const before = d.server.received.size();
            d.server.delivery.cut_at = before + position;
            REQUIRE(write_all(d.client, d.server, bytes_of("half")).bytes == 4);
            length = d.server.received.size() - before;
            std::vector<std::byte> text;
            CHECK(read_all(d.server, d.client, text).error == error::truncated);
            CHECK_MESSAGE(text.empty(), "cut at " << position);
        }
    }
}

// A client that does not trust the server's certificate.
context suspicious_client(protocol_version version)
{
    context_spec spec;
    spec.role = role::client;
    spec.version_min = spec.version_max = version;
    spec.verify = peer_verification::required;
    spec.verify_authorities = make_identity({.authority = true}).certificate_pem;
    spec.server_name = "cleat.example";
    spec.alpn = {"echo/1"};
    return context{spec};
}

// The server's error in a handshake, or in the read after it.
error_code error_of_server(engine_pair& d)
{
    step const server_step = d.handshake().first;
    if (server_step.error || !d.server.engine.established())
        return server_step.error;
    std::vector<std::byte> nothing;
    return read_all(d.server, d.client, nothing).error;
}

TEST_CASE("a peer's fatal alert is reported with its number, split at any position")
{
    for (protocol_version const version : both_versions) {
        pair_of_contexts const& contexts = contexts_of(version);
        context const client = suspicious_client(version);
        std::size_t length = 1; // Of the ClientHello and the alert.
        for (std::size_t position = 0; position <= length; ++position) {
            // Position 0 splits nothing. After the last position: a byte at a time.
            delivery const how =
                position < length ? delivery{.split_at = position} : delivery{.chunk = 1};
            engine_pair d{contexts.server, client, how, how};
            CHECK(error_of_server(d) == error::peer_alert);
            CHECK(d.server.engine.failure().peer_alert == SSL_AD_UNKNOWN_CA);
            CHECK(d.server.engine.failure().own_alert == -1); // Nothing answers it.
            CHECK(!d.server.engine.failure().reason.empty());
            // The client's reason names the mistake in the certificate.
            CHECK(d.client.engine.failure().reason.find("certificate") != std::string::npos);
            CHECK(d.client.engine.failure().refused.fingerprint.size() == 64);
            CHECK(d.server.engine.has_shown_certificate());
            length = d.server.received.size();
        }
    }
}

TEST_CASE("FIN at any position before the end of a fatal alert is a truncation")
{
    for (protocol_version const version : both_versions) {
        pair_of_contexts const& contexts = contexts_of(version);
        context const client = suspicious_client(version);
        std::size_t length = 1;
        for (std::size_t position = 0; position <= length; ++position) {
            engine_pair d{contexts.server, client, {.cut_at = position}};
            error_code const end = error_of_server(d);
            // Before the alert the client has sent its ClientHello only.
            length = std::max(length, d.server.received.size());
            CHECK_MESSAGE(
                end == (position < d.server.received.size() ? error::truncated : error::peer_alert),
                "cut at " << position);
        }
    }
}

TEST_CASE("a missing client certificate has its own error, split at any position")
{
    for (protocol_version const version : both_versions) {
        pair_of_contexts const contexts =
            make_contexts({version, key_type::ecdsa_p256, peer_verification::required, false});
        std::size_t length = 1;
        for (std::size_t position = 0; position < length; ++position) {
            engine_pair d{contexts.server, contexts.client, {.split_at = position}};
            CHECK_MESSAGE(
                error_of_server(d) == error::no_client_certificate, "split at " << position);
            CHECK(!d.server.engine.established());
            length = d.server.received.size();
        }
    }
}

// The error of a server's handshake that reads these bytes first.
error_code error_for(std::string_view first_bytes, delivery how, bool fin = false)
{
    pair_of_contexts const& contexts = contexts_of(protocol_version::tls_1_3);
    engine_pair d{contexts.server, contexts.client, how};
    d.server.receive(bytes_of(first_bytes));
    d.server.fin = fin;
    step const s = drive(d.server, d.client, [](engine& e, wire& w) { return e.handshake(w); });
    CHECK(!d.server.engine.established());
    CHECK(d.server.engine.info().version.empty()); // Log lines read it after every failure.
    return s.error;
}

// At every split these bytes are recognised. At every cut they are recognised, or too few for that.
void check_recognised(std::string_view first_bytes, error expected)
{
    CAPTURE(first_bytes);
    CHECK(error_for(first_bytes, {.chunk = 1}) == expected);
    for (std::size_t position = 0; position < first_bytes.size(); ++position)
        CHECK_MESSAGE(
            error_for(first_bytes, {.split_at = position}) == expected, "split at " << position);
    bool enough = false;
    for (std::size_t position = 0; position <= first_bytes.size(); ++position) {
        error_code const end = error_for(first_bytes, {.cut_at = position});
        enough = enough || end == expected;
        CHECK_MESSAGE(end == (enough ? expected : error::truncated), "cut at " << position);
    }
    CHECK(enough);
}

TEST_CASE("other protocols than TLS are recognised, split and cut at any position")
{
    using namespace std::string_view_literals;
    check_recognised("GET / HTTP/1.1\r\nHost: a\r\n\r\n"sv, error::http_request);
    check_recognised("SSH-2.0-OpenSSH_9.2p1 Debian\r\n"sv, error::not_tls);
    check_recognised(std::string(64, '\0'), error::not_tls);
    check_recognised(std::string(64, '\xff'), error::not_tls);
    // Not split: its first 5 bytes alone are those of a PROXY header.
    CHECK(error_for("PROXYING"sv, {}) == error::not_tls);
    CHECK(error_for("PROXYING"sv, {.chunk = 1}) == error::not_tls);
    for (std::string_view const first_bytes : {""sv, "\x16"sv, "\x16\x03\x01\x02\x00\x01\x00"sv})
        for (std::size_t position = 0; position <= first_bytes.size(); ++position)
            CHECK(error_for(first_bytes, {.split_at = position}, true) == error::truncated);
}

TEST_CASE("a PROXY header in place of TLS is recognised by its first 5 bytes in one call")
{
    using namespace std::string_view_literals;
    for (std::string_view const header :
         {"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n"sv, "\r\n\r\n\0\r\nQUIT\n\x20\0\0\0"sv}) {
        CAPTURE(header);
        CHECK(error_for(header, {}) == error::proxy_header);
        for (std::size_t position = 1; position <= header.size(); ++position) {
            CHECK_MESSAGE(
                error_for(header, {.split_at = position}) ==
                    (position < 5 ? error::not_tls : error::proxy_header),
                "split at " << position);
            CHECK_MESSAGE(
                error_for(header, {.cut_at = position}) ==
                    (position < 5 ? error::truncated : error::proxy_header),
                "cut at " << position);
        }
    }
}

TEST_CASE("an engine reports whether its peer has sent any byte, cut at any position")
{
    for (protocol_version const version : both_versions) {
        pair_of_contexts const& contexts = contexts_of(version);
        auto const shake = [](engine& e, wire& w) { return e.handshake(w); };
        std::size_t length = 1;
        for (std::size_t position = 0; position < length; ++position) {
            engine_pair d{contexts.server, contexts.client, {.cut_at = position}};
            CHECK_FALSE(d.server.engine.has_received());
            static_cast<void>(drive(d.client, d.server, shake));
            length = d.server.received.size(); // Of the ClientHello.
            CHECK(drive(d.server, d.client, shake).error == error::truncated);
            CHECK_MESSAGE(d.server.engine.has_received() == (position > 0), "cut at " << position);
        }
    }
}

TEST_CASE("an unknown server name is refused with its own error, split and cut at any position")
{
    for (protocol_version const version : both_versions) {
        pair_of_contexts const& contexts = contexts_of(version);
        context_spec spec;
        spec.role = role::client;
        spec.version_min = spec.version_max = version;
        spec.server_name = "elsewhere.example";
        context const client{spec};
        std::size_t length = 1; // Of the ClientHello.
        for (std::size_t position = 0; position <= length; ++position) {
            delivery const how =
                position < length ? delivery{.split_at = position} : delivery{.chunk = 1};
            engine_pair d{contexts.server, client, how};
            auto const [server_step, client_step] = d.handshake();
            length = d.server.received.size();
            CHECK_MESSAGE(server_step.error == error::unknown_name, "split at " << position);
            // Log lines read this after every failure. OpenSSL has not parsed the name by then.
            std::string_view const name = d.server.engine.info().server_name;
            CHECK((name.empty() || name == "elsewhere.example"));
            CHECK(d.server.engine.info().group.empty());
            CHECK(client_step.error == error::peer_alert);

            engine_pair cut{contexts.server, client, {.cut_at = position}};
            error_code const end = cut.handshake().first.error;
            CHECK_MESSAGE(
                end == (position < cut.server.received.size() ? error::truncated
                                                              : error::unknown_name),
                "cut at " << position);
        }
    }
}

TEST_CASE("a changed byte of a record is a violation and never data")
{
    for (protocol_version const version : both_versions) {
        pair_of_contexts const& contexts = contexts_of(version);
        std::size_t length = 1;
        for (std::size_t position = 0; position < length; ++position) {
            engine_pair d{contexts.server, contexts.client};
            REQUIRE(d.established());
            std::size_t const begin = d.server.received.size();
            REQUIRE(write_all(d.client, d.server, bytes_of("data")).bytes == 4);
            length = d.server.received.size() - begin;
            d.server.received[begin + position] ^= std::byte{0x40};
            d.server.fin = true;
            std::vector<std::byte> text;
            step const s = read_all(d.server, d.client, text);
            CHECK_MESSAGE(text.empty(), "changed at " << position);
            // A greater length waits for bytes that never come.
            bool const named = s.error == error::protocol_violation ||
                               s.error == error::truncated || s.error == error::not_tls ||
                               s.error == error::no_shared_version;
            CHECK_MESSAGE(named, "changed at " << position << ": " << s.error.message());
        }
    }
}

TEST_CASE("an engine can be moved at any time")
{
    pair_of_contexts const& contexts = contexts_of(protocol_version::tls_1_3);
    engine_pair d{contexts.server, contexts.client, {.chunk = 1}};
    side& server = d.server;
    auto const move_it = [&](engine& e, wire& w) {
        engine moved{std::move(e)};
        step const s = moved.handshake(w);
        e = std::move(moved);
        return s;
    };
    auto const shake = [](engine& e, wire& w) { return e.handshake(w); };
    static_cast<void>(drive(d.client, server, shake));
    static_cast<void>(drive(server, d.client, move_it));
    static_cast<void>(drive(d.client, server, shake));
    CHECK(drive(server, d.client, move_it).next == want::nothing);
    CHECK(server.engine.established());
    REQUIRE(!close(server, d.client).error);
    engine last{std::move(server.engine)};
    server.engine = std::move(last);
    CHECK(write_all(server, d.client, bytes_of("x")).error == error::write_after_close);
}

} // namespace
} // namespace cleat::tls::engine_test
