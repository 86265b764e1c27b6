// The libraries report the alerts that they send only to a callback. It finds its object by a
// thread_local pointer, not by the SSL's ex_data, whose first one allocates and takes a lock of the
// process.

#include <cleat/tls/own_alert.hpp>

namespace cleat::tls {
namespace {

constinit thread_local own_alert* alert_of_call = nullptr;

} // namespace

own_alert::own_alert(wire& w) noexcept : wire_{w}
{
    alert_of_call = this;
}

own_alert::~own_alert()
{
    alert_of_call = nullptr;
}

void own_alert::note(int level, int number) noexcept
{
    if (level == SSL3_AL_FATAL)
        number_ = number;
    if (level != SSL3_AL_WARNING || number != SSL_AD_NO_RENEGOTIATION)
        return;
    refused_renegotiation_ = true;
    wire_.in = {};
}

void watch_alerts(SSL_CTX* ctx) noexcept
{
    // The value has the alert's level in its second byte, and its number in the first.
    SSL_CTX_set_info_callback(ctx, [](SSL const*, int type, int value) {
        if (type == SSL_CB_WRITE_ALERT && alert_of_call != nullptr)
            alert_of_call->note(value >> 8, value & 0xff);
    });
}

} // namespace cleat::tls
