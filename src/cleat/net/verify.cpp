#include <cleat/net/verify.hpp>
#include <cleat/tls/certificates/verification.hpp>

#include <boost/asio/error.hpp>

#include <new>

namespace cleat::net {

result<tls::peer_verification> verification_of(verify_mode mode, tls::role role)
{
    constexpr verify_mode known = verify_peer | verify_fail_if_no_peer_cert | verify_client_once;
    bool const peer = (mode & verify_peer) != 0;
    bool const must_send = (mode & verify_fail_if_no_peer_cert) != 0;
    if ((mode & ~known) != 0 || (must_send && !peer))
        return error_code{error::bad_verify_setting};
    if (!peer)
        return tls::peer_verification::none;
    return must_send || role == tls::role::client ? tls::peer_verification::required
                                                  : tls::peer_verification::optional;
}

bool host_name_verification::operator()(bool preverified, verify_context& context) const noexcept
{
    return preverified && tls::certificate_names(context.native_handle(), host_);
}

namespace detail {

error_code set_verify_mode(ssl_st* ssl, tls::role role, verify_mode mode) noexcept
{
    result<tls::peer_verification> const verification = verification_of(mode, role);
    if (!verification)
        return verification.error();
    tls::set_verification(ssl, *verification);
    return {};
}

error_code set_verify_depth(ssl_st* ssl, int depth) noexcept
{
    if (depth < 0)
        return error::bad_verify_setting;
    tls::set_verify_depth(ssl, depth);
    return {};
}

error_code set_verify_function(ssl_st* ssl, tls::verify_function decide) noexcept
try {
    if (!decide)
        return boost::asio::error::invalid_argument;
    tls::set_verify_function(ssl, std::move(decide));
    return {};
} catch (std::bad_alloc const&) {
    return boost::asio::error::no_memory;
}

} // namespace detail
} // namespace cleat::net
