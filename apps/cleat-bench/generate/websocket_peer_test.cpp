// A client's end of a WebSocket: what it sends is read as a server reads it, and what the server
// sends is taken whole, and split at every byte.

#include "generate/websocket_peer.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::bench::websocket_peer_test {
namespace {

using goal = websocket_peer::goal;

std::span<std::byte const> bytes_of(std::string_view text)
{
    return std::as_bytes(std::span{text});
}

websocket_load load_of(websocket_use use, std::uint64_t message_size = 125, bool is_binary = false)
{
    websocket_load load;
    load.use = use;
    load.message_size = message_size;
    load.is_binary = is_binary;
    return load;
}

// client is a peer with its load. `sent` is what it wants to send, in pieces of so many bytes.
struct client
{
    explicit client(websocket_load of_load) : load{std::move(of_load)} {}

    std::string sent(std::size_t piece = 4096)
    {
        std::string all;
        std::string block(piece, '\0');
        while (peer.has_to_send())
            all.append(block, 0, peer.make(std::as_writable_bytes(std::span{block})));
        return all;
    }

    // answer takes the server's answer to the opening.
    void answer(std::string_view accept)
    {
        peer.take(bytes_of(fmt::format(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: keep-alive, "
            "Upgrade\r\nSec-WebSocket-Accept: {}\r\n\r\n",
            accept)));
    }

    void open()
    {
        std::string const request = sent(7);
        std::string_view const field = "Sec-WebSocket-Key: ";
        std::size_t const place = request.find(field) + field.size();
        answer(accept_of(request.substr(place, no_key.size())));
        REQUIRE(peer.has_reached(goal::opened));
    }

    websocket_load load;
    entropy random;
    websocket_peer peer{
        load, fmt::format("GET / HTTP/1.1\r\nSec-WebSocket-Key: {}\r\n\r\n", no_key), random};
};

client echo_client(std::uint64_t size, bool is_binary = false)
{
    return client{load_of(websocket_use::echo, size, is_binary)};
}

// read_frame takes one frame of a client from the front of `stream`: its first byte and payload.
std::pair<unsigned, std::string> read_frame(std::string& stream)
{
    auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(stream.at(i)); };
    REQUIRE((byte(1) & 0x80U) != 0); // RFC 6455, section 5.1: a client masks.
    std::uint64_t size = byte(1) & 0x7FU;
    std::size_t head = 2;
    if (size >= 126) {
        std::size_t const bytes = size == 126 ? 2 : 8;
        size = 0;
        for (std::size_t i = 0; i != bytes; ++i)
            size = size << 8U | byte(head + i);
        head += bytes;
    }
    std::string payload = stream.substr(head + 4, size);
    REQUIRE(payload.size() == size);
    for (std::size_t i = 0; i != payload.size(); ++i)
        payload[i] = static_cast<char>(payload[i] ^ stream[head + i % 4]);
    unsigned const first = byte(0);
    stream.erase(0, head + 4 + payload.size());
    return {first, payload};
}

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

// message_of is the payload of the one message that the client sends.
std::string message_of(client& of_client, unsigned first = 0x81)
{
    of_client.peer.send_message();
    std::string stream = of_client.sent(1000);
    auto const [kind, payload] = read_frame(stream);
    CHECK(kind == first);
    CHECK(stream.empty());
    return payload;
}

// outcome_of sends a message and answers it with frames that `reply` makes of it, split at `cut`.
template <class Reply>
std::string outcome_of(websocket_load const& load, Reply reply, std::size_t cut)
{
    client one{load};
    one.open();
    std::string const stream = reply(message_of(one, load.is_binary ? 0x82 : 0x81));
    one.peer.take(bytes_of(std::string_view{stream}.substr(0, std::min(cut, stream.size()))));
    if (cut < stream.size())
        one.peer.take(bytes_of(std::string_view{stream}.substr(cut)));
    std::string found = one.peer.fault();
    if (found.empty())
        found = one.peer.has_reached(goal::echoed) ? "echoed" : "awaited";
    return found;
}

template <class Reply>
std::string outcome_of(websocket_load const& load, Reply reply)
{
    std::string const whole = outcome_of(load, reply, std::string::npos);
    for (std::size_t cut = 0; cut != load.message_size + 20; ++cut)
        REQUIRE(outcome_of(load, reply, cut) == whole);
    return whole;
}

TEST_CASE("the opening has a key of its own, and no two are equal")
{
    client a = echo_client(1);
    client b = echo_client(1);
    std::string const first = a.sent();
    CHECK(first.find(no_key) == std::string::npos);
    CHECK(first != b.sent(3));
    // RFC 6455, section 1.3.
    CHECK(accept_of("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    CHECK(new_key({}).size() == no_key.size());
}

TEST_CASE("an answer opens the WebSocket or says why not, wherever it is split")
{
    std::string const head = "HTTP/1.1 101 Switching Protocols\r\n";
    std::string const upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\n";
    std::string const accept = "Sec-WebSocket-Accept: " + accept_of("key") + "\r\n";
    for (auto const& [text, fault] : std::vector<std::pair<std::string, std::string>>{
             {head + upgrade + accept + "\r\n", ""},
             {"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n" + head + accept + upgrade + "\r\n", ""},
             {head + upgrade + accept + "Sec-WebSocket-Protocol: chat\r\n\r\n", ""},
             {"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno", "refused with status 403"},
             {"HTTP/1.1 200 OK\r\n" + upgrade + accept + "\r\n", "refused with status 200"},
             {head + upgrade + "Sec-WebSocket-Accept: x\r\n\r\n", "wrong Sec-WebSocket-Accept"},
             {head + upgrade + "\r\n", "no Sec-WebSocket-Accept"},
             {head + "Connection: Upgrade\r\n" + accept + "\r\n",
              "answer without Upgrade: websocket"},
             {head + "Upgrade: websocket\r\n" + accept + "\r\n",
              "answer without Connection: Upgrade"},
             {head + upgrade + accept + "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n",
              "extension that was not offered"},
             {head + upgrade + accept + "Sec-WebSocket-Protocol: other\r\n\r\n",
              "subprotocol that was not offered"},
             {"SSH-2.0-OpenSSH_9.2\r\n", "no HTTP answer"},
             {head + "no colon\r\n\r\n", "no HTTP answer"},
         })
        for (std::size_t cut = 0; cut <= text.size(); ++cut) {
            opening_answer read{"key", "soap, chat"};
            std::string_view const stream = text;
            std::size_t taken = read.take(stream.substr(0, cut));
            if (!read.is_over())
                taken += read.take(stream.substr(cut));
            REQUIRE(read.is_over());
            REQUIRE(read.fault() == fault);
            if (fault.empty())
                REQUIRE(taken == text.size());
        }
    opening_answer endless{"key", ""};
    endless.take(head);
    for (int i = 0; i != 70 && !endless.is_over(); ++i)
        endless.take("X: " + std::string(1000, 'x') + "\r\n");
    CHECK(endless.fault() == "no HTTP answer");
}

TEST_CASE("messages of each size are masked frames that differ from each other")
{
    for (std::uint64_t const size : {0U, 1U, 16U, 125U, 126U, 1000U, 70'000U}) {
        client one = echo_client(size);
        one.open();
        std::string const payload = message_of(one);
        REQUIRE(payload.size() == size);
        CHECK(!one.peer.has_reached(goal::echoed));
        one.peer.take(bytes_of(frame(0x81, payload)));
        CHECK(one.peer.has_reached(goal::echoed));
        CHECK(one.peer.fault().empty());
        if (size >= 16)
            CHECK(message_of(one) != payload);
    }
}

TEST_CASE("an echo is right, or wrong by name, wherever it is split")
{
    websocket_load const load = load_of(websocket_use::echo, 200);
    using text = std::string const&;
    CHECK(outcome_of(load, [](text m) { return frame(0x81, m); }) == "echoed");
    CHECK(outcome_of(load, [](text m) {
              return frame(0x01, m.substr(0, 50)) + frame(0x89, "p") + frame(0x00, "") +
                     frame(0x80, m.substr(50));
          }) == "echoed");
    CHECK(outcome_of(load, [](text m) { return frame(0x01, m); }) == "awaited");
    CHECK(outcome_of(load, [](text m) { return frame(0x89, m.substr(0, 9)); }) == "awaited");
    CHECK(outcome_of(load, [](text m) { return frame(0x81, m.substr(1)); }) == "wrong echo");
    CHECK(outcome_of(load, [](text m) { return frame(0x81, m.substr(0, 199)); }) == "short echo");
    CHECK(outcome_of(load, [](text m) { return frame(0x81, m + "x"); }) == "long echo");
    CHECK(outcome_of(load, [](text) { return frame(0x81, ""); }) == "short echo");
    CHECK(outcome_of(load, [](text m) { return frame(0x82, m); }) == "echo of another type");
    CHECK(outcome_of(load, [](text m) {
              return frame(0x81, m) + frame(0x81, m);
          }) == "message that is no echo");
    CHECK(outcome_of(load, [](text) { return frame(0xC1, "x"); }) == "protocol: reserved bits");
    CHECK(outcome_of(load, [](text) {
              return frame(0x88, "\x03\xe9");
          }) == "closed with code 1001, going away");
    CHECK(outcome_of(load, [](text) { return frame(0x88, ""); }) == "closed without a code");
    CHECK(outcome_of(load, [](text) {
              return frame(0x88, "\x03\xed");
          }) == "protocol: invalid Close frame");
    websocket_load binary = load;
    binary.is_binary = true;
    CHECK(outcome_of(binary, [](text m) { return frame(0x82, m); }) == "echoed");
}

TEST_CASE("one byte that is wrong is found, wherever it is")
{
    websocket_load const load = load_of(websocket_use::echo, 300);
    for (std::size_t place = 0; place != load.message_size; ++place)
        REQUIRE(
            outcome_of(
                load,
                [place](std::string m) {
                    m[place] = '~';
                    return frame(0x81, m);
                },
                std::string::npos) == "wrong echo");
}

TEST_CASE("pings are answered: the latest of several, and after a message that has begun")
{
    client one = echo_client(1000);
    one.open();
    one.peer.send_message();
    std::array<std::byte, 200> begun{};
    std::size_t const size = one.peer.make(begun);
    CHECK(one.peer.take_progress()); // The opening.
    one.peer.take(bytes_of(frame(0x89, "first") + frame(0x89, "second") + frame(0x8A, "none")));
    CHECK(one.peer.take_heard().pings == 2);
    CHECK(!one.peer.take_progress()); // Awaited is the echo.
    std::string stream{reinterpret_cast<char const*>(begun.data()), size};
    stream += one.sent(300);
    CHECK(read_frame(stream).first == 0x81);
    CHECK(read_frame(stream) == std::pair{0x8AU, std::string{"second"}});
    CHECK(stream.empty());
}

TEST_CASE("a client that holds counts what comes, and answers the server's Close")
{
    client one{load_of(websocket_use::hold)};
    one.open();
    one.peer.take(
        bytes_of(frame(0x81, "a") + frame(0x02, "b") + frame(0x80, "") + frame(0x89, "")));
    websocket_peer::heard const heard = one.peer.take_heard();
    CHECK(heard.messages == 2);
    CHECK(heard.pings == 1);
    CHECK(one.peer.fault().empty());
    one.peer.take(bytes_of(frame(0x88, "\x0f\xa0why") + frame(0x81, "after it")));
    CHECK(one.peer.fault() == "closed with code 4000");
    std::string stream = one.sent();
    CHECK(read_frame(stream).first == 0x8A);
    CHECK(read_frame(stream) == std::pair{0x88U, std::string{"\x0f\xa0"}});
    CHECK(stream.empty());
    CHECK(one.peer.take_heard().messages == 0);
}

TEST_CASE("a client that closes takes what was under way, up to the server's Close")
{
    client one = echo_client(10);
    one.open();
    one.peer.close();
    std::string stream = one.sent();
    CHECK(read_frame(stream) == std::pair{0x88U, std::string{"\x03\xe8"}});
    one.peer.take(bytes_of(frame(0x81, "late")));
    CHECK(!one.peer.has_reached(goal::closed));
    one.peer.take(bytes_of(frame(0x88, "\x03\xe8")));
    CHECK(one.peer.has_reached(goal::closed));
    CHECK(one.peer.fault().empty());
    CHECK(!one.peer.has_to_send());
}

} // namespace
} // namespace cleat::bench::websocket_peer_test
