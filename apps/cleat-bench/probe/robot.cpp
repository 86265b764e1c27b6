#include "probe/robot.hpp"
#include "wire/bytes.hpp"
#include "wire/rsa_public.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace cleat::bench {
namespace {

using std::chrono::milliseconds;
using wire::record_type;

constexpr std::size_t secret_size = 48;

// The blocks of the ROBOT paper, section 3: right, and wrong in the type, in the place of the zero,
// in its absence, and in the version.
std::vector<std::string> blocks_for(std::size_t size, std::uint16_t version)
{
    std::string const secret = wire::number(version, 2) + std::string(secret_size - 2, 'p');
    std::string const right =
        std::string{"\x00\x02", 2} + std::string(size - 3 - secret_size, '\x55') + '\0' + secret;
    std::vector<std::string> blocks(5, right);
    blocks[1][1] = 0x17;
    blocks[2][size - secret_size - 1] = '\x55';
    blocks[2][size / 2] = '\0';
    std::ranges::replace(blocks[3].begin() + 2, blocks[3].end(), '\0', '\x55');
    blocks[4][size - secret_size] = '\x02';
    blocks[4][size - secret_size + 1] = '\x02';
    return blocks;
}

// The answer to one block: the alerts and how the connection ended; or why there was no question.
struct robot_answer
{
    std::string seen;
    std::string no_question;
};

robot_answer send_block(
    raw_client const& client, wire::client_hello const& hello, wire::version version,
    std::string const& encrypted)
{
    constexpr std::size_t client_key_exchange = 16;
    raw_visit visit{client.address(), std::min(client.timeout(), 2 * last_answer_time)};
    raw_answer answer;
    visit.send(wire::records_of(hello));
    visit.read(answer, awaited::flight);
    if (!answer.flight.complete())
        return {{}, "the server's flight is not complete: " + answer.refusal()};
    auto const number = static_cast<std::uint16_t>(version);
    // An empty one, where the server asks for a certificate.
    std::string const certificate = answer.flight.wants_certificate()
                                        ? wire::number(11, 1) + wire::sized(wire::number(0, 3), 3)
                                        : std::string{};
    std::string const message = certificate + wire::number(client_key_exchange, 1) +
                                wire::sized(wire::sized(encrypted, 2), 3);
    visit.send(
        wire::record(record_type::handshake, number, message) +
        wire::record(record_type::change_cipher_spec, number, "\x01") +
        wire::record(record_type::handshake, number, std::string(64, 'f')));
    bool closed = false;
    std::string const bytes = visit.read_to_end(last_answer_time, closed);
    std::string seen;
    for (char const each : bytes)
        seen += fmt::format("{:02x}", static_cast<unsigned char>(each));
    return {seen + (closed ? " closed" : " open"), {}};
}

} // namespace

probed_answer find_robot(raw_client const& client, accepted_version const& old)
{
    suite_numbers const suites = suites_with(old.suites, &wire::suite_traits::rsa_key_exchange);
    if (suites.empty() || old.version == wire::version::ssl_3_0)
        return {"ROBOT", false, "no RSA key exchange"};
    wire::client_hello const hello = client.hello(old.version, suites);
    raw_answer first;
    {
        // It ends here: some servers take one connection at a time.
        raw_visit visit{client.address(), std::min(client.timeout(), last_answer_time)};
        visit.send(wire::records_of(hello));
        visit.read(first, awaited::flight);
    }
    if (first.flight.certificates().empty())
        return {"ROBOT", {}, "no certificate came: " + first.refusal()};
    auto const key = wire::rsa_key_of(first.flight.certificates().front());
    constexpr std::size_t modulus_min = 64;
    if (!key || key->modulus.size() < modulus_min)
        return {"ROBOT", {}, "the certificate has no usable RSA key"};
    std::vector<std::string> rounds[2];
    for (std::vector<std::string>& round : rounds) {
        for (std::string const& block :
             blocks_for(key->modulus.size(), static_cast<std::uint16_t>(old.version))) {
            robot_answer const answer =
                send_block(client, hello, old.version, wire::raw_rsa(*key, block));
            if (!answer.no_question.empty())
                return {"ROBOT", {}, answer.no_question};
            round.push_back(answer.seen);
        }
        // Any other alert than bad_record_mac is about the certificate that is missing.
        if (first.flight.wants_certificate() && round.front().find("00020214") == std::string::npos)
            return {"ROBOT", {}, "the server requires a certificate"};
        bool const same =
            std::ranges::count(round, round.front()) == static_cast<std::ptrdiff_t>(round.size());
        if (same)
            return {"ROBOT", false, "right and wrong padding have the same answer"};
    }
    if (rounds[0] != rounds[1])
        return {"ROBOT", {}, "the answers change from one time to the next"};
    return {"ROBOT", true, "the answer to an RSA key exchange depends on its padding"};
}

} // namespace cleat::bench
