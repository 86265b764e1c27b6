// writev_connection: a connection in memory for the tests of the gather write. The test decides
// where its transport blocks.

#pragma once

#include <cleat/ssl_writev.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cleat::tls::writev_tests {

template <auto Free>
struct freed_by
{
    template <class T>
    void operator()(T* p) const
    {
        Free(p);
    }
};
using ssl_ptr = std::unique_ptr<SSL, freed_by<SSL_free>>;
using ctx_ptr = std::unique_ptr<SSL_CTX, freed_by<SSL_CTX_free>>;

// transport is one end of a connection in memory. Writes are taken until the quota is used up.
struct transport
{
    std::string out;
    std::string in;
    std::size_t quota = SIZE_MAX;
    std::function<void()> before_write; // for a BIO that does more than copy
};

inline transport& transport_of(BIO* bio)
{
    return *static_cast<transport*>(BIO_get_data(bio));
}

inline int transport_write(BIO* bio, char const* data, int size)
{
    transport& t = transport_of(bio);
    if (t.before_write)
        t.before_write();
    BIO_clear_retry_flags(bio);
    std::size_t const taken = std::min(static_cast<std::size_t>(size), t.quota);
    if (taken == 0) {
        BIO_set_retry_write(bio);
        return -1;
    }
    t.out.append(data, taken);
    if (t.quota != SIZE_MAX)
        t.quota -= taken;
    return static_cast<int>(taken);
}

inline int transport_read(BIO* bio, char* data, int size)
{
    transport& t = transport_of(bio);
    BIO_clear_retry_flags(bio);
    std::size_t const taken = std::min(static_cast<std::size_t>(size), t.in.size());
    if (taken == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    std::memcpy(data, t.in.data(), taken);
    t.in.erase(0, taken);
    return static_cast<int>(taken);
}

inline long transport_control(BIO*, int command, long, void*)
{
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

inline BIO* make_bio(transport& t)
{
    static BIO_METHOD* const method = [] {
        BIO_METHOD* m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "transport");
        BIO_meth_set_write(m, transport_write);
        BIO_meth_set_read(m, transport_read);
        BIO_meth_set_ctrl(m, transport_control);
        return m;
    }();
    BIO* bio = BIO_new(method);
    BIO_set_data(bio, &t);
    BIO_set_init(bio, 1);
    return bio;
}

inline ctx_ptr make_server_context()
{
    ctx_ptr ctx{SSL_CTX_new(TLS_server_method())};
    std::unique_ptr<EVP_PKEY_CTX, freed_by<EVP_PKEY_CTX_free>> generator{
        EVP_PKEY_CTX_new_id(EVP_PKEY_RSA, nullptr)};
    EVP_PKEY* raw = nullptr;
    if (EVP_PKEY_keygen_init(generator.get()) != 1 ||
        EVP_PKEY_CTX_set_rsa_keygen_bits(generator.get(), 2048) != 1 ||
        EVP_PKEY_keygen(generator.get(), &raw) != 1)
        throw std::runtime_error{"no RSA key"};
    std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>> key{raw};
    std::unique_ptr<X509, freed_by<X509_free>> certificate{X509_new()};
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
    X509_set_pubkey(certificate.get(), key.get());
    if (X509_sign(certificate.get(), key.get(), EVP_sha256()) == 0 ||
        SSL_CTX_use_certificate(ctx.get(), certificate.get()) != 1 ||
        SSL_CTX_use_PrivateKey(ctx.get(), key.get()) != 1)
        throw std::runtime_error{"no certificate"};
    return ctx;
}

using pieces = std::vector<std::string>;

inline std::vector<iovec> iovecs_of(pieces const& list)
{
    std::vector<iovec> vectors;
    for (std::string const& piece : list)
        vectors.push_back({const_cast<char*>(piece.data()), piece.size()});
    return vectors;
}

inline std::string joined(pieces const& list)
{
    std::string all;
    for (std::string const& piece : list)
        all += piece;
    return all;
}

struct outcome
{
    int ret;
    std::size_t written;
};

// connection: the tests write to its client. They call handshake() first unless the write is to do
// the handshake.
struct connection
{
    transport client_end;
    transport server_end;
    ssl_ptr client;
    ssl_ptr server;
    int version;

    explicit connection(int tls_version, long mode = 0) : version{tls_version}
    {
        static ctx_ptr const server_context = make_server_context();
        static ctx_ptr const client_context{SSL_CTX_new(TLS_client_method())};
        client.reset(SSL_new(client_context.get()));
        server.reset(SSL_new(server_context.get()));
        for (auto [ssl, end] :
             {std::pair{client.get(), &client_end}, std::pair{server.get(), &server_end}}) {
            SSL_set_min_proto_version(ssl, static_cast<std::uint16_t>(tls_version));
            SSL_set_max_proto_version(ssl, static_cast<std::uint16_t>(tls_version));
            SSL_set_cipher_list(ssl, "ECDHE-RSA-AES256-GCM-SHA384");
            BIO* bio = make_bio(*end);
            SSL_set_bio(ssl, bio, bio);
        }
        // An SSL inherits OpenSSL's default modes; the test sets these two.
        SSL_clear_mode(
            client.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
        SSL_set_mode(client.get(), static_cast<decltype(SSL_get_mode(client.get()))>(mode));
        SSL_set_connect_state(client.get());
        SSL_set_accept_state(server.get());
    }

    connection& handshake()
    {
        while (SSL_do_handshake(client.get()) != 1 || SSL_do_handshake(server.get()) != 1)
            exchange();
        exchange();
        client_end.out.clear();
        return *this;
    }

    void exchange()
    {
        SSL_do_handshake(server.get());
        server_end.in += std::exchange(client_end.out, {});
        SSL_do_handshake(server.get());
        client_end.in += std::exchange(server_end.out, {});
    }

    outcome write(std::vector<iovec> const& vectors, std::size_t max_bytes = SIZE_MAX)
    {
        ERR_clear_error();
        outcome o{0, 12345};
        o.ret = cleat_ssl_writev_ex(
            client.get(), vectors.data(), static_cast<int>(vectors.size()), max_bytes, &o.written);
        return o;
    }

    int error(outcome const& o) { return SSL_get_error(client.get(), o.ret); }

    // sizes_on_wire are the payloads of the records in the client's output.
    std::vector<std::size_t> sizes_on_wire()
    {
        std::vector<std::size_t> sizes;
        std::string const& out = client_end.out;
        std::size_t const overhead = version == TLS1_3_VERSION ? 17 : 24;
        for (std::size_t position = 0; position < out.size();) {
            REQUIRE(out.size() - position >= 5);
            REQUIRE(out[position] == SSL3_RT_APPLICATION_DATA);
            std::size_t const size = static_cast<unsigned char>(out[position + 3]) * 256u +
                                     static_cast<unsigned char>(out[position + 4]);
            REQUIRE(size > overhead);
            sizes.push_back(size - overhead);
            position += 5 + size;
        }
        return sizes;
    }

    // received is what the server decrypts from the client's output, all of it.
    std::string received()
    {
        server_end.in += std::exchange(client_end.out, {});
        std::string plain;
        std::vector<char> block(20000);
        int size;
        while ((size = SSL_read(server.get(), block.data(), static_cast<int>(block.size()))) > 0)
            plain.append(block.data(), static_cast<std::size_t>(size));
        REQUIRE(SSL_get_error(server.get(), size) == SSL_ERROR_WANT_READ);
        REQUIRE(server_end.in.empty());
        return plain;
    }
};

inline pieces make_pieces(std::vector<std::size_t> const& sizes, std::uint32_t seed = 1)
{
    std::minstd_rand random{seed};
    pieces list;
    for (std::size_t const size : sizes) {
        std::string piece(size, '\0');
        for (char& byte : piece)
            byte = static_cast<char>(random());
        list.push_back(std::move(piece));
    }
    return list;
}

inline std::size_t fewest_records(std::size_t total)
{
    return (total + 16383) / 16384;
}

inline constexpr int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
inline constexpr long partial = SSL_MODE_ENABLE_PARTIAL_WRITE;
inline constexpr long moving = SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER;
inline constexpr long all_modes[] = {0, partial, moving, partial | moving};

// write_deeper writes from a deeper stack frame, so that a copy on the stack has another address.
[[gnu::noinline]] inline outcome write_deeper(connection& c, std::vector<iovec> const& vectors)
{
    char volatile stack[4096];
    stack[0] = 0;
    outcome const o = c.write(vectors);
    return stack[0] == 0 ? o : outcome{};
}

// finish writes all of the pieces. After each WANT_WRITE the transport takes `allowance` more
// bytes. In moving mode each try uses a new copy of the pieces, and the copy before is overwritten.
inline void finish(connection& c, pieces const& list, std::size_t allowance = SIZE_MAX)
{
    bool const moves = (static_cast<long>(SSL_get_mode(c.client.get())) & moving) != 0;
    pieces copy;
    if (moves)
        copy = list;
    std::size_t const total = joined(list).size();
    std::size_t done = 0;
    int tries = 0;
    while (done < total) {
        std::vector<iovec> vectors = iovecs_of(moves ? copy : list);
        std::size_t skip = done;
        for (iovec& v : vectors) {
            std::size_t const step = std::min(skip, v.iov_len);
            v = {static_cast<char*>(v.iov_base) + step, v.iov_len - step};
            skip -= step;
        }
        outcome const o = ++tries % 2 == 0 ? write_deeper(c, vectors) : c.write(vectors);
        done += o.written;
        if (o.ret <= 0) {
            REQUIRE(o.written == 0);
            REQUIRE(c.error(o) == SSL_ERROR_WANT_WRITE);
            c.client_end.quota = allowance;
        } else {
            REQUIRE(o.ret == 1);
            REQUIRE(o.written > 0);
        }
        if (moves) {
            pieces fresh = list;
            for (std::string& old : copy)
                std::fill(old.begin(), old.end(), '!');
            copy.swap(fresh);
        }
    }
    REQUIRE(done == total);
}

} // namespace cleat::tls::writev_tests
