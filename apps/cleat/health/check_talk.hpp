// check_talk: the bytes that a check and a server exchange once they are connected, as a state
// machine: bytes in, bytes out; no sockets and no waiting.

#pragma once

#include "upstream/check_rule.hpp"

#include <cleat/core/error.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/engine.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cleat::app {

/// check_talk is one connection's. Send what is unsent, after each call, also after the end: a
/// close_notify or an alert is there. The rule and the context outlive it.
class check_talk
{
public:
    enum class stage : std::uint8_t
    {
        shakes_hands, ///< A TLS handshake goes on.
        waits,        ///< It waits for the answer.
        ends,         ///< It waits for the server's end: see is_enough.
        passed,
        failed, ///< reason() says why.
    };

    /// Without a context it speaks no TLS. With one, the certificate must have this name, which is
    /// sent as SNI, too; empty: any. Throws std::bad_alloc.
    check_talk(check_rule const& rule, tls::context const* context, std::string const& server_name);

    [[nodiscard]] stage present() const noexcept { return stage_; }

    /// receive takes the next bytes of the server. `ended`: no more come after them.
    void receive(std::span<std::byte const> bytes, bool ended);

    [[nodiscard]] std::string_view unsent() const noexcept
    {
        return std::string_view{out_}.substr(sent_);
    }
    void sent(std::size_t size) noexcept { sent_ += size; }

    /// is_enough: the check has passed, unless the server still refuses cleat's certificate. In TLS
    /// 1.3 a server refuses our certificate, or the lack of one, after our part of the handshake.
    /// So the check waits for the server's end.
    [[nodiscard]] bool is_enough() const noexcept { return stage_ == stage::ends; }

    [[nodiscard]] std::string const& reason() const noexcept { return reason_; }

private:
    void shake_hands(tls::wire& w);
    void speak(tls::wire& w);
    void hear(tls::wire& w);
    void hear_end(tls::step const& last);
    void look(std::string_view text);
    void close(tls::wire& w);
    void fail(std::string reason);
    void fail(tls::step const& last);

    template <class Call>
    [[nodiscard]] tls::step run(tls::wire& w, Call call);

    check_rule const& rule_;
    std::optional<tls::engine> engine_; // Without TLS there is none.
    stage stage_ = stage::waits;
    std::string out_; // The request, and how much of it has been sent.
    std::size_t sent_ = 0;
    std::string heard_; // The beginning of the answer.
    std::string reason_;
};

} // namespace cleat::app
