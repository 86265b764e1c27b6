// A client's end of an HTTP/2 connection: what it sends is read as a server reads it, and what the
// server sends is taken whole, and split at every byte.

#include "generate/http2_peer.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nghttp2/nghttp2.h>

namespace cleat::bench::http2_peer_test {
namespace {

using kind = http2_peer::event::kind;

// A frame (RFC 9113, section 4.1).
struct frame
{
    int type;
    int flags;
    std::uint32_t stream;
    std::string payload;
};

enum frame_type : std::uint8_t
{
    data = 0,
    headers = 1,
    rst_stream = 3,
    settings = 4,
    ping = 6,
    goaway = 7,
    window_update = 8,
};
constexpr int end_stream = 1;
constexpr int ack = 1;
constexpr int end_headers = 4;

std::string number(std::uint32_t value, int size = 4)
{
    std::string bytes;
    for (int i = size; i-- != 0;)
        bytes += static_cast<char>(value >> (8 * i));
    return bytes;
}

std::uint32_t number_in(std::string_view bytes)
{
    std::uint32_t value = 0;
    for (char const c : bytes)
        value = value << 8U | static_cast<unsigned char>(c);
    return value;
}

std::string written(frame const& one)
{
    return number(static_cast<std::uint32_t>(one.payload.size()), 3) + static_cast<char>(one.type) +
           static_cast<char>(one.flags) + number(one.stream) + one.payload;
}

std::string settings_of(std::vector<std::pair<std::uint32_t, std::uint32_t>> const& all)
{
    std::string payload;
    for (auto const& [name, value] : all)
        payload += number(name, 2) + number(value);
    return written({settings, 0, 0, payload});
}

// A field as a literal that is not indexed (RFC 7541, section 6.2.2).
std::string field(std::string_view name, std::string_view value)
{
    return std::string(1, '\0') + static_cast<char>(name.size()) + std::string{name} +
           static_cast<char>(value.size()) + std::string{value};
}

std::string head(
    std::uint32_t stream, std::string_view status, int flags = 0, std::string_view more = {})
{
    return written(
        {headers, end_headers | flags, stream, field(":status", status) + std::string{more}});
}

std::string body(std::uint32_t stream, std::string_view text, int flags = end_stream)
{
    return written({data, flags, stream, std::string{text}});
}

std::string go_away(std::uint32_t last, std::uint32_t code)
{
    return written({goaway, 0, 0, number(last) + number(code)});
}

std::string reset(std::uint32_t stream, std::uint32_t code)
{
    return written({rst_stream, 0, stream, number(code)});
}

std::vector<frame> frames_in(std::string_view bytes)
{
    std::vector<frame> found;
    while (bytes.size() >= 9) {
        std::size_t const size = number_in(bytes.substr(0, 3));
        found.push_back(
            {bytes[3], bytes[4], number_in(bytes.substr(5, 4)),
             std::string{bytes.substr(9, size)}});
        bytes.remove_prefix(9 + size);
    }
    CHECK(bytes.empty());
    return found;
}

// The fields of a head, as text: "name: value" in lines.
std::string fields_in(std::string const& block)
{
    nghttp2_hd_inflater* reader = nullptr;
    REQUIRE(nghttp2_hd_inflate_new(&reader) == 0);
    std::string text;
    auto const* rest = reinterpret_cast<std::uint8_t const*>(block.data());
    std::size_t left = block.size();
    for (int flags = 0; (flags & NGHTTP2_HD_INFLATE_FINAL) == 0;) {
        nghttp2_nv one{};
        ssize_t const taken = nghttp2_hd_inflate_hd2(reader, &one, &flags, rest, left, 1);
        REQUIRE(taken >= 0);
        rest += taken;
        left -= static_cast<std::size_t>(taken);
        if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0)
            text += fmt::format(
                "{}: {}\n", std::string_view{reinterpret_cast<char*>(one.name), one.namelen},
                std::string_view{reinterpret_cast<char*>(one.value), one.valuelen});
    }
    nghttp2_hd_inflate_del(reader);
    return text;
}

http2_load load_of(unsigned streams, std::string body_text = {})
{
    http2_load load;
    load.streams = streams;
    load.requests = {
        {{{":method", "GET"}, {":scheme", "https"}, {":authority", "a"}, {":path", "/"}}},
        {{{":method", "GET"}, {":scheme", "https"}, {":authority", "a"}, {":path", "/b"}}}};
    load.body = std::move(body_text);
    return load;
}

// client is a peer with its load. `sent` is what it wants to send, in pieces of so many bytes.
struct client
{
    explicit client(http2_load of_load, exchange of_exchange = {})
        : load{std::move(of_load)}, wanted{std::move(of_exchange)}
    {
    }

    std::string sent(std::size_t piece = 4096)
    {
        std::string all;
        std::string block(piece, '\0');
        while (peer.has_to_send()) {
            std::size_t const made = peer.make(std::as_writable_bytes(std::span{block}));
            if (made == 0)
                break;
            all.append(block, 0, made);
        }
        return all;
    }

    void take(std::string_view bytes) { peer.take(std::as_bytes(std::span{bytes})); }

    // The ends since the last call: "0 ok" or "1 wrong status 503", with commas.
    std::string ends()
    {
        std::string text;
        for (http2_peer::event const& each : peer.events())
            if (each.what == kind::ended)
                text += fmt::format(
                    "{}{} {}{}", text.empty() ? "" : ", ", each.stream,
                    each.fault.empty() ? "ok" : each.fault, each.is_unprocessed ? "*" : "");
        peer.clear_events();
        return text;
    }

    http2_load load;
    exchange wanted;
    http2_peer peer{load, wanted};
};

constexpr std::string_view preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

TEST_CASE("the preface, the settings and the first request leave together")
{
    for (std::size_t const piece : {1U, 2U, 7U, 4096U}) {
        client one{load_of(1)};
        CHECK(one.peer.room() == 1);
        CHECK(one.peer.begin(1) == 0);
        CHECK(one.peer.room() == 0);
        std::string const sent = one.sent(piece);
        REQUIRE(sent.starts_with(preface));
        std::vector<frame> const all = frames_in(std::string_view{sent}.substr(preface.size()));
        REQUIRE(all.size() == 3);
        CHECK(all[0].type == settings);
        CHECK(all[0].payload == number(2, 2) + number(0) + number(4, 2) + number(1 << 30));
        CHECK(all[1].type == window_update);
        CHECK(number_in(all[1].payload) == (1U << 30U) - 65'535);
        CHECK(all[2].type == headers);
        CHECK(all[2].flags == (end_stream | end_headers));
        CHECK(
            fields_in(all[2].payload) ==
            ":method: GET\n:scheme: https\n:authority: a\n:path: /b\n");
        CHECK_FALSE(one.peer.has_to_send());
    }
}

TEST_CASE("streams after the first wait for the server's settings, and keep to their limit")
{
    client one{load_of(8)};
    CHECK_FALSE(one.peer.allowed());
    CHECK(one.peer.room() == 1);
    one.peer.begin(0);
    CHECK(one.peer.room() == 0);
    one.sent();
    SUBCASE("a server that allows fewer")
    {
        one.take(settings_of({{3, 5}}));
        CHECK(one.peer.allowed() == 5);
        CHECK(one.peer.room() == 4);
        one.take(settings_of({{3, 0}})); // It may change its mind.
        CHECK(one.peer.room() == 0);
        one.take(settings_of({{3, 2}}));
        CHECK(one.peer.room() == 1);
    }
    SUBCASE("a server without a limit")
    {
        one.take(settings_of({}));
        CHECK(one.peer.room() == 7);
    }
    std::vector<frame> const all = frames_in(one.sent());
    REQUIRE(!all.empty());
    CHECK(all.back().type == settings); // The acknowledgement.
    CHECK(all.back().flags == ack);
}

// Two answers, with an interim one before, a body in several frames, padding and a trailer.
std::string two_answers()
{
    std::string const padded = std::string(1, '\3') + "wor" + std::string(3, '\0');
    return settings_of({{3, 100}}) + head(3, "103") + head(1, "200") + head(3, "200") +
           body(1, "hello", 0) + written({data, 8, 3, padded}) + body(3, "ld", 0) +
           written({headers, end_headers | end_stream, 3, field("x-sum", "1")}) +
           written({ping, 0, 0, "12345678"}) + body(1, "");
}

TEST_CASE("answers of two streams are told apart, at every split")
{
    std::string const bytes = two_answers();
    exchange wanted;
    wanted.size = 5;
    for (std::size_t split = 0; split <= bytes.size(); ++split) {
        client one{load_of(2), wanted};
        one.peer.begin(0);
        one.sent();
        one.take(settings_of({{3, 2}}));
        one.peer.begin(1);
        one.sent();
        one.take(bytes.substr(0, split));
        std::string ends = one.ends();
        one.take(bytes.substr(split));
        std::string const more = one.ends();
        ends += (ends.empty() || more.empty() ? "" : ", ") + more;
        CHECK(ends == "1 ok, 0 ok");
        CHECK(one.peer.open() == 0);
        CHECK(one.peer.room() == 2);
        CHECK(one.sent().find("12345678") != std::string::npos);
        CHECK(one.peer.fault().empty());
    }
}

TEST_CASE("the first bytes of an answer are told once for each piece")
{
    client one{load_of(1)};
    one.peer.begin(0);
    one.sent();
    one.take(settings_of({}) + head(1, "200") + body(1, "a", 0) + body(1, "b", 0));
    REQUIRE(one.peer.events().size() == 1);
    CHECK(one.peer.events()[0].what == kind::came);
    one.peer.clear_events();
    one.take(body(1, "c"));
    REQUIRE(one.peer.events().size() == 2);
    CHECK(one.peer.events()[0].what == kind::came);
    CHECK(one.ends() == "0 ok");
}

std::string end_of(std::string const& bytes, exchange wanted = {})
{
    client one{load_of(1), std::move(wanted)};
    one.peer.begin(0);
    one.sent();
    one.take(settings_of({}) + bytes);
    one.sent();
    std::string found = one.ends();
    CHECK(one.peer.open() == (found.empty() ? 1 : 0));
    return found;
}

TEST_CASE("a wrong answer has the same name as over HTTP/1.1")
{
    exchange wanted;
    wanted.body = "lo wo";
    CHECK(end_of(head(1, "200") + body(1, "hello w", 0) + body(1, "orld"), wanted) == "0 ok");
    CHECK(end_of(head(1, "200") + body(1, "hello"), wanted) == "0 wrong body");
    CHECK(end_of(head(1, "200", end_stream), wanted) == "0 wrong body");
    CHECK(end_of(head(1, "503", end_stream)) == "0 wrong status 503");
    CHECK(end_of(head(1, "302", end_stream)) == "0 ok");
    wanted = {};
    wanted.status = 404;
    CHECK(end_of(head(1, "404", end_stream), wanted) == "0 ok");
    CHECK(end_of(head(1, "200", end_stream), wanted) == "0 wrong status 200");
    wanted = {};
    wanted.size = 3;
    CHECK(end_of(head(1, "200") + body(1, "ab"), wanted) == "0 short answer");
    CHECK(end_of(head(1, "200") + body(1, "abcd"), wanted) == "0 long answer");
    std::string const ten = field("content-length", "10");
    CHECK(end_of(head(1, "200", 0, ten) + body(1, "abc")) == "0 answer cut off");
    CHECK(end_of(head(1, "200", 0, ten) + body(1, "abc", 0)) == "");
}

TEST_CASE("a head is enough where it has the length and no more is wanted")
{
    exchange wanted;
    wanted.until_head = true;
    wanted.size = 10;
    CHECK(end_of(head(1, "200", 0, field("content-length", "10")), wanted) == "0 ok");
    CHECK(end_of(head(1, "200", 0, field("content-length", "11")), wanted) == "0 long answer");
    CHECK(end_of(head(1, "200"), wanted) == "");
}

TEST_CASE("a stream that is reset fails by the name of the error")
{
    CHECK(end_of(reset(1, 2)) == "0 RST_STREAM INTERNAL_ERROR");
    CHECK(end_of(head(1, "200") + reset(1, 7)) == "0 RST_STREAM REFUSED_STREAM");
    CHECK(end_of(head(1, "200") + body(1, "a", 0) + reset(1, 0)) == "0 RST_STREAM NO_ERROR");
    CHECK(end_of(reset(1, 99)) == "0 RST_STREAM error 0x63");
    // After its end a stream may be reset, for the rest of a request.
    CHECK(end_of(head(1, "200", end_stream) + reset(1, 0)) == "0 ok");
    CHECK(
        end_of(written({headers, end_headers | end_stream, 1, field("x", "1")})) ==
        "0 protocol: malformed answer");
}

TEST_CASE("a GOAWAY ends the streams that the server has not touched, at every split")
{
    std::string const bytes = go_away(1, 0) + head(1, "200", end_stream);
    for (std::size_t split = 0; split <= bytes.size(); ++split) {
        client one{load_of(3)};
        one.peer.begin(0);
        one.sent();
        one.take(settings_of({}));
        one.peer.begin(0);
        one.peer.begin(0);
        one.sent();
        one.take(bytes.substr(0, split));
        one.take(bytes.substr(split));
        CHECK(
            one.ends() == "1 unprocessed, GOAWAY NO_ERROR*, 2 unprocessed, GOAWAY NO_ERROR*, 0 ok");
        REQUIRE(one.peer.left());
        CHECK(one.peer.left()->is_graceful);
        CHECK(one.peer.left()->has_served);
        CHECK(one.peer.is_used_up());
        CHECK(one.peer.room() == 0);
    }
}

TEST_CASE("a GOAWAY with an error has its name")
{
    client one{load_of(1)};
    one.peer.begin(0);
    one.sent();
    one.take(settings_of({}) + go_away(0, 11));
    CHECK(one.ends() == "0 unprocessed, GOAWAY ENHANCE_YOUR_CALM*");
    REQUIRE(one.peer.left());
    CHECK_FALSE(one.peer.left()->is_graceful);
    CHECK_FALSE(one.peer.left()->has_served);
    CHECK(one.peer.left()->reason == "ENHANCE_YOUR_CALM");
}

TEST_CASE("a request that a GOAWAY overtakes is not sent")
{
    client one{load_of(2)};
    one.peer.begin(0);
    one.sent();
    one.take(settings_of({}));
    one.peer.begin(0);
    one.take(go_away(1, 0));
    CHECK(frames_in(one.sent()).size() == 1); // The acknowledgement of the settings.
    CHECK(one.ends() == "1 unprocessed, GOAWAY NO_ERROR*");
    CHECK(one.peer.open() == 1);
    one.take(head(1, "200", end_stream));
    CHECK(one.ends() == "0 ok");
    CHECK(one.peer.open() == 0);
}

TEST_CASE("a stream that is cancelled makes room once its reset has left")
{
    client one{load_of(1)};
    one.peer.begin(0);
    one.sent();
    one.take(settings_of({}) + head(1, "200"));
    one.ends();
    one.peer.cancel(0);
    CHECK(one.peer.room() == 0);
    std::vector<frame> const all = frames_in(one.sent());
    CHECK(all.back().type == rst_stream);
    CHECK(number_in(all.back().payload) == 8); // CANCEL.
    CHECK(one.ends().empty());
    CHECK(one.peer.room() == 1);
    one.peer.begin(1);
    one.sent();
    one.take(body(1, "late") + head(3, "200", end_stream));
    CHECK(one.ends() == "0 ok");
}

TEST_CASE("a request's body keeps to the server's window")
{
    client one{load_of(1, std::string(100'000, 'x'))};
    one.peer.begin(0);
    std::size_t sent = 0;
    auto const count = [&](std::string_view bytes) {
        for (frame const& each : frames_in(bytes))
            sent += each.type == data ? each.payload.size() : 0;
    };
    count(std::string_view{one.sent(1000)}.substr(preface.size()));
    CHECK(sent == 65'535);
    CHECK(one.peer.events().size() == 1);
    CHECK(one.peer.events()[0].what == kind::went);
    one.peer.clear_events();
    one.take(settings_of({}));
    one.take(written({window_update, 0, 0, number(40'000)}));
    one.take(written({window_update, 0, 1, number(1'000)}));
    count(one.sent());
    CHECK(sent == 66'535);
    one.take(written({window_update, 0, 1, number(40'000)}));
    count(one.sent());
    CHECK(sent == 100'000);
    one.take(head(1, "200", end_stream));
    CHECK(one.ends() == "0 ok");
}

TEST_CASE("an answer before the whole request ends the request")
{
    client one{load_of(1, std::string(100'000, 'x'))};
    one.peer.begin(0);
    one.sent();
    one.take(settings_of({}) + head(1, "413", end_stream));
    std::vector<frame> const all = frames_in(one.sent());
    CHECK(all.back().type == rst_stream);
    CHECK(one.ends() == "0 wrong status 413");
    CHECK(one.peer.room() == 1);
}

TEST_CASE("a long download opens the windows again")
{
    client one{load_of(1)};
    one.peer.begin(0);
    one.sent();
    // The stream's window is the client's own from the acknowledgement on.
    one.take(settings_of({}) + written({settings, ack, 0, ""}) + head(1, "200"));
    std::string const part = body(1, std::string(16'384, 'x'), 0);
    int updates = 0;
    for (int i = 0; i != (1 << 30) / 16'384 + 10; ++i) {
        one.take(part);
        if (!one.peer.has_to_send())
            continue;
        for (frame const& each : frames_in(one.sent()))
            updates += each.type == window_update ? 1 : 0;
    }
    CHECK(updates == 4); // Half of each window is used up twice.
    CHECK(one.peer.fault().empty());
}

std::string fault_after(std::string const& bytes)
{
    client one{load_of(1)};
    one.peer.begin(0);
    one.sent();
    one.take(bytes);
    one.peer.end();
    return one.peer.fault();
}

TEST_CASE("a server that breaks the protocol is at fault")
{
    CHECK(fault_after("HTTP/1.1 400 Bad Request\r\n\r\n") == "protocol: SETTINGS expected");
    CHECK(fault_after(settings_of({{4, 1U << 31U}})).starts_with("protocol: "));
    CHECK(fault_after(settings_of({}) + body(1, "no head")).starts_with("protocol: "));
    CHECK(fault_after(settings_of({}) + head(2, "200")).starts_with("protocol: "));
    CHECK(fault_after(settings_of({}) + written({ping, 0, 0, "short"})).starts_with("protocol: "));
    CHECK(fault_after(settings_of({}) + written({headers, end_headers, 1, "\xff\xff\xff\xff\xff"}))
              .starts_with("protocol: "));
    CHECK(fault_after(settings_of({}) + head(1, "200", end_stream)).empty());
    CHECK(fault_after(settings_of({}).substr(0, 5)).empty());
}

TEST_CASE("an end is a GOAWAY without an error")
{
    client one{load_of(1)};
    one.peer.begin(0);
    one.sent();
    one.take(settings_of({}) + written({ping, 0, 0, "12345678"}) + head(1, "200", end_stream));
    one.peer.close();
    std::vector<frame> const all = frames_in(one.sent(7));
    REQUIRE(all.size() == 3);
    CHECK(all[0].type == settings); // The answers to what came before are sent, too.
    CHECK(all[0].flags == ack);
    CHECK(all[1].type == ping);
    CHECK(all[1].flags == ack);
    CHECK(all[2].type == goaway);
    CHECK(all[2].payload == number(0) + number(0));
    CHECK(one.peer.fault().empty());
    CHECK(one.peer.room() == 0);
}

} // namespace
} // namespace cleat::bench::http2_peer_test
