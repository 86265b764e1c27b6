// OpenSSL sends a compressed certificate that was compressed before the handshake needs it, and
// only with an algorithm that it was built with, whoever compresses. It keeps one for each
// certificate, without the OCSP response that a client may ask for. So the message is made here,
// for the connection, as OpenSSL makes it (RFC 8446, section 4.4.2).

#include <cleat/tls/backend.hpp>
#include <cleat/tls/backend/openssl/compression/compression.hpp>
#include <cleat/tls/backend/openssl/staple.hpp>
#include <cleat/tls/certificates/compressed_certificates.hpp>
#include <cleat/tls/openssl_error.hpp>

#include <array>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::tls::backend {
namespace {

int cache_index() noexcept
{
    static int const index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return index;
}

// Of RFC 8879, section 7.3.
constexpr std::uint16_t algorithm_end = 4;

using known_algorithms = std::array<bool, algorithm_end>;

known_algorithms find_algorithms()
{
    known_algorithms found{};
    library_state const library;
    ssl_ctx_ptr const ctx = library.new_ctx(true);
    for (int each = 1; ctx != nullptr && each < algorithm_end; ++each)
        found.at(static_cast<std::size_t>(each)) =
            SSL_CTX_set1_cert_comp_preference(ctx.get(), &each, 1) == 1;
    clear_errors();
    return found;
}

// The first of the server's that is among the client's, or 0.
std::uint16_t choose(std::span<certificate_compressor const> own, octets offered) noexcept
{
    for (certificate_compressor const& each : own)
        for (std::size_t i = 1; i + 1 < offered.size(); i += 2) // Behind the length of the list.
            if (((offered[i] << 8U) | offered[i + 1]) == each.algorithm)
                return each.algorithm;
    return 0;
}

void append_number(std::string& out, std::size_t number, unsigned bytes)
{
    while (bytes != 0)
        out += static_cast<char>(number >> (8 * --bytes));
}

void append_certificate(std::string& out, X509* x509, std::string_view response)
{
    int const size = i2d_X509(x509, nullptr);
    if (size <= 0)
        throw std::bad_alloc{};
    append_number(out, static_cast<std::size_t>(size), 3);
    out.resize(out.size() + static_cast<std::size_t>(size));
    unsigned char* end = reinterpret_cast<unsigned char*>(out.data()) + out.size() - size;
    i2d_X509(x509, &end);
    if (response.empty())
        return append_number(out, 0, 2); // No extensions.
    append_number(out, response.size() + 8, 2);
    append_number(out, static_cast<std::size_t>(extension::status_request), 2);
    append_number(out, response.size() + 4, 2);
    append_number(out, TLSEXT_STATUSTYPE_ocsp, 1);
    append_number(out, response.size(), 3);
    out += response;
}

// The body of the Certificate message.
std::string message_of(SSL* ssl, bool wants_response)
{
    std::string const response = wants_response ? response_of(ssl) : std::string{};
    STACK_OF(X509)* chain = nullptr;
    SSL_get0_chain_certs(ssl, &chain);
    std::string list;
    append_certificate(list, SSL_get_certificate(ssl), response);
    for (int i = 0; i < sk_X509_num(chain); ++i)
        append_certificate(list, sk_X509_value(chain, i), {});
    std::string message(1, '\0'); // The context, which is that of a CertificateRequest.
    append_number(message, list.size(), 3);
    return message += list;
}

bool compress(SSL* ssl, compressed_certificates& cache, std::uint16_t algorithm)
{
    client_hello const hello{ssl};
    octets const status = hello.body_of(extension::status_request);
    bool const wants_response = !status.empty() && status.front() == TLSEXT_STATUSTYPE_ocsp;
    std::string const message = message_of(ssl, wants_response);
    std::span<std::byte const> const found = cache.find(algorithm, message);
    // The library copies it, although it says `unsigned char*`.
    return !found.empty() &&
           SSL_set1_compressed_cert(
               ssl, algorithm,
               const_cast<unsigned char*>(reinterpret_cast<unsigned char const*>(found.data())),
               found.size(), message.size()) == 1;
}

} // namespace

bool can_compress(std::uint16_t algorithm) noexcept
{
    static known_algorithms const known = [] {
        try {
            return find_algorithms();
        } catch (std::exception const&) {
            return known_algorithms{};
        }
    }();
    return algorithm < known.size() && known.at(algorithm);
}

// The callback for the ClientHello calls add_compressed_certificate.
bool compress_certificates(SSL_CTX* ctx, compressed_certificates* cache)
{
    std::vector<int> algorithms;
    for (certificate_compressor const& each : cache->compressors())
        algorithms.push_back(each.algorithm);
    on_client_hello(ctx, nullptr);
    return SSL_CTX_set1_cert_comp_preference(ctx, algorithms.data(), algorithms.size()) == 1 &&
           SSL_CTX_set_ex_data(ctx, cache_index(), cache) == 1;
}

bool add_compressed_certificate(SSL* ssl) noexcept
{
    void* const cache = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), cache_index());
    client_hello const hello{ssl};
    // A client that offers a session rarely needs the certificate. Then it gets it as it is.
    if (cache == nullptr || !hello.body_of(extension::pre_shared_key).empty())
        return true;
    int const version_max = SSL_get_max_proto_version(ssl); // 0: the newest.
    if (hello.body_of(extension::supported_versions).empty() ||
        (version_max != 0 && version_max < TLS1_3_VERSION))
        return true; // TLS 1.2 compresses no certificates.
    try {
        compressed_certificates& known = *static_cast<compressed_certificates*>(cache);
        std::uint16_t const algorithm =
            choose(known.compressors(), hello.body_of(extension::compress_certificate));
        return algorithm == 0 || compress(ssl, known, algorithm);
    } catch (std::exception const&) { // Without memory the handshake fails.
        return false;
    }
}

void take_no_compressed_certificates(SSL_CTX* ctx) noexcept
{
    SSL_CTX_set_options(ctx, SSL_OP_NO_RX_CERTIFICATE_COMPRESSION);
}

} // namespace cleat::tls::backend
