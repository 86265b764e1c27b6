// verify: the words of asio::ssl for who is at the other end of a connection.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/tls/context_spec.hpp>

#include <string>
#include <utility>

struct ssl_st;
struct x509_store_ctx_st;

namespace cleat::net {

/// verify_mode is flags as Asio has them. A client takes verify_peer for "a good certificate or no
/// connection"; to a server it means that a client which sends a certificate must send a good one,
/// and with verify_fail_if_no_peer_cert that it must send one. verify_client_once is how it always
/// is: TLS is not renegotiated.
using verify_mode = int;
inline constexpr verify_mode verify_none = 0;
inline constexpr verify_mode verify_peer = 1;
inline constexpr verify_mode verify_fail_if_no_peer_cert = 2;
inline constexpr verify_mode verify_client_once = 4;

/// verification_of is what the flags ask for; asio::error::invalid_argument for a flag that is none
/// of these, and for verify_fail_if_no_peer_cert without verify_peer, which would do nothing.
[[nodiscard]] result<tls::peer_verification> verification_of(verify_mode mode, tls::role as);

/// verify_context is what a verify callback sees: the certificate in question. It is valid until
/// the callback returns.
class verify_context
{
public:
    using native_handle_type = x509_store_ctx_st*;

    explicit verify_context(native_handle_type at) noexcept : at_{at} {}
    verify_context(verify_context const&) = delete;
    verify_context& operator=(verify_context const&) = delete;

    /// native_handle is the TLS library's X509_STORE_CTX.
    [[nodiscard]] native_handle_type native_handle() noexcept { return at_; }

private:
    native_handle_type at_;
};

/// verify_function_of makes Asio's kind of callback, bool(bool preverified, verify_context&), into
/// the one of a spec. It is copied.
template <class Callback>
tls::verify_function verify_function_of(Callback callback)
{
    return [callback = std::move(callback)](bool preverified, x509_store_ctx_st* at) mutable {
        verify_context seen{at};
        return static_cast<bool>(callback(preverified, seen));
    };
}

/// host_name_verification is a verify callback that accepts a peer whose chain is good and whose
/// certificate is made out to a host name or an address. context_spec::server_name does the same,
/// without a callback, and sends the name too.
class host_name_verification
{
public:
    using result_type = bool;

    explicit host_name_verification(std::string host) : host_{std::move(host)} {}

    bool operator()(bool preverified, verify_context& seen) const noexcept;

private:
    std::string host_;
};

namespace detail {

// A stream's settings before its handshake. Each gives the error of a setting that cannot be had.
[[nodiscard]] error_code set_verify_mode(ssl_st* ssl, tls::role as, verify_mode mode) noexcept;
[[nodiscard]] error_code set_verify_depth(ssl_st* ssl, int depth) noexcept;
[[nodiscard]] error_code set_verify_function(ssl_st* ssl, tls::verify_function decide) noexcept;

} // namespace detail
} // namespace cleat::net
