#include <cleat/tls/certificates/certificate_use.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/openssl_error.hpp>

#include <fmt/format.h>

namespace cleat::tls {

void use_certificate(SSL_CTX* ctx, certificate const& identity)
{
    bool done = SSL_CTX_use_certificate(ctx, identity.leaf.get()) == 1;
    for (x509_ptr const& each : identity.chain)
        done = done && SSL_CTX_add1_chain_cert(ctx, each.get()) == 1;
    if (!done || SSL_CTX_use_PrivateKey(ctx, identity.key.get()) != 1)
        throw spec_error{fmt::format(
            "{}: {} refuses the certificate: {}; have one issued with a 2048-bit RSA or a P-256 "
            "key and a "
            "SHA-256 signature",
            identity.origin, library_version(), drain_errors().reason)};
}

namespace {

int origin_index() noexcept
{
    static int const index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return index;
}

} // namespace

void set_origin(SSL_CTX* ctx, std::string const& origin)
{
    SSL_CTX_set_ex_data(ctx, origin_index(), const_cast<std::string*>(&origin));
}

std::string const* origin_of(SSL_CTX const* ctx) noexcept
{
    return static_cast<std::string const*>(SSL_CTX_get_ex_data(ctx, origin_index()));
}

bool use_certificate(SSL* ssl, certificate const& identity) noexcept
{
    bool done = SSL_use_certificate(ssl, identity.leaf.get()) == 1;
    for (x509_ptr const& each : identity.chain)
        done = done && SSL_add1_chain_cert(ssl, each.get()) == 1;
    return done && SSL_use_PrivateKey(ssl, identity.key.get()) == 1;
}

} // namespace cleat::tls
