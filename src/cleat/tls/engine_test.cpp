// Conversations over a wire that is whole, split, a byte at a time, cut, or short of room. What
// must not differ: the bytes that come out and the name of the end. Visits, also with client
// certificates, flights of data, resumption, KeyUpdates and fatal alerts are split at every place,
// and visits are cut at every place, too; the rest is held over the wires that matter to it. More
// than 600 lines: one promise, with the conversations side by side.

#include <cleat/core/limits.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>
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

namespace cleat::tls {
namespace {

using session_ptr = std::unique_ptr<SSL_SESSION, freed_by<SSL_SESSION_free>>;

constexpr std::array versions{protocol_version::tls_1_2, protocol_version::tls_1_3};

// Contexts of both sides for one version. X25519 keeps the flights short, since each of their bytes
// is a place to split at.
struct pair_of_contexts
{
    context server;
    context client;
};

struct wishes
{
    protocol_version version = protocol_version::tls_1_3;
    key_type key = key_type::ecdsa_p256;
    peer_verification verify = peer_verification::none;
    bool client_certificate = false;
    std::string groups = "X25519:P-256"; // In TLS 1.2 the group of a certificate counts too.
};

pair_of_contexts make_contexts(wishes const& w)
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

std::string text_of(std::span<std::byte const> bytes)
{
    return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

// A visit: handshake, a question, an answer, close_notify each way. False at the first thing that
// is not as it must be.
bool visits(duet& d)
{
    if (!d.established())
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

bool visits(pair_of_contexts const& with, delivery to_server, delivery to_client)
{
    duet d{with.server, with.client, to_server, to_client};
    return visits(d);
}

struct flights
{
    std::size_t to_server = 0;
    std::size_t to_client = 0;
};

// The length of each direction of a visit. ECDSA signatures differ in length by a few bytes, so a
// little is added: a split behind the end is none.
flights length_of_visit(pair_of_contexts const& with)
{
    duet d{with.server, with.client};
    REQUIRE(visits(d));
    return {d.server.come.size() + 4, d.client.come.size() + 4};
}

TEST_CASE("a visit goes well however its bytes come")
{
    for (protocol_version const version : versions)
        for (key_type const key : {key_type::ecdsa_p256, key_type::rsa})
            for (bool const certified : {false, true}) {
                pair_of_contexts const with = make_contexts(
                    {version, key,
                     certified ? peer_verification::required : peer_verification::none, certified,
                     "?X25519MLKEM768:X25519:P-256"});
                CHECK(visits(with, {}, {}));
                CHECK(visits(with, {.chunk = 1}, {.chunk = 1}));
                CHECK(visits(with, {.chunk = 5}, {.chunk = 3}));
                CHECK(visits(with, {.chunk = 1000}, {.chunk = 1000}));
            }
}

TEST_CASE("a visit goes well with its bytes split at every position")
{
    for (protocol_version const version : versions) {
        pair_of_contexts const& with = contexts_of(version);
        flights const length = length_of_visit(with);
        for (std::size_t at = 1; at < length.to_server; ++at)
            if (!visits(with, {.split_at = at}, {}))
                FAIL_CHECK("to the server, split at " << at);
        for (std::size_t at = 1; at < length.to_client; ++at)
            if (!visits(with, {}, {.split_at = at}))
                FAIL_CHECK("to the client, split at " << at);
    }
}

TEST_CASE("with client certificates, too, no split does harm")
{
    for (protocol_version const version : versions) {
        pair_of_contexts const with =
            make_contexts({version, key_type::ecdsa_p256, peer_verification::required, true});
        std::size_t const length = length_of_visit(with).to_server;
        for (std::size_t at = 1; at < length; ++at)
            if (!visits(with, {.split_at = at}, {}))
                FAIL_CHECK("split at " << at);
        duet d{with.server, with.client};
        REQUIRE(d.established());
        CHECK(d.server.engine.info().peer_certificate);
        CHECK(d.server.engine.peer_common_name() == "alice");
    }
}

// How a side's handshake, and reading after it, ended when FIN came in place of a byte.
struct cut_short
{
    bool established = false;
    step handshake;
    error_code end;
};

cut_short cut(pair_of_contexts const& with, side duet::*victim, std::size_t at, std::size_t& length)
{
    delivery const whole_wire{};
    delivery const cut_wire{.cut_at = at};
    bool const server = victim == &duet::server;
    duet d{
        with.server, with.client, server ? cut_wire : whole_wire, server ? whole_wire : cut_wire};
    side& me = d.*victim;
    side& other = server ? d.client : d.server;
    auto const [of_server, of_client] = d.shake();
    cut_short seen;
    seen.handshake = server ? of_server : of_client;
    seen.established = me.engine.established();
    if (other.engine.established()) {
        static_cast<void>(write_all(other, me, bytes_of("data")));
        static_cast<void>(close(other, me));
    }
    length = me.come.size();
    std::vector<std::byte> plaintext;
    if (seen.established)
        seen.end = read_all(me, other, plaintext).error;
    return seen;
}

void cut_everywhere(pair_of_contexts const& with, side duet::*victim)
{
    std::size_t length = whole;
    bool once_established = false;
    for (std::size_t at = 0; at <= length; ++at) {
        cut_short const seen = cut(with, victim, at, length);
        if (!seen.established) {
            CHECK_MESSAGE(seen.handshake.error == error::truncated, "cut at " << at);
            continue;
        }
        once_established = true;
        // Only who has seen the close_notify whole may call it closed.
        CHECK_MESSAGE(
            seen.end == (at >= length ? error::closed : error::truncated), "cut at " << at);
    }
    CHECK(once_established);
}

TEST_CASE(
    "FIN at any position of what a server reads is a truncation until the close_notify is whole")
{
    for (protocol_version const version : versions)
        cut_everywhere(contexts_of(version), &duet::server);
}

TEST_CASE(
    "FIN at any position of what a client reads is a truncation until the close_notify is whole")
{
    for (protocol_version const version : versions)
        cut_everywhere(contexts_of(version), &duet::client);
}

TEST_CASE("a handshake needs no more room than it is given")
{
    for (protocol_version const version : versions)
        for (std::size_t const room : {std::size_t{1}, std::size_t{100}, std::size_t{16709}}) {
            pair_of_contexts const& with = contexts_of(version);
            duet d{with.server, with.client, {.room = room}, {.room = room}};
            CHECK(d.established());
            CHECK((d.server.wants_output > 0) == (room < 500));
            CHECK(!close(d.server, d.client).error);
            std::vector<std::byte> nothing;
            CHECK(read_all(d.client, d.server, nothing).error == error::closed);
            CHECK(nothing.empty());
        }
}

TEST_CASE(
    "a write stops before a record that has no room, and a retry is free to offer other bytes")
{
    pair_of_contexts const& with = contexts_of(protocol_version::tls_1_3);
    duet d{with.server, with.client};
    REQUIRE(d.established());
    std::vector<std::byte> const data = pattern(100'000);

    d.server.how.room = 1;
    CHECK(write_all(d.server, d.client, data).next == want::output);
    d.server.how.room = limits::record_max - 1;
    step const none = write_all(d.server, d.client, data);
    CHECK(none.next == want::output);
    CHECK(none.bytes == 0);

    d.server.how.room = limits::record_max; // Room for one record at a time.
    d.server.wants_output = 0;
    step const all = write_all(d.server, d.client, data);
    CHECK(all.next == want::nothing);
    CHECK(all.bytes == data.size());
    CHECK(d.server.wants_output == data.size() / limits::plaintext_record_max);
    std::vector<std::byte> got;
    CHECK(read_all(d.client, d.server, got).next == want::input);
    CHECK(got == data);
}

TEST_CASE("data of any size comes out as it went in, both ways")
{
    for (protocol_version const version : versions)
        for (std::size_t const chunk :
             {whole, std::size_t{1}, std::size_t{1448}, std::size_t{16384}}) {
            pair_of_contexts const& with = contexts_of(version);
            duet d{with.server, with.client, {.chunk = chunk}, {.chunk = chunk}};
            REQUIRE(d.established());
            for (int const n : {0, 1, 16383, 16384, 16385, 100'000}) {
                std::size_t const size = static_cast<std::size_t>(n);
                std::vector<std::byte> const data = pattern(size);
                std::size_t const before = d.client.come.size();
                std::vector<std::byte> down;
                CHECK(write_all(d.server, d.client, data).bytes == size);
                CHECK((d.client.come.size() > before) == (size > 0)); // No empty records.
                CHECK(read_all(d.client, d.server, down).next == want::input);
                CHECK(down == data);
                std::vector<std::byte> up;
                CHECK(write_all(d.client, d.server, data).bytes == size);
                CHECK(read_all(d.server, d.client, up).next == want::input);
                CHECK(up == data);
            }
        }
}

TEST_CASE("a flight of data may be split anywhere")
{
    for (protocol_version const version : versions) {
        pair_of_contexts const& with = contexts_of(version);
        duet d{with.server, with.client};
        REQUIRE(d.established());
        // Short: at every position. Long: near every border of a record, and at a stride.
        for (std::size_t const size : {std::size_t{100}, std::size_t{40'000}}) {
            std::vector<std::byte> const data = pattern(size);
            std::set<std::size_t> places;
            for (std::size_t i = 1; i<size + 100; i += size> 1000 ? 997 : 1)
                places.insert(i);
            for (std::size_t record = 0; record < size; record += 16384)
                for (std::size_t near = 0; near < 64; ++near)
                    places.insert(record + near + 1);
            for (std::size_t const place : places) {
                d.server.how.split_at = d.server.come.size() + place;
                REQUIRE(write_all(d.client, d.server, data).bytes == size);
                std::vector<std::byte> got;
                step const end = read_all(d.server, d.client, got);
                if (end.error || got != data)
                    FAIL_CHECK(size << " bytes split at " << place);
            }
        }
    }
}

TEST_CASE("small buffers are filled one after the other, and has_plaintext tells of the rest")
{
    for (protocol_version const version : versions) {
        pair_of_contexts const& with = contexts_of(version);
        duet d{with.server, with.client};
        REQUIRE(d.established());
        std::vector<std::byte> const data = pattern(20'000);
        REQUIRE(write_all(d.server, d.client, data).bytes == data.size());

        std::vector<std::byte> got;
        std::array<std::byte, 7> little{};
        wire w{d.client.arrived(), {}, false};
        step const first = d.client.engine.read(w, little);
        CHECK(first.bytes == little.size());
        CHECK(first.next == want::nothing);
        CHECK(d.client.engine.has_plaintext());
        d.client.taken = d.client.come.size() - w.in.size();
        got.assign(little.begin(), little.end());
        CHECK(read_all(d.client, d.server, got, 7).next == want::input);
        CHECK(got == data);
        CHECK(!d.client.engine.has_plaintext());
    }
}

TEST_CASE("no buffer, no bytes: a read into nothing takes nothing")
{
    pair_of_contexts const& with = contexts_of(protocol_version::tls_1_3);
    duet d{with.server, with.client};
    REQUIRE(d.established());
    REQUIRE(write_all(d.client, d.server, bytes_of("x")).bytes == 1);
    wire w{d.server.arrived(), {}, false};
    std::size_t const before = w.in.size();
    step const s = d.server.engine.read(w, {});
    CHECK(!s.error);
    CHECK(s.bytes == 0);
    CHECK(w.in.size() == before);
}

TEST_CASE("what was agreed can be read off both sides")
{
    for (protocol_version const version : versions) {
        pair_of_contexts const& with = contexts_of(version);
        duet d{with.server, with.client};
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

// The newest session that a client of these contexts was given. OpenSSL wants each used once.
session_ptr& newest_session(pair_of_contexts const& with)
{
    static session_ptr newest;
    newest.reset();
    SSL_CTX* const ctx = with.client.native_handle();
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT);
    SSL_CTX_sess_set_new_cb(ctx, [](SSL*, SSL_SESSION* s) {
        newest.reset(s);
        return 1;
    });
    return newest;
}

TEST_CASE("a ticket resumes, at whatever place its handshake is split")
{
    for (protocol_version const version : versions) {
        pair_of_contexts const with = make_contexts({.version = version});
        session_ptr& newest = newest_session(with);
        REQUIRE(visits(with, {}, {}));
        session_ptr session = std::move(newest);
        std::size_t length = 2;
        for (std::size_t at = 1; at < length; ++at) {
            REQUIRE(session != nullptr);
            duet d{with.server, with.client, {.split_at = at}, {.split_at = at}};
            REQUIRE(SSL_set_session(d.client.engine.native_handle(), session.get()) == 1);
            bool const good = visits(d);
            length = std::max(d.server.come.size(), d.client.come.size());
            if (!good || !d.server.engine.info().resumed || !d.client.engine.info().resumed)
                FAIL_CHECK("split at " << at);
            // Not every library's server gives a new ticket for a used one.
            if (newest == nullptr)
                REQUIRE(visits(with, {}, {}));
            session = std::move(newest);
        }
    }
}

TEST_CASE("a KeyUpdate is answered on the way, and no byte is lost around it")
{
    pair_of_contexts const& with = contexts_of(protocol_version::tls_1_3);
    for (std::size_t const chunk : {whole, std::size_t{1}}) {
        duet d{with.server, with.client, {.chunk = chunk}, {.chunk = chunk}};
        REQUIRE(d.established());
        std::vector<std::byte> settled; // The tickets.
        REQUIRE(read_all(d.client, d.server, settled).next == want::input);
        std::vector<std::byte> up;
        for (int i = 0; i < 3; ++i) {
            REQUIRE(request_key_update(d.client.engine));
            REQUIRE(write_all(d.client, d.server, bytes_of("new")).bytes == 3);
            std::size_t const before = d.client.come.size();
            CHECK(read_all(d.server, d.client, up).next == want::input);
            REQUIRE(write_all(d.server, d.client, bytes_of("keys")).bytes == 4);
            // The answer to the request, and the data.
            CHECK(d.client.come.size() - before > 4 + 2 * (limits::record_header_size + 17));
            std::vector<std::byte> down;
            CHECK(read_all(d.client, d.server, down).next == want::input);
            CHECK(text_of(down) == "keys");
        }
        CHECK(text_of(up) == "newnewnew");
    }
}

TEST_CASE("a KeyUpdate, the answer to it and the end may be split anywhere")
{
    pair_of_contexts const& with = contexts_of(protocol_version::tls_1_3);
    std::size_t longest = 1;
    for (std::size_t place = 0; place < longest; ++place) {
        duet d{with.server, with.client};
        REQUIRE(d.established());
        std::vector<std::byte> settled; // The tickets.
        REQUIRE(read_all(d.client, d.server, settled).next == want::input);
        std::size_t const up_before = d.server.come.size();
        std::size_t const down_before = d.client.come.size();
        d.server.how.split_at = up_before + place;
        d.client.how.split_at = down_before + place;
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
        CHECK_MESSAGE(well, "split at " << place);
        longest = std::max(d.server.come.size() - up_before, d.client.come.size() - down_before);
    }
    CHECK(longest > 3 * limits::record_header_size);
}

TEST_CASE("who has closed can still read, and no more write")
{
    for (protocol_version const version : versions) {
        pair_of_contexts const& with = contexts_of(version);
        duet d{with.server, with.client};
        REQUIRE(d.established());
        REQUIRE(!close(d.client, d.server).error);
        std::size_t const sent = d.server.come.size();
        CHECK(!close(d.client, d.server).error);
        CHECK(d.server.come.size() == sent); // Once is enough.
        CHECK(write_all(d.client, d.server, bytes_of("x")).error == error::write_after_close);

        std::vector<std::byte> nothing;
        CHECK(read_all(d.server, d.client, nothing).error == error::closed);
        CHECK(read_all(d.server, d.client, nothing).error == error::closed); // And stays closed.
        std::vector<std::byte> const answer = pattern(50'000);
        CHECK(write_all(d.server, d.client, answer).bytes == answer.size());
        CHECK(!close(d.server, d.client).error);
        std::vector<std::byte> got;
        CHECK(read_all(d.client, d.server, got).error == error::closed);
        CHECK(got == answer);
    }
}

TEST_CASE("closing before the handshake is done says nothing")
{
    pair_of_contexts const& with = contexts_of(protocol_version::tls_1_3);
    duet d{with.server, with.client};
    CHECK(!close(d.server, d.client).error);
    CHECK(d.client.come.empty());
}

TEST_CASE("data and then FIN is data and then a truncation, in one call")
{
    for (protocol_version const version : versions) {
        pair_of_contexts const& with = contexts_of(version);
        duet d{with.server, with.client};
        REQUIRE(d.established());
        REQUIRE(write_all(d.client, d.server, bytes_of("half")).bytes == 4);
        d.server.fin = true;
        std::array<std::byte, 100> plaintext{};
        std::array<std::byte, 1000> room{};
        wire w{d.server.arrived(), room, true};
        step const s = d.server.engine.read(w, plaintext);
        CHECK(s.bytes == 4);
        CHECK(s.error == error::truncated);
        // What has ended stays ended, and its other half still works.
        d.server.taken = d.server.come.size();
        std::vector<std::byte> more;
        CHECK(read_all(d.server, d.client, more).error == error::truncated);
        CHECK(write_all(d.server, d.client, bytes_of("all")).bytes == 3);
    }
}

TEST_CASE("a peer's fatal alert is told by its number")
{
    for (protocol_version const version : versions) {
        pair_of_contexts const& with = contexts_of(version);
        context_spec stranger; // Does not know who issued the server's certificate.
        stranger.role = role::client;
        stranger.version_min = stranger.version_max = version;
        stranger.verify = peer_verification::required;
        stranger.verify_authorities = make_identity({.authority = true}).certificate_pem;
        stranger.server_name = "cleat.example";
        stranger.alpn = {"echo/1"};
        context const suspicious{stranger};
        std::size_t length = 1; // Of what the server gets: a hello, and the alert.
        for (std::size_t at = 0; at <= length; ++at) {
            // Nothing is split at 0, and the last place is behind the end: a byte at a time there.
            delivery const how = at < length ? delivery{.split_at = at} : delivery{.chunk = 1};
            duet d{with.server, suspicious, how, how};
            auto const [of_server, of_client] = d.shake();
            CHECK(of_client.error == error::bad_certificate);
            error_code verdict = of_server.error;
            if (!verdict && d.server.engine.established()) {
                std::vector<std::byte> nothing;
                verdict = read_all(d.server, d.client, nothing).error;
            }
            CHECK(verdict == error::peer_alert);
            CHECK(d.server.engine.failure().peer_alert == SSL_AD_UNKNOWN_CA);
            CHECK(!d.server.engine.failure().reason.empty());
            // What is wrong with the certificate, not only that something is.
            CHECK(d.client.engine.failure().reason.find("certificate") != std::string::npos);
            length = d.server.come.size();
        }
    }
}

TEST_CASE("a required client certificate that is not sent is missed by name")
{
    for (protocol_version const version : versions) {
        pair_of_contexts const with =
            make_contexts({version, key_type::ecdsa_p256, peer_verification::required, false});
        duet d{with.server, with.client};
        auto const [of_server, of_client] = d.shake();
        CHECK(of_server.error == error::no_client_certificate);
        CHECK(!d.server.engine.established());
    }
}

// What a server's handshake ends with when these are the first bytes, whole and one by one.
error_code verdict_on(std::string_view first_bytes, std::size_t chunk, bool fin)
{
    pair_of_contexts const& with = contexts_of(protocol_version::tls_1_3);
    duet d{with.server, with.client, {.chunk = chunk}};
    d.server.arrive(bytes_of(first_bytes));
    d.server.fin = fin;
    step const s = drive(d.server, d.client, [](engine& e, wire& w) { return e.handshake(w); });
    CHECK(!d.server.engine.established());
    CHECK(d.server.engine.info().version.empty()); // Asked for by a log line, whatever failed.
    return s.error;
}

TEST_CASE("what is no TLS is named, also when it comes byte by byte")
{
    using namespace std::string_view_literals;
    for (std::size_t const chunk : {whole, std::size_t{1}}) {
        CHECK(
            verdict_on("GET / HTTP/1.1\r\nHost: a\r\n\r\n"sv, chunk, false) == error::http_request);
        CHECK(verdict_on("SSH-2.0-OpenSSH_9.2p1 Debian\r\n"sv, chunk, false) == error::not_tls);
        CHECK(verdict_on("PROXYING"sv, chunk, false) == error::not_tls);
        CHECK(verdict_on(std::string(64, '\0'), chunk, false) == error::not_tls);
        CHECK(verdict_on(std::string(64, '\xff'), chunk, false) == error::not_tls);
        CHECK(verdict_on(""sv, chunk, true) == error::truncated);
        CHECK(verdict_on("\x16"sv, chunk, true) == error::truncated);
        CHECK(verdict_on("\x16\x03\x01\x02\x00\x01\x00"sv, chunk, true) == error::truncated);
    }
}

TEST_CASE("a PROXY header that nobody has asked for is named")
{
    using namespace std::string_view_literals;
    CHECK(
        verdict_on("PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n"sv, whole, false) ==
        error::proxy_header);
    CHECK(verdict_on("\r\n\r\n\0\r\nQUIT\n\x20\0\0\0"sv, whole, false) == error::proxy_header);
}

TEST_CASE("an engine knows whether its peer has said anything at all")
{
    pair_of_contexts const& with = contexts_of(protocol_version::tls_1_3);
    duet d{with.server, with.client};
    CHECK_FALSE(d.server.engine.has_heard());
    d.server.fin = true;
    step const s = drive(d.server, d.client, [](engine& e, wire& w) { return e.handshake(w); });
    CHECK(s.error == error::truncated);
    CHECK_FALSE(d.server.engine.has_heard());

    duet said{with.server, with.client};
    said.server.arrive(bytes_of("\x16"));
    said.server.fin = true;
    static_cast<void>(
        drive(said.server, said.client, [](engine& e, wire& w) { return e.handshake(w); }));
    CHECK(said.server.engine.has_heard());
}

TEST_CASE("an unknown name is refused and named")
{
    for (protocol_version const version : versions) {
        pair_of_contexts const& with = contexts_of(version);
        context_spec lost;
        lost.role = role::client;
        lost.version_min = lost.version_max = version;
        lost.server_name = "elsewhere.example";
        context const asks{lost};
        for (std::size_t const chunk : {whole, std::size_t{1}}) {
            duet d{with.server, asks, {.chunk = chunk}};
            auto const [of_server, of_client] = d.shake();
            CHECK(of_server.error == error::unknown_name);
            // A log line asks for this after every failure. OpenSSL has not parsed the name by
            // then.
            std::string_view const name = d.server.engine.info().server_name;
            CHECK((name.empty() || name == "elsewhere.example"));
            CHECK(d.server.engine.info().group.empty());
            CHECK(of_client.error == error::peer_alert);
        }
    }
}

TEST_CASE("any changed byte of a record is a violation and never data")
{
    for (protocol_version const version : versions) {
        pair_of_contexts const& with = contexts_of(version);
        std::size_t length = 1;
        for (std::size_t at = 0; at < length; ++at) {
            duet d{with.server, with.client};
            REQUIRE(d.established());
            std::size_t const begin = d.server.come.size();
            REQUIRE(write_all(d.client, d.server, bytes_of("data")).bytes == 4);
            length = d.server.come.size() - begin;
            d.server.come[begin + at] ^= std::byte{0x40};
            d.server.fin = true;
            std::vector<std::byte> got;
            step const s = read_all(d.server, d.client, got);
            CHECK_MESSAGE(got.empty(), "changed at " << at);
            // A longer length waits for bytes that never come.
            bool const named = s.error == error::protocol_violation ||
                               s.error == error::truncated || s.error == error::not_tls ||
                               s.error == error::no_shared_version;
            CHECK_MESSAGE(named, "changed at " << at << ": " << s.error.message());
        }
    }
}

TEST_CASE("an engine can move house in the middle of everything")
{
    pair_of_contexts const& with = contexts_of(protocol_version::tls_1_3);
    duet d{with.server, with.client, {.chunk = 1}};
    side& server = d.server;
    auto const move_it = [&](engine& e, wire& w) {
        engine elsewhere{std::move(e)};
        step const s = elsewhere.handshake(w);
        e = std::move(elsewhere);
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
} // namespace cleat::tls
