// A verify_function is in the ex_data of its SSL, or of each SSL_CTX of its context: a server's SSL
// changes its SSL_CTX when the client has sent SNI.

#include <cleat/core/assert.hpp>
#include <cleat/tls/certificates/certificate_names.hpp>
#include <cleat/tls/certificates/verification.hpp>
#include <cleat/tls/certificates/verify_hook.hpp>
#include <cleat/tls/context_settings.hpp>
#include <cleat/tls/openssl_error.hpp>
#include <cleat/tls/session_keeper.hpp>

#include <openssl/x509v3.h>

#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

namespace cleat::tls {
namespace {

// The callback finds it by a pointer of the thread, as own_alert does.
constinit thread_local refused_certificate* refused_in_call = nullptr;

constexpr char purpose_hint[] = ": a client's certificate needs clientAuth in its extended key "
                                "usage (EKU), which Let's Encrypt "
                                "and other public authorities no longer put there";

certificate_fault fault_of(long verify_result) noexcept
{
    switch (verify_result) {
    case X509_V_OK:
        return certificate_fault::none;
    case X509_V_ERR_CERT_HAS_EXPIRED:
        return certificate_fault::expired;
    case X509_V_ERR_CERT_NOT_YET_VALID:
        return certificate_fault::not_yet_valid;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_CERT_UNTRUSTED:
        return certificate_fault::unknown_authority;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        return certificate_fault::wrong_name;
    case X509_V_ERR_CERT_REVOKED:
        return certificate_fault::revoked;
    default:
        return certificate_fault::other;
    }
}

void free_function(void*, void* function, CRYPTO_EX_DATA*, int, long, void*) noexcept
{
    delete static_cast<verify_function*>(function);
}

int index_in_ssl() noexcept
{
    static int const index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, free_function);
    return index;
}

int index_in_ctx() noexcept
{
    static int const index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return index;
}

verify_function const* function_of(SSL* ssl) noexcept
{
    void* found = SSL_get_ex_data(ssl, index_in_ssl());
    if (found == nullptr)
        found = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), index_in_ctx());
    return static_cast<verify_function const*>(found);
}

// The session of a connection with rules of its own must resume only by these rules, and no session
// that was made by others may resume here.
void resume_nothing(SSL* ssl) noexcept
{
    if (SSL_is_server(ssl) != 0)
        SSL_set_options(ssl, SSL_OP_NO_TICKET);
    else if (session_keeper* const keeper = keeper_of(ssl);
             keeper != nullptr && keeper->use != nullptr) {
        keeper->leave_cache();
        static_cast<void>(SSL_set_session(ssl, nullptr));
        clear_errors();
    }
}

} // namespace

refused_certificate::refused_certificate() noexcept
{
    refused_in_call = this;
}

refused_certificate::~refused_certificate()
{
    refused_in_call = nullptr;
}

int refused_certificate::note(int accepted, X509_STORE_CTX* store_ctx) noexcept
{
    X509 const* const leaf =
        accepted == 1 || refused_in_call == nullptr ? nullptr : X509_STORE_CTX_get0_cert(store_ctx);
    if (leaf == nullptr)
        return accepted;
    try {
        refused_in_call->identity_ = identity_of(leaf);
    } catch (std::bad_alloc const&) { // The log's line goes without it.
    }
    return accepted;
}

// The error queue says only that verification failed.
void refused_certificate::describe(SSL* ssl, failure_info& failure) noexcept
{
    long const why = SSL_get_verify_result(ssl);
    if (why == X509_V_OK)
        return;
    failure.refused = std::move(identity_);
    failure.certificate = fault_of(why);
    try {
        failure.reason = X509_verify_cert_error_string(why);
        if (why == X509_V_ERR_INVALID_PURPOSE && SSL_is_server(ssl) == 1)
            failure.reason += purpose_hint;
    } catch (std::bad_alloc const&) { // The error queue's text stays.
    }
}

extern "C" int cleat_note_refused(int preverified, X509_STORE_CTX* store_ctx)
{
    return refused_certificate::note(preverified, store_ctx);
}

extern "C" int cleat_verify_hook(int preverified, X509_STORE_CTX* store_ctx)
{
    auto* const ssl = static_cast<SSL*>(
        X509_STORE_CTX_get_ex_data(store_ctx, SSL_get_ex_data_X509_STORE_CTX_idx()));
    verify_function const* const function = ssl == nullptr ? nullptr : function_of(ssl);
    bool accepted = false;
    try {
        accepted = function != nullptr && (*function)(preverified == 1, store_ctx);
    } catch (...) {
        accepted = false; // The caller is C code, which no exception may cross.
    }
    if (!accepted && X509_STORE_CTX_get_error(store_ctx) == X509_V_OK)
        X509_STORE_CTX_set_error(store_ctx, X509_V_ERR_APPLICATION_VERIFICATION);
    return refused_certificate::note(accepted ? 1 : 0, store_ctx);
}

bool attach_verify_function(SSL_CTX* ctx, verify_function const* function) noexcept
{
    return SSL_CTX_set_ex_data(ctx, index_in_ctx(), const_cast<verify_function*>(function)) == 1;
}

void set_verification(ssl_st* ssl, peer_verification verification) noexcept
{
    int mode = SSL_VERIFY_NONE;
    if (verification != peer_verification::none)
        mode = SSL_VERIFY_PEER;
    if (verification == peer_verification::required)
        mode |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    SSL_set_verify(ssl, mode, nullptr); // Null keeps the function that is there.
    resume_nothing(ssl);
}

void set_verify_function(ssl_st* ssl, verify_function function)
{
    auto owned = std::make_unique<verify_function>(std::move(function));
    auto* const before = static_cast<verify_function*>(SSL_get_ex_data(ssl, index_in_ssl()));
    if (SSL_set_ex_data(ssl, index_in_ssl(), owned.get()) != 1) {
        clear_errors();
        throw std::bad_alloc{};
    }
    static_cast<void>(owned.release());
    delete before;
    SSL_set_verify(ssl, SSL_get_verify_mode(ssl) | SSL_VERIFY_PEER, cleat_verify_hook);
    resume_nothing(ssl);
}

void set_verify_depth(ssl_st* ssl, int intermediates_max) noexcept
{
    SSL_set_verify_depth(ssl, intermediates_max);
    resume_nothing(ssl);
}

bool set_server_name(ssl_st* ssl, std::string const& name) noexcept
{
    X509_VERIFY_PARAM* const rules = SSL_get0_param(ssl);
    bool const done = is_ip_address(name)
                          ? X509_VERIFY_PARAM_set1_ip_asc(rules, name.c_str()) == 1
                          : X509_VERIFY_PARAM_set1_host(rules, name.c_str(), name.size()) == 1 &&
                                SSL_set_tlsext_host_name(ssl, name.c_str()) == 1;
    clear_errors();
    return done;
}

bool offer_protocol(ssl_st* ssl, std::string_view protocol) noexcept
{
    std::array<unsigned char, 256> wire; // NOLINT: filled as far as it is used
    CLEAT_ASSERT(!protocol.empty() && protocol.size() < wire.size());
    wire[0] = static_cast<unsigned char>(protocol.size());
    std::memcpy(wire.data() + 1, protocol.data(), protocol.size());
    // Zero is success, unlike everywhere else.
    bool const done =
        SSL_set_alpn_protos(ssl, wire.data(), static_cast<unsigned>(protocol.size() + 1)) == 0;
    clear_errors();
    return done;
}

bool certificate_names(x509_store_ctx_st* store_ctx, std::string const& host) noexcept
{
    if (X509_STORE_CTX_get_error_depth(store_ctx) > 0)
        return true;
    X509* const shown = X509_STORE_CTX_get_current_cert(store_ctx);
    if (shown == nullptr || host.empty())
        return false;
    bool const named = X509_check_ip_asc(shown, host.c_str(), 0) == 1 ||
                       X509_check_host(shown, host.data(), host.size(), 0, nullptr) == 1;
    clear_errors(); // X509_check_ip_asc queues an error for a name.
    return named;
}

} // namespace cleat::tls
