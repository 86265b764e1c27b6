// verify: asio::ssl's names for the verification of a peer's certificate.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/tls/context_spec.hpp>

#include <string>
#include <utility>

struct ssl_st;
struct x509_store_ctx_st;

namespace cleat::net {

/// verify_mode is flags, with Asio's values. For a client verify_peer means "a good certificate or
/// no connection". For a server it means that a client which sends a certificate must send a good
/// one, and with verify_fail_if_no_peer_cert that it must send one. verify_client_once changes
/// nothing: cleat does not renegotiate.
using verify_mode = int;
inline constexpr verify_mode verify_none = 0;
inline constexpr verify_mode verify_peer = 1;
inline constexpr verify_mode verify_fail_if_no_peer_cert = 2;
inline constexpr verify_mode verify_client_once = 4;

/// verification_of is the flags' meaning for a role; error::bad_verify_setting for a flag that is
/// none of these, and for verify_fail_if_no_peer_cert without verify_peer, which would do nothing.
[[nodiscard]] result<tls::peer_verification> verification_of(verify_mode mode, tls::role role);

/// verify_context is the argument of a verify callback: the certificate to verify. It is valid
/// until the callback returns.
class verify_context
{
public:
    /// native_handle_type is X509_STORE_CTX of the TLS library.
    using native_handle_type = x509_store_ctx_st*;

    /// verify_context of the TLS library's own.
    explicit verify_context(native_handle_type handle) noexcept : handle_{handle} {}
    verify_context(verify_context const&) = delete;
    verify_context& operator=(verify_context const&) = delete;

    /// native_handle is the TLS library's X509_STORE_CTX.
    [[nodiscard]] native_handle_type native_handle() noexcept { return handle_; }

private:
    native_handle_type handle_;
};

/// verify_function_of converts a callback as Asio has it, bool(bool preverified, verify_context&),
/// to one for tls::context_spec. The callback is copied.
template <class Callback>
tls::verify_function verify_function_of(Callback callback)
{
    return [callback = std::move(callback)](bool preverified, x509_store_ctx_st* handle) mutable {
        verify_context context{handle};
        return static_cast<bool>(callback(preverified, context));
    };
}

/// host_name_verification is a verify callback that accepts a peer whose chain is good and whose
/// certificate names a host name or an address. context_spec::server_name does the same,
/// without a callback, and sends the name too.
class host_name_verification
{
public:
    /// As in Asio.
    using result_type = bool;

    /// `host` is a DNS name or an IP address.
    explicit host_name_verification(std::string host) : host_{std::move(host)} {}

    /// True where the chain is good and the certificate has the name.
    bool operator()(bool preverified, verify_context& context) const noexcept;

private:
    std::string host_;
};

namespace detail {

// A stream's settings before its handshake. Each returns an error for a setting that is not valid.
[[nodiscard]] error_code set_verify_mode(ssl_st* ssl, tls::role role, verify_mode mode) noexcept;
[[nodiscard]] error_code set_verify_depth(ssl_st* ssl, int depth) noexcept;
[[nodiscard]] error_code set_verify_function(ssl_st* ssl, tls::verify_function decide) noexcept;

} // namespace detail
} // namespace cleat::net
