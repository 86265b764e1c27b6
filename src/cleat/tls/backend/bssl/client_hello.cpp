// The BoringSSL family's ClientHello callback. It cannot choose the alert of a refusal, so it marks
// the SSL, and the SNI callback, which comes soon after and can, refuses it.
//
// AWS-LC has OpenSSL's callback, too, but without the cipher suites.

#include <cleat/tls/backend.hpp>

namespace cleat::tls::backend {
namespace {

// The ex_data of an SSL that was refused for its SNI is this variable's address. It is set on
// refusal only: the first ex_data of an SSL makes the library allocate.
char const refused_mark = 0;

int refused_index() noexcept
{
    static int const index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return index;
}

int chooser_index() noexcept
{
    static int const index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return index;
}

SSL_CLIENT_HELLO const& hello_of(void const* native) noexcept
{
    return *static_cast<SSL_CLIENT_HELLO const*>(native);
}

ssl_select_cert_result_t on_hello(SSL_CLIENT_HELLO const* hello) noexcept
{
    SSL* const ssl = hello->ssl;
    SSL_CTX* const current = SSL_get_SSL_CTX(ssl);
    hello_chooser const& chooser =
        *static_cast<hello_chooser const*>(SSL_CTX_get_ex_data(current, chooser_index()));
    SSL_CTX* const chosen = chooser.choose(chooser.argument, client_hello{hello});
    if (chosen == nullptr) {
        bool const marked =
            SSL_set_ex_data(ssl, refused_index(), const_cast<char*>(&refused_mark)) == 1;
        return marked ? ssl_select_cert_success : ssl_select_cert_error;
    }
    // SSL_set_SSL_CTX copies the certificate: skipped where the context is the same.
    if (chosen != current && SSL_set_SSL_CTX(ssl, chosen) == nullptr)
        return ssl_select_cert_error;
    return ssl_select_cert_success;
}

// NOACK: a server need not confirm that it used the name (RFC 6066, section 3). It saves bytes.
int on_server_name(SSL* ssl, int* alert, void*) noexcept
{
    if (!refused_name(ssl))
        return SSL_TLSEXT_ERR_NOACK;
    *alert = SSL_AD_UNRECOGNIZED_NAME;
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

void on_client_hello(SSL_CTX* ctx, hello_chooser const* chooser)
{
    static_cast<void>(refused_index());
    SSL_CTX_set_ex_data(ctx, chooser_index(), const_cast<hello_chooser*>(chooser));
    SSL_CTX_set_select_certificate_cb(ctx, on_hello);
    SSL_CTX_set_tlsext_servername_callback(ctx, on_server_name);
}

bool refused_name(SSL* ssl) noexcept
{
    return SSL_get_ex_data(ssl, refused_index()) == &refused_mark;
}

} // namespace cleat::tls::backend
