// own_alert: the fatal alert with which this side ends a handshake. Not a public header.

#pragma once

#include <cleat/tls/backend.hpp>

namespace cleat::tls {

/// watch_alerts makes the SSLs of a context report the alerts that they send.
void watch_alerts(SSL_CTX* ctx) noexcept;

/// own_alert holds the fatal alert that an SSL of such a context sends on this thread while it
/// lives. There is one at a time on a thread.
class own_alert
{
public:
    own_alert() noexcept;
    own_alert(own_alert&&) = delete;
    ~own_alert();

    /// number of the alert (RFC 8446, section 6), or -1.
    [[nodiscard]] int number() const noexcept { return number_; }

private:
    friend void watch_alerts(SSL_CTX* ctx) noexcept;

    int number_ = -1;
};

} // namespace cleat::tls
