#include "probe/attacks.hpp"
#include "probe/features.hpp"
#include "probe/robot.hpp"
#include "wire/bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>

namespace cleat::bench {
namespace {

using std::chrono::milliseconds;
using wire::record_type;
using trait = bool wire::suite_traits::*;

// The accepted suites with a trait, of all versions, each once.
std::vector<std::string> names_with(accepted_versions const& versions, trait wanted)
{
    std::vector<std::string> names;
    for (accepted_version const& each : versions)
        for (std::uint16_t const number : suites_with(each.suites, wanted))
            if (std::string name{wire::find_suite(number)->name()};
                std::ranges::count(names, name) == 0)
                names.push_back(std::move(name));
    return names;
}

probed_answer by_suites(
    std::string name, std::string_view what, std::vector<std::string> const& suites)
{
    if (suites.empty())
        return {std::move(name), false, fmt::format("no suite {}", what)};
    return {
        std::move(name), true,
        fmt::format("{}{} {}", suites.size(), suites.size() == 1 ? " suite" : " suites", what)};
}

// For the attacks on CBC that old versions allow.
probed_answer by_cbc(
    std::string name, accepted_versions const& versions, std::vector<wire::version> const& old)
{
    for (wire::version const each : old)
        if (!suites_with(suites_of(versions, each), &wire::suite_traits::cbc).empty())
            return {std::move(name), true, fmt::format("CBC suites in {}", wire::name_of(each))};
    return {std::move(name), false, fmt::format("no CBC suite in {}", wire::name_of(old.front()))};
}

std::size_t bits_of(std::string const& number) noexcept
{
    return number.empty() ? 0
                          : 8 * (number.size() - 1) + static_cast<std::size_t>(std::bit_width(
                                                          static_cast<unsigned char>(number[0])));
}

// Handshakes with a finite field: the size of its prime, and whether the key is a new one.
void find_finite_fields(
    std::vector<probed_answer>& found, raw_client& client, accepted_versions const& versions)
{
    constexpr std::size_t weak_bits = 1024;
    accepted_version const* const old = old_version(versions);
    suite_numbers const dhe =
        old == nullptr ? suite_numbers{} : suites_with(old->suites, &wire::suite_traits::dhe);
    if (dhe.empty()) {
        found.push_back({"Logjam", false, "no DHE suite"});
        found.push_back({"Raccoon", false, "no DHE suite"});
        return;
    }
    // The size of the prime may depend on the suite.
    std::size_t bits = 0;
    std::string_view weakest;
    raw_answer one;
    for (std::uint16_t const each : dhe) {
        one = client.ask(client.hello(old->version, std::span{&each, 1}), awaited::flight);
        std::size_t const size = one.flight.exchange() ? bits_of(one.flight.exchange()->prime) : 0;
        if (size == 0 || (bits != 0 && bits <= size))
            continue;
        bits = size;
        weakest = wire::find_suite(each)->name();
    }
    raw_answer const other =
        client.ask(client.hello(old->version, std::span{&dhe.back(), 1}), awaited::flight);
    if (!one.flight.exchange() || !other.flight.exchange()) {
        std::string const why = "no ServerKeyExchange came: " + one.refusal();
        found.push_back({"Logjam", {}, why});
        found.push_back({"Raccoon", {}, why});
        return;
    }
    found.push_back({"Logjam", bits <= weak_bits, fmt::format("{} bits with {}", bits, weakest)});
    bool const reused = one.flight.exchange()->public_key == other.flight.exchange()->public_key;
    found.push_back(
        {"Raccoon", reused, reused ? "a DHE key is used again" : "each DHE key is new"});
}

// The records of an answer as pairs of type and contents, as far as they are whole.
std::vector<std::pair<std::size_t, std::string>> records_in(std::string_view bytes)
{
    std::vector<std::pair<std::size_t, std::string>> found;
    for (wire::reader rest{bytes}; !rest.empty();) {
        std::size_t const type = rest.number(1);
        static_cast<void>(rest.number(2));
        std::string_view const contents = rest.sized(2);
        if (rest.ok())
            found.emplace_back(type, contents);
    }
    return found;
}

// A connection on which the server's first flight has come.
struct open_handshake
{
    raw_visit visit;
    raw_answer answer;
    std::uint16_t version;
};

open_handshake open_with(raw_client const& client, accepted_version const& old, bool with_heartbeat)
{
    open_handshake made{
        raw_visit{client.address(), std::min(client.timeout(), 2 * last_answer_time)},
        {},
        static_cast<std::uint16_t>(old.version)};
    wire::client_hello hello = client.hello(old.version, old.suites);
    if (with_heartbeat)
        hello.extensions.push_back(wire::heartbeat());
    made.visit.send(wire::records_of(hello));
    made.visit.read(made.answer, awaited::flight);
    return made;
}

// The alert makes a server end the connection that has no objection, so that nothing waits.
std::string close_notify(std::uint16_t version)
{
    return wire::record(record_type::alert, version, std::string{"\x01\x00", 2});
}

// CVE-2014-0160: the request says 64 bytes and has none.
probed_answer find_heartbleed(raw_client const& client, accepted_version const& old)
{
    open_handshake open = open_with(client, old, true);
    if (!open.answer.flight.complete())
        return {"Heartbleed", {}, "the server's flight is not complete: " + open.answer.refusal()};
    constexpr std::size_t request = 1;
    constexpr std::size_t claimed = 64;
    open.visit.send(
        wire::record(
            record_type::heartbeat, open.version,
            wire::number(request, 1) + wire::number(claimed, 2)) +
        close_notify(open.version));
    bool closed = false;
    std::string const bytes = open.visit.read_to_end(last_answer_time, closed);
    for (auto const& [type, contents] : records_in(bytes))
        if (type == static_cast<std::size_t>(record_type::heartbeat))
            return {
                "Heartbleed", true,
                fmt::format("a heartbeat of 3 bytes was answered with {}", contents.size())};
    return {"Heartbleed", false, "a heartbeat that claims more than it has is not answered"};
}

// CVE-2014-0224: a server that takes an early ChangeCipherSpec tries to decrypt the next record.
probed_answer find_early_ccs(raw_client const& client, accepted_version const& old)
{
    constexpr int bad_record_mac = 20;
    constexpr int decryption_failed = 21;
    open_handshake open = open_with(client, old, false);
    if (!open.answer.flight.complete())
        return {"early CCS", {}, "the server's flight is not complete: " + open.answer.refusal()};
    open.visit.send(
        wire::record(record_type::change_cipher_spec, open.version, "\x01") +
        close_notify(open.version));
    bool closed = false;
    std::string const bytes = open.visit.read_to_end(last_answer_time, closed);
    for (auto const& [type, contents] : records_in(bytes)) {
        if (type != static_cast<std::size_t>(record_type::alert) || contents.size() != 2)
            continue;
        if (contents[1] == bad_record_mac || contents[1] == decryption_failed)
            return {"early CCS", true, "a ChangeCipherSpec before the key exchange is taken"};
        return {"early CCS", false, "a ChangeCipherSpec before the key exchange is refused"};
    }
    if (!closed)
        return {"early CCS", {}, "the server did not answer"};
    return {"early CCS", false, "the server ends the connection"};
}

// CVE-2016-0800. An SSL 2.0 hello: message length, type, version, sizes, three-byte ciphers.
probed_answer find_ssl_2(raw_client const& client)
{
    std::string const ciphers{
        "\x01\x00\x80\x02\x00\x80\x03\x00\x80\x04\x00\x80\x05\x00\x80\x06\x00\x40\x07\x00\xc0", 21};
    std::string const body = wire::number(1, 1) + wire::number(2, 2) +
                             wire::number(ciphers.size(), 2) + wire::number(0, 2) +
                             wire::number(16, 2) + ciphers + std::string(16, 'c');
    raw_visit visit{client.address(), std::min(client.timeout(), last_answer_time)};
    if (!visit.send(wire::number(0x8000 | body.size(), 2) + body))
        return {"DROWN", {}, "no connection"};
    // A server with SSL 2.0 waits for more; a short time is enough for its answer to follow.
    bool closed = false;
    std::string const answer =
        visit.pause(last_answer_time) ? visit.read_to_end(milliseconds{20}, closed) : std::string{};
    constexpr std::size_t version_end = 7;
    bool const accepted = answer.size() >= version_end && (answer[0] & 0x80) != 0 &&
                          answer[2] == 4 && answer[5] == 0 && answer[6] == 2;
    return {"DROWN", accepted, accepted ? "SSL 2.0 is accepted" : "no SSL 2.0"};
}

} // namespace

std::vector<probed_answer> find_vulnerabilities(
    raw_client& client, accepted_versions const& versions)
{
    std::vector<probed_answer> found;
    found.push_back(by_suites(
        "Sweet32", "with blocks of 64 bits", names_with(versions, &wire::suite_traits::block_64)));
    found.push_back(
        by_suites("FREAK", "for export", names_with(versions, &wire::suite_traits::export_grade)));
    found.push_back(by_suites("RC4", "with RC4", names_with(versions, &wire::suite_traits::rc4)));
    found.push_back(by_cbc("POODLE", versions, {wire::version::ssl_3_0}));
    found.push_back(by_cbc("BEAST", versions, {wire::version::tls_1_0, wire::version::ssl_3_0}));
    found.push_back(find_ssl_2(client));
    find_finite_fields(found, client, versions);
    accepted_version const* const old = old_version(versions);
    if (old == nullptr) {
        for (char const* const name : {"Heartbleed", "early CCS", "ROBOT"})
            found.push_back({name, false, "TLS 1.3 only"});
        return found;
    }
    found.push_back(find_heartbleed(client, *old));
    found.push_back(find_early_ccs(client, *old));
    found.push_back(find_robot(client, *old));
    return found;
}

probed_answer find_ticketbleed(
    raw_client& client, accepted_versions const& versions, std::string_view ticket)
{
    std::span<std::uint16_t const> const suites = suites_of(versions, wire::version::tls_1_2);
    if (suites.empty())
        return {"Ticketbleed", false, "no TLS 1.2"};
    if (ticket.empty())
        return {"Ticketbleed", false, "no ticket in TLS 1.2"};
    wire::client_hello hello = client.hello(wire::version::tls_1_2, suites);
    hello.session_id.assign(16, 'T');
    hello.extensions.push_back(wire::empty_extension(wire::extension_type::extended_master_secret));
    hello.extensions.push_back(wire::session_ticket(ticket));
    raw_answer const answer = client.ask(hello);
    if (!answer.accepted())
        return {"Ticketbleed", {}, "the server refused the question: " + answer.refusal()};
    std::string const& id = answer.flight.hello()->session_id;
    if (!id.starts_with(hello.session_id))
        return {"Ticketbleed", {}, "the server did not resume the session"};
    if (id.size() == hello.session_id.size())
        return {"Ticketbleed", false, "a short session ID comes back as it was sent"};
    return {
        "Ticketbleed", true,
        fmt::format("a session ID of 16 bytes was answered with {}", id.size())};
}

} // namespace cleat::bench
