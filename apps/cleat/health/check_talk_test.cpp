#include "health/check_talk.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/core/text_for_tests.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/connection_for_tests.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/engine.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace cleat::app::check_talk_test {
namespace {

using stage = check_talk::stage;
constexpr std::size_t no_split = static_cast<std::size_t>(-1);

tls::test_identity const& authority()
{
    static tls::test_identity const made =
        tls::make_identity({.common_name = "authority", .authority = true});
    return made;
}

tls::test_identity identity_of(std::string const& name, int valid_to_days = 30)
{
    return tls::make_identity(
        {.names = {name},
         .issuer = &authority(),
         .valid_from_days = -10,
         .valid_to_days = valid_to_days});
}

tls::context_spec server_spec(tls::test_identity const& shown)
{
    tls::context_spec made;
    made.certificates = {shown.source("server")};
    return made;
}

check_rule rule_of(std::string send, std::string expect)
{
    check_tls made;
    made.spec.role = tls::role::client;
    made.spec.verify = tls::peer_verification::required;
    made.spec.verify_authorities = authority().certificate_pem;
    check_rule rule{.is_on = true, .send = std::move(send), .expect = std::move(expect)};
    rule.tls = std::make_shared<check_tls const>(std::move(made));
    return rule;
}

check_rule with_version(check_rule rule, tls::protocol_version version)
{
    check_tls made = *rule.tls;
    made.spec.version_min = made.spec.version_max = version;
    rule.tls = std::make_shared<check_tls const>(std::move(made));
    return rule;
}

// A server in memory, which answers once it has heard something.
struct server_end
{
    explicit server_end(tls::context const& settings, std::string answer = {})
        : engine{settings}, left{std::move(answer)}
    {
    }

    // Returns the answer to the bytes.
    std::string receive(std::string_view bytes)
    {
        std::array<std::byte, 4 * limits::record_max> room; // NOLINT: filled by the calls
        std::array<std::byte, 4096> text;                   // NOLINT: likewise
        tls::wire w{std::as_bytes(std::span{bytes}), room};
        if (!engine.established() && engine.handshake(w).error)
            return said(room, w);
        if (engine.established()) {
            tls::step const read = engine.read(w, text);
            heard.append(reinterpret_cast<char const*>(text.data()), read.bytes);
            has_ended = has_ended || read.error == error::closed;
            if (!heard.empty() && !left.empty()) {
                std::span<std::byte const> const pieces[] = {std::as_bytes(std::span{left})};
                REQUIRE(engine.write(w, pieces).bytes == left.size());
                left.clear();
            }
        }
        return said(room, w);
    }

    static std::string said(std::span<std::byte> room, tls::wire const& w)
    {
        return {reinterpret_cast<char const*>(room.data()), room.size() - w.out.size()};
    }

    tls::engine engine;
    std::string left; // Its answer.
    std::string heard;
    bool has_ended = false;
};

// A direction whose bytes come in two parts: no call has bytes on both sides of the split.
struct direction
{
    std::size_t split = no_split;
    std::size_t count = 0;

    template <class Use>
    void deliver(std::string_view bytes, Use use)
    {
        std::size_t const first = split <= count ? 0 : std::min(split - count, bytes.size());
        count += bytes.size();
        if (first != 0)
            use(bytes.substr(0, first));
        if (first != bytes.size())
            use(bytes.substr(first));
    }
};

// Until neither side has more to say.
void converse(check_talk& talk, server_end& server, direction& to_server, direction& to_client)
{
    for (;;) {
        std::string const bytes{talk.unsent()};
        talk.sent(bytes.size());
        if (bytes.empty())
            return;
        std::string answer;
        to_server.deliver(bytes, [&](std::string_view part) { answer += server.receive(part); });
        to_client.deliver(answer, [&](std::string_view part) {
            talk.receive(std::as_bytes(std::span{part}), false);
        });
    }
}

void converse(check_talk& talk, server_end& server)
{
    direction to_server;
    direction to_client;
    converse(talk, server, to_server, to_client);
}

void receive(check_talk& talk, std::string_view text, bool ended = false)
{
    talk.receive(std::as_bytes(std::span{text}), ended);
}

// The result of a check of a server with these settings.
std::string failure_of(tls::context_spec const& spec, check_rule const& rule)
{
    tls::context const server_context{spec};
    tls::context const context{rule.tls->spec};
    server_end server{server_context};
    check_talk talk{rule, &context, "a.test"};
    converse(talk, server);
    CHECK(talk.present() == stage::failed);
    return talk.reason();
}

} // namespace

TEST_CASE("the answer inside TLS is found, wherever the bytes are split")
{
    tls::test_identity const shown = identity_of("a.test");
    tls::context const server_context{server_spec(shown)};
    for (tls::protocol_version const version : tls::both_versions) {
        check_rule const rule = with_version(rule_of("PING", "PONG"), version);
        tls::context const context{rule.tls->spec};
        direction to_server{0};
        direction to_client{0};
        for (std::size_t split = 0;
             split == 0 || split < std::max(to_server.count, to_client.count); ++split) {
            to_server = {split};
            to_client = {split};
            server_end server{server_context, "+PONG"};
            check_talk talk{rule, &context, "a.test"};
            CHECK(talk.present() == stage::shakes_hands);
            converse(talk, server, to_server, to_client);
            REQUIRE(talk.present() == stage::passed);
            REQUIRE(server.heard == "PING");
            REQUIRE(server.has_ended);
        }
    }
}

TEST_CASE("a handshake is enough where nothing is expected, and ends with a close_notify")
{
    tls::test_identity const shown = identity_of("a.test");
    for (tls::protocol_version const version : tls::both_versions) {
        check_rule const rule = with_version(rule_of("", ""), version);
        tls::context const server_context{server_spec(shown)};
        tls::context const context{rule.tls->spec};
        server_end server{server_context};
        check_talk talk{rule, &context, "a.test"};
        converse(talk, server);
        CHECK(server.has_ended);
        if (version == tls::protocol_version::tls_1_2) {
            CHECK(talk.present() == stage::passed);
            continue;
        }
        CHECK(talk.is_enough()); // The server can still refuse us.
        receive(talk, "", true);
        CHECK(talk.present() == stage::passed);
    }
}

TEST_CASE("a server that is not trusted fails by name")
{
    check_rule const rule = rule_of("", "");
    CHECK(
        failure_of(server_spec(identity_of("a.test", -1)), rule) ==
        "the server's certificate has expired");
    CHECK(
        failure_of(server_spec(identity_of("b.test")), rule) ==
        "the server's certificate is for another name");
    CHECK(
        failure_of(server_spec(tls::make_identity({.names = {"a.test"}})), rule) ==
        "no trusted authority has signed the server's certificate");
}

TEST_CASE("the server reads the alert with which it is refused")
{
    tls::test_identity const shown = identity_of("b.test");
    tls::context const server_context{server_spec(shown)};
    check_rule const rule = rule_of("", "");
    tls::context const context{rule.tls->spec};
    server_end server{server_context};
    check_talk talk{rule, &context, "a.test"};
    converse(talk, server);
    CHECK(server.engine.failure().peer_alert > 0);
}

TEST_CASE("a server that misses our certificate has refused us")
{
    tls::test_identity const shown = identity_of("a.test");
    tls::context_spec spec = server_spec(shown);
    spec.verify = tls::peer_verification::required;
    spec.verify_authorities = authority().certificate_pem;
    CHECK(
        failure_of(spec, with_version(rule_of("", ""), tls::protocol_version::tls_1_2)) ==
        "the server sent the alert handshake_failure");
    CHECK(
        failure_of(spec, with_version(rule_of("", ""), tls::protocol_version::tls_1_3)) ==
        "the server sent the alert certificate_required");
    check_rule rule = rule_of("", "");
    check_tls made = *rule.tls;
    tls::test_identity const own = identity_of("client");
    made.spec.certificates = {own.source("own")};
    rule.tls = std::make_shared<check_tls const>(std::move(made));
    tls::context const server_context{spec};
    tls::context const context{rule.tls->spec};
    server_end server{server_context};
    check_talk talk{rule, &context, "a.test"};
    converse(talk, server);
    CHECK(talk.is_enough());
    CHECK(server.engine.info().peer_certificate);
}

TEST_CASE("a server that speaks no TLS, or ends in the handshake, fails")
{
    check_rule const rule = rule_of("", "");
    tls::context const context{rule.tls->spec};
    check_talk talk{rule, &context, "a.test"};
    receive(talk, "SSH-2.0-OpenSSH_9.2\r\n");
    CHECK(talk.present() == stage::failed);
    CHECK(talk.reason() == "the first bytes are not TLS");
    check_talk other{rule, &context, "a.test"};
    receive(other, "", true);
    CHECK(other.present() == stage::failed);
    CHECK(other.reason() == "the server has ended the connection within the TLS handshake");
}

TEST_CASE("the name goes out as SNI, and the protocols by ALPN")
{
    check_rule rule = rule_of("", "");
    check_tls made = *rule.tls;
    made.spec.alpn = {"h2", "http/1.1"};
    rule.tls = std::make_shared<check_tls const>(std::move(made));
    tls::test_identity const shown = identity_of("a.test");
    tls::context_spec spec = server_spec(shown);
    spec.alpn = {"http/1.1"};
    tls::context const server_context{spec};
    tls::context const context{rule.tls->spec};
    server_end server{server_context};
    check_talk talk{rule, &context, "a.test"};
    converse(talk, server);
    CHECK(server.engine.info().server_name == "a.test");
    CHECK(server.engine.info().alpn == "http/1.1");
}

TEST_CASE("a header comes before TLS, or is the first inside it")
{
    check_rule rule = rule_of("PING", "PONG");
    rule.header = "PROXY UNKNOWN\r\n";
    tls::context const context{rule.tls->spec};
    check_talk talk{rule, &context, "a.test"};
    CHECK(talk.unsent().starts_with("PROXY UNKNOWN\r\n\x16\x03"));

    check_tls made = *rule.tls;
    made.is_header_inside = true;
    rule.tls = std::make_shared<check_tls const>(std::move(made));
    tls::test_identity const shown = identity_of("a.test");
    tls::context const server_context{server_spec(shown)};
    server_end server{server_context, "PONG"};
    check_talk inside{rule, &context, "a.test"};
    CHECK(inside.unsent().starts_with("\x16\x03"));
    converse(inside, server);
    CHECK(server.heard == "PROXY UNKNOWN\r\nPING");
    CHECK(inside.present() == stage::passed);
}

TEST_CASE("without TLS the header and the text go out at once")
{
    check_rule const quiet{.is_on = true, .header = "PROXY UNKNOWN\r\n"};
    check_talk talk{quiet, nullptr, {}};
    CHECK(talk.unsent() == "PROXY UNKNOWN\r\n");
    CHECK(talk.present() == stage::passed);
    check_rule const rule{
        .is_on = true, .send = "PING", .expect = "PONG", .header = "PROXY UNKNOWN\r\n"};
    check_talk other{rule, nullptr, {}};
    CHECK(other.unsent() == "PROXY UNKNOWN\r\nPING");
    receive(other, "+PO");
    CHECK(other.present() == stage::waits);
    receive(other, "NG");
    CHECK(other.present() == stage::passed);
}

TEST_CASE("an answer inside TLS that ends, or is long, without the expected text fails")
{
    tls::test_identity const shown = identity_of("a.test");
    tls::context const server_context{server_spec(shown)};
    check_rule const rule = rule_of("PING", "PONG");
    tls::context const context{rule.tls->spec};
    server_end server{server_context, "ERROR"};
    check_talk talk{rule, &context, "a.test"};
    converse(talk, server);
    CHECK(talk.present() == stage::waits);
    receive(talk, "", true);
    CHECK(talk.reason() == "the answer has ended without the expected text");

    server_end talker{server_context, std::string(limits::check_answer_max, 'x') + "PONG"};
    check_talk other{rule, &context, "a.test"};
    converse(other, talker);
    CHECK(other.present() == stage::failed);
    CHECK(contains(other.reason(), "the first 4096 bytes of the answer lack the expected text"));
}

} // namespace cleat::app::check_talk_test
