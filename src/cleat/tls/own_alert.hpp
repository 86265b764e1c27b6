// own_alert: the alerts that this side sends during one call into the TLS library. Not a public
// header.

#pragma once

#include <cleat/tls/backend.hpp>
#include <cleat/tls/wire.hpp>

namespace cleat::tls {

/// watch_alerts makes the SSLs of a context report the alerts that they send.
void watch_alerts(SSL_CTX* ctx) noexcept;

/// own_alert holds the alerts that an SSL of such a context sends on this thread while it lives.
/// There is one at a time on a thread.
class own_alert
{
public:
    /// w is the wire of the call.
    explicit own_alert(wire& w) noexcept;
    own_alert(own_alert&&) = delete;
    ~own_alert();

    /// number of the fatal alert (RFC 8446, section 6), or -1.
    [[nodiscard]] int number() const noexcept { return number_; }

    /// refused_renegotiation: the peer asked to renegotiate. AWS-LC and BoringSSL end the
    /// connection at that. OpenSSL answers each request with a warning (RFC 5246, section 7.2.2)
    /// and reads on, so the rest of wire::in is dropped here, and the caller ends the connection.
    [[nodiscard]] bool refused_renegotiation() const noexcept { return refused_renegotiation_; }

private:
    friend void watch_alerts(SSL_CTX* ctx) noexcept;
    void note(int level, int number) noexcept;

    wire& wire_;
    int number_ = -1;
    bool refused_renegotiation_ = false;
};

} // namespace cleat::tls
