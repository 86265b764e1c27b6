// The part of an engine that only clients use: which server it is, and which session to offer.

#include <cleat/tls/certificates/verification.hpp>
#include <cleat/tls/context_settings.hpp>
#include <cleat/tls/engine.hpp>
#include <cleat/tls/openssl_error.hpp>
#include <cleat/tls/session_keeper.hpp>
#include <cleat/tls/store/host_name.hpp>

#include <openssl/ssl.h>

#include <new>
#include <utility>

namespace cleat::tls {

void engine::resume(session const& offered) noexcept
{
    // Where the library refuses the session, for example for its version, the handshake is full.
    static_cast<void>(SSL_set_session(ssl_, offered.native_handle()));
    clear_errors();
}

bool engine::set_server(std::string const& host, std::uint16_t port) noexcept
{
    bool const is_name = host.find('\0') == std::string::npos &&
                         (is_ip_address(host) || (is_usable_name(host) && !host.starts_with('*')));
    if (!is_name)
        return false;
    try {
        std::string const name{without_final_dot(host)}; // SNI has none (RFC 6066, section 3).
        if (!set_server_name(ssl_, name))
            return false;
        if (sessions_ != nullptr)
            sessions_->set_server(name, port);
        return true;
    } catch (std::bad_alloc const&) {
        return false;
    }
}

void engine::begin_sessions() noexcept
{
    if (sessions_ == nullptr)
        return;
    bool const offers_another = SSL_get_session(ssl_) != nullptr; // By resume.
    if (session const offered = sessions_->begin(offers_another))
        resume(offered);
}

std::vector<session> engine::take_sessions() noexcept
{
    return sessions_ == nullptr ? std::vector<session>{} : std::exchange(sessions_->kept, {});
}

} // namespace cleat::tls
