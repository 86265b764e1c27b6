// The BoringSSL family's ClientHello callback. It cannot choose the alert of a refusal, so it marks
// the SSL, and the SNI callback, which comes soon after and can, refuses it.
//
// AWS-LC has OpenSSL's callback, too, but without the cipher suites.

#include <cleat/tls/backend.hpp>
#include <cleat/tls/backend/bssl/client_schemes.hpp>

namespace cleat::tls::backend {
namespace {

// The ex_data of an SSL that was refused is the address of one of these. It is set on refusal only:
// the first ex_data of an SSL makes the library allocate.
char const refused_mark = 0; // For its SNI.
char const failed_mark = 0;  // For a failure on this side.

int refused_index() noexcept
{
    static int const index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return index;
}

int judge_index() noexcept
{
    static int const index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return index;
}

SSL_CLIENT_HELLO const& hello_of(void const* native) noexcept
{
    return *static_cast<SSL_CLIENT_HELLO const*>(native);
}

ssl_select_cert_result_t refuse_later(SSL* ssl, char const& mark) noexcept
{
    bool const marked = SSL_set_ex_data(ssl, refused_index(), const_cast<char*>(&mark)) == 1;
    return marked ? ssl_select_cert_success : ssl_select_cert_error;
}

ssl_select_cert_result_t on_hello(SSL_CLIENT_HELLO const* hello) noexcept
{
    SSL* const ssl = hello->ssl;
    hello_judge const& judge =
        *static_cast<hello_judge const*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), judge_index()));
    switch (judge.judge(judge.argument, ssl, client_hello{hello})) {
    case hello_verdict::go_on:
        break;
    case hello_verdict::wait:
        return ssl_select_cert_retry;
    case hello_verdict::refuse_name:
        return refuse_later(ssl, refused_mark);
    case hello_verdict::fail:
        return refuse_later(ssl, failed_mark);
    }
    return ssl_select_cert_success;
}

// NOACK: a server need not confirm that it used the name (RFC 6066, section 3). It saves bytes.
int name_callback(SSL* ssl, int* alert, void* schemes) noexcept
{
    void const* mark = SSL_get_ex_data(ssl, refused_index());
    bool const is_asking = schemes != nullptr && SSL_get_verify_mode(ssl) != SSL_VERIFY_NONE;
    if (mark == nullptr && is_asking &&
        !bssl::set_schemes(ssl, *static_cast<version_schemes const*>(schemes)))
        mark = &failed_mark;
    if (mark == nullptr)
        return SSL_TLSEXT_ERR_NOACK;
    *alert = mark == &refused_mark ? SSL_AD_UNRECOGNIZED_NAME : SSL_AD_INTERNAL_ERROR;
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

} // namespace

octets client_hello::cipher_suites() const noexcept
{
    SSL_CLIENT_HELLO const& hello = hello_of(native_);
    return {hello.cipher_suites, hello.cipher_suites_len};
}

octets client_hello::body_of(extension number) const noexcept
{
    std::uint8_t const* bytes = nullptr;
    std::size_t size = 0;
    if (SSL_early_callback_ctx_extension_get(
            &hello_of(native_), static_cast<std::uint16_t>(number), &bytes, &size) != 1)
        return {};
    return {bytes, size};
}

void on_client_hello(SSL_CTX* ctx, hello_judge const* judge)
{
    static_cast<void>(refused_index());
    SSL_CTX_set_ex_data(ctx, judge_index(), const_cast<hello_judge*>(judge));
    SSL_CTX_set_select_certificate_cb(ctx, on_hello);
    SSL_CTX_set_tlsext_servername_callback(ctx, name_callback);
}

bool is_wait_for_certificate(int ssl_error) noexcept
{
    return ssl_error == SSL_ERROR_PENDING_CERTIFICATE;
}

bool refused_name(SSL* ssl) noexcept
{
    return SSL_get_ex_data(ssl, refused_index()) == &refused_mark;
}

} // namespace cleat::tls::backend

namespace cleat::tls {

void bssl::on_server_name(SSL_CTX* ctx, backend::version_schemes const* schemes) noexcept
{
    static_cast<void>(backend::refused_index());
    SSL_CTX_set_tlsext_servername_callback(ctx, backend::name_callback);
    SSL_CTX_set_tlsext_servername_arg(ctx, const_cast<backend::version_schemes*>(schemes));
}

} // namespace cleat::tls
