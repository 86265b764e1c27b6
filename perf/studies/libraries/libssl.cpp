// Handshakes of OpenSSL, AWS-LC and BoringSSL: one program on the API that they share.
//
// The client does not look at the chain of certificates, in no program of this study: a verify
// callback says yes, since SSL_VERIFY_NONE alone would build the chain and ignore the outcome. The
// signature of the handshake is verified as always.
#include "block_bio.hpp"
#include "handshakes.hpp"
#include "libssl_dialect.hpp"
#include "tls13_suite.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace {

using study::bytes;
using study::role;
using study::task;
using study::unsupported;

template <auto Free>
struct freed_by
{
    template <class T>
    void operator()(T* object) const noexcept
    {
        Free(object);
    }
};
using ctx_ptr = std::unique_ptr<SSL_CTX, freed_by<SSL_CTX_free>>;
using ssl_ptr = std::unique_ptr<SSL, freed_by<SSL_free>>;
using session_ptr = std::unique_ptr<SSL_SESSION, freed_by<SSL_SESSION_free>>;

constexpr char const* tls13_suite = "TLS_AES_128_GCM_SHA256";

[[noreturn]] void fail(char const* what)
{
    std::array<char, 256> text{};
    ERR_error_string_n(ERR_get_error(), text.data(), text.size());
    throw std::runtime_error(std::string{what} + ": " + text.data());
}

void must(bool done, char const* what)
{
    if (!done)
        fail(what);
}

char const* tls12_suite(task const& use)
{
    return use.rsa() ? "ECDHE-RSA-AES128-GCM-SHA256" : "ECDHE-ECDSA-AES128-GCM-SHA256";
}

/// libssl_contexts is a client's and a server's context.
struct libssl_contexts
{
    explicit libssl_contexts(task const& asked);

    task const& use;
    study::library_context library;
    ctx_ptr client;
    ctx_ptr server;

private:
    ctx_ptr pinned(SSL_METHOD const* method) const;
};

/// libssl_thread is the state of a thread: its transports, and the session that its next client
/// resumes.
struct libssl_thread
{
    explicit libssl_thread(libssl_contexts& shared) : contexts(shared) {}

    libssl_contexts& contexts;
    session_ptr session;
    perf::block_bio client_bio{perf::block_size(0)};
    perf::block_bio server_bio{perf::block_size(0)};
};

// The library hands over what the client may resume: in TLS 1.3 whenever a ticket comes.
int keep_session(SSL* tls, SSL_SESSION* session)
{
    static_cast<libssl_thread*>(SSL_get_ex_data(tls, 0))->session.reset(session);
    return 1; // the reference is ours now
}

libssl_contexts::libssl_contexts(task const& asked)
    : use(asked), library(asked.contexts == study::sharing::library)
{
    if (use.kind == study::handshake_kind::id && use.tls13() && !study::resumes_tls13_from_state())
        throw unsupported("in TLS 1.3 the server resumes from tickets only");
    if (use.kind == study::handshake_kind::renegotiate && !study::server_renegotiates())
        throw unsupported("the server does not renegotiate");
    client = pinned(TLS_client_method());
    server = pinned(TLS_server_method());
    must(
        SSL_CTX_use_certificate_chain_file(server.get(), use.certificate.c_str()) == 1 &&
            SSL_CTX_use_PrivateKey_file(server.get(), use.certificate.c_str(), SSL_FILETYPE_PEM) ==
                1,
        "the certificate");
    SSL_CTX_set_verify(client.get(), SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_cert_verify_callback(
        client.get(), [](X509_STORE_CTX*, void*) { return 1; }, nullptr);

    bool const state = use.kind == study::handshake_kind::id;
    SSL_CTX_set_session_cache_mode(
        client.get(),
        use.resumes() ? SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL : SSL_SESS_CACHE_OFF);
    SSL_CTX_sess_set_new_cb(client.get(), keep_session);
    SSL_CTX_set_session_cache_mode(
        server.get(), state ? SSL_SESS_CACHE_SERVER : SSL_SESS_CACHE_OFF);
    unsigned char const name[] = {'s', 't', 'u', 'd', 'y'};
    must(SSL_CTX_set_session_id_context(server.get(), name, sizeof name) == 1, "the id context");
    if (use.kind != study::handshake_kind::ticket) {
        SSL_CTX_set_options(client.get(), SSL_OP_NO_TICKET);
        SSL_CTX_set_options(server.get(), SSL_OP_NO_TICKET);
    }
    must(SSL_CTX_set_num_tickets(server.get(), use.resumes() ? 1 : 0) == 1, "the tickets");
}

ctx_ptr libssl_contexts::pinned(SSL_METHOD const* method) const
{
    ctx_ptr ctx{library.new_ctx(method)};
    must(ctx != nullptr, "SSL_CTX_new");
    std::uint16_t const version = use.tls13() ? TLS1_3_VERSION : TLS1_2_VERSION;
    must(
        SSL_CTX_set_min_proto_version(ctx.get(), version) == 1 &&
            SSL_CTX_set_max_proto_version(ctx.get(), version) == 1,
        "the version");
    must(
        use.tls13() ? set_tls13_suite(ctx.get(), tls13_suite)
                    : SSL_CTX_set_cipher_list(ctx.get(), tls12_suite(use)) == 1,
        "the suite");
    must(
        SSL_CTX_set1_sigalgs_list(
            ctx.get(), use.rsa() ? "rsa_pss_rsae_sha256" : "ecdsa_secp256r1_sha256") == 1,
        "the signature scheme");
    // In TLS 1.2 the list is also that of the curves which a certificate may be on.
    char const* const groups = use.post_quantum() ? "X25519MLKEM768"
                               : use.tls13()      ? "X25519"
                                                  : "X25519:P-256";
    if (SSL_CTX_set1_groups_list(ctx.get(), groups) != 1)
        throw unsupported("the library does not have this group");
    return ctx;
}

/// libssl_side is one connection's client or server.
class libssl_side
{
public:
    libssl_side(libssl_thread& thread, role as)
        : use_(thread.contexts.use)
        , bio_(as == role::client ? thread.client_bio : thread.server_bio)
        , tls_(
              SSL_new((as == role::client ? thread.contexts.client : thread.contexts.server).get()))
    {
        must(tls_ != nullptr, "SSL_new");
        bio_.clear();
        bio_.attach(tls_.get());
        if (as == role::server) {
            SSL_set_accept_state(tls_.get());
            return;
        }
        SSL_set_connect_state(tls_.get());
        must(SSL_set_ex_data(tls_.get(), 0, &thread) == 1, "SSL_set_ex_data");
        if (use_.resumes() && thread.session)
            must(SSL_set_session(tls_.get(), thread.session.get()) == 1, "SSL_set_session");
    }
    libssl_side(libssl_side const&) = delete;
    libssl_side& operator=(libssl_side const&) = delete;
    ~libssl_side()
    {
        // As if both had said goodbye: OpenSSL forgets the session of a connection that broke.
        SSL_set_shutdown(tls_.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    }

    bool shake(bytes incoming)
    {
        take(incoming);
        if (again_)
            return shake_again();
        int const result = SSL_do_handshake(tls_.get());
        if (result != 1)
            wants_more(result);
        return result == 1;
    }

    bytes outgoing() const { return bio_.outgoing(); }

    void send() { must(SSL_write(tls_.get(), "!", 1) == 1, "SSL_write"); }

    bool receive(bytes incoming)
    {
        take(incoming);
        char byte = 0;
        return SSL_read(tls_.get(), &byte, 1) == 1 && byte == '!';
    }

    // SSL_do_handshake only sends the request; what comes of it is met in SSL_read.
    void ask_again()
    {
        bio_.clear();
        must(
            SSL_renegotiate(tls_.get()) == 1 && SSL_do_handshake(tls_.get()) == 1,
            "SSL_renegotiate");
    }

    void expect_again()
    {
        again_ = true;
        before_ = finished();
    }

    void check(bool resumed) const
    {
        std::string_view const suite = SSL_CIPHER_get_name(SSL_get_current_cipher(tls_.get()));
        bool const group = study::group_number(tls_.get()) == (use_.post_quantum() ? 0x11ec : 0x1d);
        if (SSL_version(tls_.get()) != (use_.tls13() ? TLS1_3_VERSION : TLS1_2_VERSION))
            throw std::runtime_error("another version of TLS was agreed on");
        if (suite != (use_.tls13() ? tls13_suite : tls12_suite(use_)))
            throw std::runtime_error("another suite was agreed on: " + std::string{suite});
        if (!group && !(resumed && !use_.tls13())) // a resumption of TLS 1.2 exchanges no keys
            throw std::runtime_error("another group was agreed on");
        if ((SSL_session_reused(tls_.get()) == 1) != resumed)
            throw std::runtime_error(resumed ? "not resumed" : "resumed");
    }

private:
    using finished_message = std::array<unsigned char, 12>; // of TLS 1.2; only there is a second

    void take(bytes incoming)
    {
        bio_.clear();
        bio_.receive(incoming);
    }

    bool shake_again()
    {
        char none = 0;
        int const result = SSL_read(tls_.get(), &none, 1);
        must(result <= 0, "plaintext in the midst of a renegotiation");
        wants_more(result);
        return SSL_in_init(tls_.get()) == 0 && finished() != before_;
    }

    void wants_more(int result) const
    {
        must(SSL_get_error(tls_.get(), result) == SSL_ERROR_WANT_READ, "the handshake");
    }

    finished_message finished() const
    {
        finished_message found{};
        SSL_get_finished(tls_.get(), found.data(), found.size());
        return found;
    }

    task const& use_;
    perf::block_bio& bio_;
    ssl_ptr tls_;
    bool again_ = false;
    finished_message before_{};
};

struct libssl
{
    using contexts = libssl_contexts;
    using thread_state = libssl_thread;
    using side = libssl_side;
    static std::string version() { return study::libssl_version(); }
};

} // namespace

int main(int argc, char** argv)
{
    return study::run<libssl>(argc, argv);
}
