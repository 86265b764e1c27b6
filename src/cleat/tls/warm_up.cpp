#include <cleat/tls/memory_handshake.hpp>
#include <cleat/tls/openssl_error.hpp>
#include <cleat/tls/warm_up.hpp>

#include <fmt/format.h>

#include <array>
#include <cstdint>

namespace cleat::tls {
namespace {

// In TLS 1.2 a certificate's curve must be among the client's groups (RFC 8422, section 5.1).
std::string with_curves(std::string groups)
{
    for (char const* each : {"P-256", "P-384", "P-521"})
        if ((':' + groups + ':').find(':' + std::string{each} + ':') == std::string::npos)
            groups += ':' + std::string{each};
    return groups;
}

// A client that accepts everything that this server offers.
ssl_ctx_ptr permissive_client(
    backend::library_state const& library, std::string const& groups, key_type key)
{
    ssl_ctx_ptr ctx = library.new_ctx(false);
    if (ctx == nullptr)
        return nullptr;
    SSL_CTX_set_verify(ctx.get(), SSL_VERIFY_NONE, nullptr);
    if (!backend::set_groups(ctx.get(), with_curves(groups)))
        static_cast<void>(backend::set_groups(ctx.get(), groups));
    static_cast<void>(SSL_CTX_set_cipher_list(ctx.get(), "ALL"));
    if (key == key_type::ed25519) // Not every library's client offers to verify it.
        static_cast<void>(SSL_CTX_set1_sigalgs_list(ctx.get(), "ed25519"));
    clear_errors();
    return ctx;
}

// A byte in each direction warms the tickets and the record protection.
void send_a_byte(SSL* sender, SSL* receiver)
{
    std::array<char, 1> byte{};
    if (SSL_write(sender, byte.data(), 1) == 1)
        static_cast<void>(SSL_read(receiver, byte.data(), 1));
}

bool try_version(SSL_CTX* server_ctx, SSL_CTX* client_ctx, std::uint16_t version)
{
    ssl_ptr const server{SSL_new(server_ctx)};
    ssl_ptr const client{SSL_new(client_ctx)};
    if (server == nullptr || client == nullptr || !join_in_memory(server.get(), client.get()) ||
        SSL_set_min_proto_version(client.get(), version) != 1 ||
        SSL_set_max_proto_version(client.get(), version) != 1)
        return false;
    SSL_set_verify(
        server.get(), SSL_VERIFY_NONE, nullptr); // This client has no certificate to show.
    if (!shake_hands(server.get(), client.get()))
        return false;
    send_a_byte(server.get(), client.get());
    send_a_byte(client.get(), server.get());
    return true;
}

} // namespace

bool warm_server(
    backend::library_state const& library, SSL_CTX* server, context_spec const& spec,
    std::string const& groups, key_type key, std::string const& origin,
    std::vector<std::string>& warnings)
{
    ssl_ctx_ptr const client = permissive_client(library, groups, key);
    if (client == nullptr)
        return true;
    bool is_usable = false;
    for (protocol_version const each : {protocol_version::tls_1_2, protocol_version::tls_1_3}) {
        if (each < spec.version_min || each > spec.version_max)
            continue;
        // It is for TLS 1.3 only.
        if (each < spec.version_max && is_ml_dsa(key))
            continue;
        clear_errors();
        if (try_version(server, client.get(), static_cast<std::uint16_t>(each)))
            is_usable = true;
        else
            warnings.push_back(fmt::format(
                "{}: no {} handshake is possible with this certificate and these settings ({}): "
                "compare the "
                "kind of its key with ciphers and groups",
                origin, each == protocol_version::tls_1_2 ? "TLSv1.2" : "TLSv1.3",
                drain_errors().reason));
    }
    clear_errors();
    return is_usable;
}

void warm_client(SSL_CTX* client)
{
    ssl_ptr const one{SSL_new(client)};
    bio_ptr input{BIO_new(BIO_s_mem())};
    bio_ptr output{BIO_new(BIO_s_mem())};
    if (one == nullptr || input == nullptr || output == nullptr)
        return;
    SSL_set_bio(one.get(), input.release(), output.release());
    static_cast<void>(SSL_connect(one.get())); // Ends where the server's answer would be read.
    clear_errors();
}

} // namespace cleat::tls
