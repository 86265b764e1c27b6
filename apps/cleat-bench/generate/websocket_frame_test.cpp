// Each stream of a server is read whole, and split at every byte.

#include "generate/websocket_frame.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::bench::websocket_frame_test {
namespace {

constexpr std::uint64_t message_max = 100'000;

std::string text_of(std::span<std::byte const> bytes)
{
    return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

std::span<std::byte const> bytes_of(std::string_view text)
{
    return std::as_bytes(std::span{text});
}

// A server's frame. `first` has FIN, the reserved bits and the opcode.
std::string frame(unsigned first, std::string const& payload)
{
    std::string made{static_cast<char>(first)};
    std::size_t const size = payload.size();
    std::size_t const bytes = size < 126 ? 0 : size < 65'536 ? 2 : 8;
    made += static_cast<char>(bytes == 0 ? size : bytes == 2 ? 126 : 127);
    for (std::size_t i = 0; i != bytes; ++i)
        made += static_cast<char>(size >> (8 * (bytes - 1 - i)));
    return made + payload;
}

std::string raw(std::initializer_list<unsigned> bytes)
{
    std::string made;
    for (unsigned const each : bytes)
        made += static_cast<char>(each);
    return made;
}

// seen collects events: a message that comes in parts is one.
struct seen
{
    std::vector<std::string> events;
    std::string message;
    bool is_bad = false;

    void read(frame_reader& reader, std::string_view stream)
    {
        using event = frame_reader::event;
        while (!stream.empty() && !is_bad) {
            frame_reader::step const step = reader.take(bytes_of(stream));
            stream.remove_prefix(step.taken);
            message += text_of(step.payload);
            int const kind = static_cast<int>(reader.kind());
            if (step.what == event::message)
                events.push_back(fmt::format("message {} {}", kind, std::exchange(message, {})));
            if (step.what == event::control)
                events.push_back(fmt::format("control {} {}", kind, text_of(reader.control())));
            if (step.what == event::bad)
                events.push_back("bad: " + reader.fault());
            is_bad = step.what == event::bad;
        }
    }
};

// events_of a stream. Nothing depends on where it is split, and a reader that has found a fault
// stays at it.
std::vector<std::string> events_of(std::string const& stream)
{
    seen whole;
    frame_reader reader{message_max};
    whole.read(reader, stream);
    std::size_t const stride = std::max<std::size_t>(1, stream.size() / 2000);
    for (std::size_t cut = 0; cut <= stream.size(); cut += stride) {
        seen split;
        frame_reader again{message_max};
        split.read(again, std::string_view{stream}.substr(0, cut));
        split.read(again, std::string_view{stream}.substr(cut));
        REQUIRE(split.events == whole.events);
        REQUIRE(split.message == whole.message);
    }
    seen bytes;
    frame_reader slow{message_max};
    for (char const each : stream)
        bytes.read(slow, {&each, 1});
    REQUIRE(bytes.events == whole.events);
    return whole.events;
}

using events = std::vector<std::string>;

TEST_CASE("messages of each length of the length")
{
    for (std::size_t const size : {0U, 1U, 125U, 126U, 127U, 65'535U, 65'536U, 70'000U}) {
        std::string const payload(size, 'm');
        CHECK(
            events_of(frame(0x81, payload) + frame(0x82, "b")) ==
            events{"message 1 " + payload, "message 2 b"});
    }
}

TEST_CASE("a message in fragments, and control frames between them")
{
    CHECK(
        events_of(
            frame(0x01, "one") + frame(0x89, "ping") + frame(0x00, "") + frame(0x8A, "") +
            frame(0x00, " two") + frame(0x80, " three") + frame(0x88, "")) ==
        events{"control 9 ping", "control 10 ", "message 1 one two three", "control 8 "});
    CHECK(events_of(frame(0x02, "") + frame(0x80, "")) == events{"message 2 "});
    CHECK(
        events_of(frame(0x89, std::string(125, 'p'))) ==
        events{"control 9 " + std::string(125, 'p')});
}

TEST_CASE("a frame that goes on is none yet")
{
    CHECK(events_of(frame(0x81, "hello").substr(0, 5)).empty());
    CHECK(events_of(frame(0x01, "hello")).empty());
    CHECK(events_of(frame(0x89, "hello").substr(0, 6)).empty());
}

TEST_CASE("what RFC 6455 forbids a server, by name, and nothing after it")
{
    struct broken
    {
        std::string stream;
        std::string fault;
    };
    std::string const after = frame(0x81, "after");
    for (broken const& each : {
             broken{frame(0xC1, "x"), "reserved bits"},
             {frame(0xA1, "x"), "reserved bits"},
             {frame(0x91, "x"), "reserved bits"},
             {frame(0x83, "x"), "unknown opcode 3"},
             {frame(0x87, "x"), "unknown opcode 7"},
             {frame(0x8B, "x"), "unknown opcode 11"},
             {frame(0x8F, "x"), "unknown opcode 15"},
             {raw({0x81, 0x81, 1, 2, 3, 4, 5}), "masked frame"},
             {raw({0x89, 0x80, 1, 2, 3, 4}), "masked frame"},
             {frame(0x09, "x"), "fragmented control frame"},
             {frame(0x89, std::string(126, 'x')), "long control frame"},
             {frame(0x80, "x"), "continuation of no message"},
             {frame(0x00, "x"), "continuation of no message"},
             {raw({0x81, 126, 0, 125}), "length in too many bytes"},
             {raw({0x81, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF}), "length in too many bytes"},
             {raw({0x81, 127, 0x80, 0, 0, 0, 0, 0, 0, 0}), "length beyond 63 bits"},
             {raw({0x81, 127, 0, 0, 0, 0, 0, 1, 0x86, 0xA1}), "oversized message"},
         })
        CHECK(events_of(each.stream + after) == events{"bad: " + each.fault});
    CHECK(
        events_of(frame(0x81, "a") + frame(0x01, "b") + frame(0x81, "c")) ==
        events{"message 1 a", "bad: message within a message"});
}

TEST_CASE("a message is oversized by the sum of its fragments, and the next begins anew")
{
    std::string const half(50'000, 'h');
    CHECK(
        events_of(frame(0x02, half) + frame(0x80, half) + frame(0x82, half)) ==
        events{"message 2 " + half + half, "message 2 " + half});
    CHECK(
        events_of(frame(0x02, half) + frame(0x00, half) + frame(0x80, "x")) ==
        events{"bad: oversized message"});
}

// As a server reads it: the head, and the payload with the key.
TEST_CASE("a client's frame is masked with its key")
{
    masking_key const key{std::byte{0x37}, std::byte{0xfa}, std::byte{0x21}, std::byte{0x3d}};
    std::array<std::byte, frame_head_max> head{};
    CHECK(write_head(head, opcode::text, 5, key) == 6);
    CHECK(text_of(std::span{head}.first(6)) == raw({0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d}));
    std::string hello = "Hello"; // RFC 6455, section 5.7.
    mask(std::as_writable_bytes(std::span{hello}), key, 0);
    CHECK(hello == raw({0x7f, 0x9f, 0x4d, 0x51, 0x58}));
    CHECK(write_head(head, opcode::binary, 126, key) == 8);
    CHECK(text_of(std::span{head}.first(4)) == raw({0x82, 0xFE, 0, 126}));
    CHECK(write_head(head, opcode::binary, 65'536, key) == 14);
    CHECK(text_of(std::span{head}.first(10)) == raw({0x82, 0xFF, 0, 0, 0, 0, 0, 1, 0, 0}));
}

TEST_CASE("a mask goes on where the piece before has ended")
{
    masking_key const key{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
    std::string const text(41, 'x');
    std::string whole = text;
    mask(std::as_writable_bytes(std::span{whole}), key, 0);
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        std::string parts = text;
        auto const bytes = std::as_writable_bytes(std::span{parts});
        mask(bytes.first(cut), key, 0);
        mask(bytes.subspan(cut), key, cut);
        CHECK(parts == whole);
    }
}

TEST_CASE("the codes of Close frames")
{
    auto const payload = [](unsigned code, std::string const& reason = {}) {
        return raw({code >> 8U, code & 0xFFU}) + reason;
    };
    for (unsigned const code : {1000U, 1003U, 1007U, 1014U, 3000U, 4999U})
        CHECK(is_valid_close(bytes_of(payload(code, "why"))));
    for (unsigned const code : {0U, 999U, 1004U, 1005U, 1006U, 1015U, 2999U, 5000U})
        CHECK(!is_valid_close(bytes_of(payload(code))));
    CHECK(is_valid_close({}));
    CHECK(!is_valid_close(bytes_of("x")));
    CHECK(
        close_in_words(close_code(bytes_of(payload(1001)))) == "closed with code 1001, going away");
    CHECK(close_in_words(close_code(bytes_of(payload(4000)))) == "closed with code 4000");
    CHECK(close_in_words(close_code({})) == "closed without a code");
}

} // namespace
} // namespace cleat::bench::websocket_frame_test
