// What TLS adds to the bytes on the wire, counted in memory: the study of what TLS costs.
//
//     study-wire ecdsa=ecdsa.pem rsa=rsa.pem
//
// A client and a server of libcleat's engine exchange bytes without sockets, and all bytes are
// counted: handshakes of each kind with the given certificates, then messages of each size and the
// close_notify. Prints JSON. The client sends the server's name and offers no ALPN; a session
// ticket is counted by itself, since the handshake does not wait for it.
#include <cleat/tls/context.hpp>
#include <cleat/tls/engine.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace tls = cleat::tls;

// ECDSA signatures differ by a byte or two from one to the next.
constexpr int times = 51;
constexpr std::size_t messages[] = {1, 16, 64, 256, 1024, 4096, 16384, 65536};
constexpr std::size_t room_size = 256 * 1024;
constexpr char const* name = "www.example.org";

struct kind
{
    tls::protocol_version version;
    char const* version_name;
    char const* groups; // The first is agreed on; P-256 is for certificates as well.
    char const* ciphers = "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256";
};
constexpr tls::protocol_version v12 = tls::protocol_version::tls_1_2;
constexpr tls::protocol_version v13 = tls::protocol_version::tls_1_3;
constexpr kind handshakes[] = {
    {v12, "1.2", "X25519:P-256"},
    {v13, "1.3", "X25519:P-256"},
    // As browsers do, the client brings a key share for each of the first two.
    {v13, "1.3", "X25519MLKEM768:X25519:P-256"},
};
constexpr kind ciphers[] = {
    {v13, "1.3", "X25519:P-256"},
    {v12, "1.2", "X25519:P-256"},
    {v12, "1.2", "X25519:P-256", "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"},
};

void require(bool good, std::string const& what)
{
    if (!good)
        throw std::runtime_error{what};
}

tls::context_spec spec_of(kind const& k, tls::role role)
{
    tls::context_spec spec;
    spec.role = role;
    spec.version_min = spec.version_max = k.version;
    spec.groups = k.groups;
    spec.ciphers = k.ciphers;
    spec.ciphersuites = "TLS_AES_128_GCM_SHA256";
    return spec;
}

tls::context server_context(kind const& k, std::string const& pem)
{
    tls::context_spec spec = spec_of(k, tls::role::server);
    spec.certificates.push_back({pem, pem, "the certificate"});
    spec.tickets = std::make_shared<tls::ticket_secret const>(tls::ticket_secret{});
    return tls::context{spec};
}

tls::context client_context(kind const& k)
{
    tls::context_spec spec = spec_of(k, tls::role::client);
    spec.server_name = name;
    spec.keep_sessions = true;
    return tls::context{spec};
}

// side is one end of the wire, with the bytes that it received and did not read yet.
struct side
{
    tls::engine engine;
    std::vector<std::byte> received;
};

// run calls op(engine, wire) of the sender once, and gives the bytes that go to the receiver.
template <class Op>
std::vector<std::byte> run(side& sender, side& receiver, Op op)
{
    static std::vector<std::byte> room(room_size);
    tls::wire w{sender.received, room, false};
    tls::step const s = op(sender.engine, w);
    require(
        !s.error || s.error == cleat::error::closed,
        fmt::format("{}: {}", s.error.message(), sender.engine.failure().reason));
    require(s.next != tls::want::output, "there is no room");
    std::vector<std::byte> sent_bytes(room.begin(), room.end() - std::ptrdiff_t(w.out.size()));
    sender.received.erase(
        sender.received.begin(), sender.received.end() - std::ptrdiff_t(w.in.size()));
    receiver.received.insert(receiver.received.end(), sent_bytes.begin(), sent_bytes.end());
    return sent_bytes;
}

std::vector<std::byte> shake(side& sender, side& receiver)
{
    return run(sender, receiver, [](tls::engine& e, tls::wire& w) { return e.handshake(w); });
}

// send gives the bytes on the wire of a message of that size, which the receiver reads.
std::size_t send(side& sender, side& receiver, std::size_t size)
{
    static std::vector<std::byte> const message(room_size / 2, std::byte{'x'});
    static std::vector<std::byte> read(message.size());
    std::size_t sent = 0;
    std::size_t const wire =
        run(sender, receiver, [&](tls::engine& e, tls::wire& w) {
            std::span<std::byte const> const pieces[] = {std::span{message}.first(size)};
            tls::step const s = e.write(w, pieces);
            sent = s.bytes;
            return s;
        }).size();
    std::size_t got = 0;
    run(receiver, sender, [&](tls::engine& e, tls::wire& w) {
        tls::step const s = e.read(w, read);
        got = s.bytes;
        return s;
    });
    require(sent == size && got == size, "a message did not arrive");
    return wire;
}

std::size_t number(std::span<std::byte const> bytes)
{
    std::size_t value = 0;
    for (std::byte const each : bytes)
        value = value << 8U | std::to_integer<std::size_t>(each);
    return value;
}

// clear_tickets is how much of a flight of TLS 1.2 is a session ticket (RFC 5077, section 3.3). It
// comes before ChangeCipherSpec, so it can be read; its record's header counts where it is alone.
std::size_t clear_tickets(std::span<std::byte const> flight)
{
    constexpr std::byte handshake_record{22};
    constexpr std::byte new_session_ticket{4};
    std::size_t bytes = 0;
    while (flight.size() >= 5 && flight[0] == handshake_record) {
        std::size_t const size = number(flight.subspan(3, 2));
        std::span<std::byte const> rest = flight.subspan(5, size);
        while (rest.size() >= 4) {
            std::size_t const message = 4 + number(rest.subspan(1, 3));
            if (rest[0] == new_session_ticket)
                bytes += message + (message == size ? 5 : 0);
            rest = rest.subspan(message);
        }
        flight = flight.subspan(5 + size);
    }
    return bytes;
}

// counts are the bytes of one handshake.
struct counts
{
    std::size_t to_server = 0;
    std::size_t to_client = 0; // Less the tickets.
    std::size_t tickets = 0;
};

struct talk
{
    talk(tls::context const& of_server, tls::context const& of_client)
        : server{tls::engine{of_server}, {}}, client{tls::engine{of_client}, {}}
    {
    }

    counts handshake()
    {
        constexpr int turns_max = 16;
        counts found;
        for (int i = 0; i < turns_max && !both(); ++i) {
            found.to_server += shake(client, server).size();
            bool const flight_is_last = client.engine.established();
            std::vector<std::byte> const sent_bytes = shake(server, client);
            std::size_t tickets = 0;
            if (!server.engine.ends_with_tickets())
                tickets = clear_tickets(sent_bytes);
            else if (flight_is_last)
                tickets = sent_bytes.size();
            found.tickets += tickets;
            found.to_client += sent_bytes.size() - tickets;
        }
        require(both(), "the handshake does not end");
        // A library may keep its tickets back until something is written.
        std::size_t const first = send(server, client, 1);
        found.tickets += first - send(server, client, 1);
        return found;
    }

    [[nodiscard]] bool both() const
    {
        return server.engine.established() && client.engine.established();
    }

    side server;
    side client;
};

std::string spread(std::vector<counts> const& all, std::size_t counts::*what)
{
    std::vector<std::size_t> values;
    for (counts const& each : all)
        values.push_back(each.*what);
    std::sort(values.begin(), values.end());
    return fmt::format(
        R"({{"min": {}, "median": {}, "max": {}}})", values.front(), values[values.size() / 2],
        values.back());
}

void print_handshake(
    std::string& json, kind const& k, std::string const& certificate, bool resumed,
    std::vector<counts> const& all)
{
    std::string_view const groups{k.groups};
    json += fmt::format(
        R"({}  {{"tls": "{}", "certificate": "{}", "group": "{}", "resumed": {}, )"
        R"("to_server": {}, "to_client": {}, "tickets": {}}})",
        json.empty() ? "" : ",\n", k.version_name, certificate, groups.substr(0, groups.find(':')),
        resumed, spread(all, &counts::to_server), spread(all, &counts::to_client),
        spread(all, &counts::tickets));
}

// Full handshakes, each followed by one that resumes its session.
void count_handshakes(
    std::string& json, kind const& k, std::string const& certificate, std::string const& pem)
{
    tls::context const of_server = server_context(k, pem);
    tls::context const of_client = client_context(k);
    std::vector<counts> full;
    std::vector<counts> resumed;
    for (int i = 0; i < times; ++i) {
        talk first{of_server, of_client};
        full.push_back(first.handshake());
        tls::handshake_info const agreed = first.client.engine.info();
        require(
            std::string_view{k.groups}.starts_with(agreed.group) && !agreed.resumed,
            "it was another handshake than was asked for");
        std::vector<tls::session> const given = first.client.engine.take_sessions();
        require(!given.empty(), "the server gave no session");
        talk second{of_server, of_client};
        second.client.engine.resume(given.back());
        resumed.push_back(second.handshake());
        require(second.client.engine.info().resumed, "the session was not resumed");
    }
    print_handshake(json, k, certificate, false, full);
    print_handshake(json, k, certificate, true, resumed);
}

// Messages of each size, and close_notify.
void count_records(std::string& records, std::string& ends, kind const& k, std::string const& pem)
{
    tls::context const of_server = server_context(k, pem);
    tls::context const of_client = client_context(k);
    talk connection{of_server, of_client};
    static_cast<void>(connection.handshake());
    std::string const cipher{connection.client.engine.info().cipher};
    for (std::size_t const size : messages)
        records += fmt::format(
            R"({}  {{"tls": "{}", "cipher": "{}", "message": {}, "wire": {}}})",
            records.empty() ? "" : ",\n", k.version_name, cipher, size,
            send(connection.server, connection.client, size));
    std::size_t const end =
        run(connection.server, connection.client, [](tls::engine& e, tls::wire& w) {
            return e.close(w);
        }).size();
    ends += fmt::format(
        R"({}  {{"tls": "{}", "cipher": "{}", "wire": {}}})", ends.empty() ? "" : ",\n",
        k.version_name, cipher, end);
}

std::string read_file(std::string const& path)
{
    std::ifstream file{path};
    require(bool{file}, path + " cannot be read");
    return {std::istreambuf_iterator<char>{file}, {}};
}

// A library without this group has no such handshakes.
bool has(kind const& k)
{
    try {
        client_context(k);
        return true;
    } catch (tls::spec_error const&) {
        return false;
    }
}

} // namespace

int main(int count, char** values)
try {
    std::string shaken;
    std::string records;
    std::string ends;
    for (int i = 1; i < count; ++i) {
        std::string const word = values[i];
        std::size_t const is = word.find('=');
        require(is != std::string::npos, "usage: study-wire NAME=PEM-FILE...");
        std::string const pem = read_file(word.substr(is + 1));
        for (kind const& each : handshakes)
            if (has(each))
                count_handshakes(shaken, each, word.substr(0, is), pem);
        for (kind const& each : ciphers)
            if (i == 1) // They are the same whatever the certificate.
                count_records(records, ends, each, pem);
    }
    require(!shaken.empty(), "usage: study-wire NAME=PEM-FILE...");
    fmt::print(
        "{{\"library\": \"{}\", \"server_name\": \"{}\",\n\"handshakes\": [\n{}],\n"
        "\"records\": [\n{}],\n\"close_notify\": [\n{}]}}\n",
        tls::library_version(), name, shaken, records, ends);
    return 0;
} catch (std::exception const& e) {
    std::fprintf(stderr, "study-wire: %s\n", e.what());
    return 1;
}
