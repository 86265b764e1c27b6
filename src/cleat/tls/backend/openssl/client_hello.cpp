// OpenSSL's ClientHello callback, which can choose the alert of a refusal.

#include <cleat/tls/backend.hpp>
#include <cleat/tls/backend/openssl/compression/compression.hpp>
#include <cleat/tls/backend/openssl/session_ids.hpp>
#include <cleat/tls/certificates/client_hello.hpp>
#include <cleat/tls/session_id_hooks.hpp>

#include <array>
#include <optional>
#include <string_view>

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

SSL* ssl_of(void const* native) noexcept
{
    return static_cast<SSL*>(const_cast<void*>(native));
}

// The library has not parsed SNI yet; the log names the host that the client asked for.
void keep_name(SSL* ssl) noexcept
{
    std::string_view const name = server_name_in(client_hello{ssl}.body_of(extension::server_name));
    std::array<char, 256> text{}; // RFC 1035, section 2.3.4: a name has 255 bytes at most.
    name.copy(text.data(), text.size() - 1);
    SSL_set_tlsext_host_name(ssl, text.data());
}

int on_hello(SSL* ssl, int* alert, void* argument) noexcept
{
    if (std::optional<session_id> const awaited = openssl::awaited_session(ssl)) {
        cache_of(ssl)->ask(*awaited);
        return SSL_CLIENT_HELLO_RETRY;
    }
    auto const* const judge = static_cast<hello_judge const*>(argument);
    switch (judge == nullptr ? hello_verdict::go_on
                             : judge->judge(judge->argument, ssl, client_hello{ssl})) {
    case hello_verdict::go_on:
        if (add_compressed_certificate(ssl))
            break;
        [[fallthrough]];
    case hello_verdict::fail:
        keep_name(ssl);
        *alert = SSL_AD_INTERNAL_ERROR;
        return SSL_CLIENT_HELLO_ERROR;
    case hello_verdict::wait:
        return SSL_CLIENT_HELLO_RETRY;
    case hello_verdict::refuse_name:
        SSL_set_ex_data(ssl, refused_index(), const_cast<char*>(&refused_mark));
        keep_name(ssl);
        *alert = SSL_AD_UNRECOGNIZED_NAME;
        return SSL_CLIENT_HELLO_ERROR;
    }
    return SSL_CLIENT_HELLO_SUCCESS;
}

} // namespace

octets client_hello::cipher_suites() const noexcept
{
    unsigned char const* bytes = nullptr;
    std::size_t const size = SSL_client_hello_get0_ciphers(ssl_of(native_), &bytes);
    return {bytes, size};
}

octets client_hello::body_of(extension number) const noexcept
{
    unsigned char const* bytes = nullptr;
    std::size_t size = 0;
    if (SSL_client_hello_get0_ext(ssl_of(native_), static_cast<unsigned>(number), &bytes, &size) !=
        1)
        return {};
    return {bytes, size};
}

void on_client_hello(SSL_CTX* ctx, hello_judge const* judge)
{
    static_cast<void>(refused_index());
    SSL_CTX_set_client_hello_cb(ctx, on_hello, const_cast<hello_judge*>(judge));
}

bool is_wait_for_certificate(int ssl_error) noexcept
{
    return ssl_error == SSL_ERROR_WANT_CLIENT_HELLO_CB;
}

bool refused_name(SSL* ssl) noexcept
{
    return SSL_get_ex_data(ssl, refused_index()) == &refused_mark;
}

} // namespace cleat::tls::backend
