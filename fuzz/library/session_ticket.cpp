// A client's session ticket, as a server opens it. The first byte of the input says what is in the
// ticket; see below.

#include "input_reader.hpp"
#include "targets.hpp"

#include <cleat/core/assert.hpp>
#include <cleat/tls/backend.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/connection_for_tests.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/engine.hpp>
#include <cleat/tls/ticket_keys.hpp>
#include <cleat/tls/ticket_secret.hpp>

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/ssl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::fuzz {
namespace {

constexpr unsigned is_sealed = 1;  // With the server's key; otherwise the bytes are the ticket.
constexpr unsigned is_patched = 2; // A true session with patches: two bytes of place, one of value.
constexpr unsigned is_tls_1_3 = 4; // Offered as a pre-shared key, with a wrong binder.

constexpr std::size_t name_size = 16;
constexpr std::size_t iv_size = 16;
constexpr std::size_t mac_size = 32;
constexpr int hmac_key_size = 32; // Libraries take it as an int or a size_t.

std::string sized(std::size_t length_size, std::string_view content)
{
    std::string made;
    for (std::size_t i = length_size; i-- != 0;)
        made += static_cast<char>(content.size() >> (8 * i));
    return made.append(content);
}

std::string extension(std::uint16_t number, std::string_view body)
{
    return std::string{static_cast<char>(number >> 8U), static_cast<char>(number)} + sized(2, body);
}

std::string bytes_of(std::initializer_list<int> values)
{
    std::string made;
    for (int const each : values)
        made += static_cast<char>(each);
    return made;
}

// A ClientHello in one record that offers the ticket.
std::string hello_with(std::string_view ticket, bool is_1_3)
{
    std::string extensions =
        extension(10, sized(2, bytes_of({0, 29, 0, 23}))) +     // Groups.
        extension(13, sized(2, bytes_of({4, 3, 8, 4, 4, 1}))) + // Signature schemes.
        extension(51, sized(2, bytes_of({0, 29}) + sized(2, std::string(32, '\x09')))) +
        extension(23, "");
    if (is_1_3) {
        extensions +=
            extension(43, sized(1, bytes_of({3, 4}))) + extension(45, sized(1, {"\1", 1}));
        std::string const identity = sized(2, ticket) + std::string(4, '\0');
        extensions += extension(41, sized(2, identity) + sized(2, sized(1, std::string(32, 'b'))));
    } else {
        extensions += extension(35, ticket);
    }
    std::string const body = bytes_of({3, 3}) + std::string(32, 'r') + sized(1, "id") +
                             sized(2, bytes_of({0x13, 1, 0xc0, 0x2b, 0xc0, 0x2f})) +
                             sized(1, std::string(1, '\0')) + sized(2, extensions);
    std::string const message = bytes_of({1}) + sized(3, body);
    std::string records;
    for (std::size_t done = 0; done < message.size(); done += 16'384)
        records += bytes_of({22, 3, 1}) + sized(2, std::string_view{message}.substr(done, 16'384));
    return records;
}

// server is one that this process asks for all inputs. Its context never changes.
struct server
{
    server()
    {
        tls::test_identity const identity = tls::make_identity({.names = {"cleat.example"}});
        spec.certificates = {identity.source("fuzzed")};
        spec.tickets = secret;
        context = std::make_unique<tls::context>(spec);
        session = true_session();
    }

    // The session in a ticket that the server has sealed itself.
    [[nodiscard]] std::string true_session()
    {
        tls::context_spec wanted;
        wanted.role = tls::role::client;
        wanted.version_max = tls::protocol_version::tls_1_2;
        tls::context const client{wanted};
        tls::test_connection connection{*context, client};
        CLEAT_ASSERT(connection.handshake() && !connection.sessions.empty());
        unsigned char const* ticket = nullptr;
        std::size_t size = 0;
        SSL_SESSION_get0_ticket(connection.sessions.back().get(), &ticket, &size);
        CLEAT_ASSERT(size > name_size + iv_size + mac_size);
        unsigned char const* const sealed = ticket + name_size + iv_size;
        auto const sealed_size = static_cast<int>(size - name_size - iv_size - mac_size);
        std::string opened(size, '\0');
        auto* const out = reinterpret_cast<unsigned char*>(opened.data());
        tls::ticket_keys keys{library, {.secrets = {secret}}, tls::ticket_times_of(spec)};
        EVP_CIPHER_CTX* const cipher = EVP_CIPHER_CTX_new();
        int head = 0;
        int tail = 0;
        bool const is_open = EVP_DecryptInit_ex(
                                 cipher, EVP_aes_256_cbc(), nullptr, keys.current()->aes.data(),
                                 ticket + name_size) == 1 &&
                             EVP_DecryptUpdate(cipher, out, &head, sealed, sealed_size) == 1 &&
                             EVP_DecryptFinal_ex(cipher, out + head, &tail) == 1;
        EVP_CIPHER_CTX_free(cipher);
        CLEAT_ASSERT(is_open);
        opened.resize(static_cast<std::size_t>(head + tail));
        return opened;
    }

    // As RFC 5077, section 4, has it.
    [[nodiscard]] std::string seal(std::string_view content) const
    {
        tls::ticket_keys keys{library, {.secrets = {secret}}, tls::ticket_times_of(spec)};
        tls::ticket_keys::key const* const key = keys.current();
        std::array<unsigned char, iv_size> const iv{};
        std::string made{reinterpret_cast<char const*>(key->name.data()), name_size};
        made.append(iv_size, '\0');
        std::string sealed(content.size() + 32, '\0');
        auto* const out = reinterpret_cast<unsigned char*>(sealed.data());
        EVP_CIPHER_CTX* const cipher = EVP_CIPHER_CTX_new();
        int head = 0;
        int tail = 0;
        EVP_EncryptInit_ex(cipher, EVP_aes_256_cbc(), nullptr, key->aes.data(), iv.data());
        EVP_EncryptUpdate(
            cipher, out, &head, reinterpret_cast<unsigned char const*>(content.data()),
            static_cast<int>(content.size()));
        EVP_EncryptFinal_ex(cipher, out + head, &tail);
        EVP_CIPHER_CTX_free(cipher);
        made.append(sealed, 0, static_cast<std::size_t>(head + tail));
        std::array<unsigned char, mac_size> mac{};
        HMAC(
            EVP_sha256(), key->hmac.data(), hmac_key_size,
            reinterpret_cast<unsigned char const*>(made.data()), made.size(), mac.data(), nullptr);
        return made.append(reinterpret_cast<char const*>(mac.data()), mac.size());
    }

    tls::backend::library_state library;
    std::shared_ptr<tls::ticket_secret const> secret = std::make_shared<tls::ticket_secret>();
    tls::context_spec spec;
    std::unique_ptr<tls::context> context;
    std::string session;
};

std::string content_of(unsigned how, input_reader& from, std::string session)
{
    if ((how & is_patched) == 0)
        return std::string{text_of(from.rest())};
    while (!from.is_empty()) {
        std::size_t const place = from.number(2) % session.size();
        session[place] = static_cast<char>(from.number(1));
    }
    return session;
}

} // namespace

void session_ticket(octets input)
{
    static server const asked;
    input_reader from{input};
    auto const how = static_cast<unsigned>(from.number(1));
    std::string ticket = content_of(how, from, asked.session);
    if ((how & (is_sealed | is_patched)) != 0)
        ticket = asked.seal(ticket);
    if (ticket.size() > 60'000)
        return; // It has no place in an extension.
    std::string const hello = hello_with(ticket, (how & is_tls_1_3) != 0);
    std::vector<std::byte> out(64 * 1024);
    tls::engine engine{*asked.context};
    tls::wire wire{std::as_bytes(std::span{hello}), out};
    static_cast<void>(engine.handshake(wire));
    // There was no Finished.
    CLEAT_ASSERT(!engine.established());
}

} // namespace cleat::fuzz
