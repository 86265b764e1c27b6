// handshake_phases: the times at which the parts of a handshake ended.

#pragma once

#include <cleat/net/channel.hpp>
#include <cleat/net/worker.hpp>
#include <cleat/tls/engine.hpp>

#include <cstdint>

namespace cleat::app {

/// handshake_phases has two times: when the worker's loop woke up for the ClientHello that is
/// answered, and when the answer was made, with key share and signature. A handshake reads the
/// clock only for the second. After a HelloRetryRequest both times are those of the second
/// ClientHello.
class handshake_phases
{
public:
    using time_point = net::worker::clock::time_point;

    /// `hello` is when the ClientHello was read, where that was before TLS began; otherwise unset.
    explicit handshake_phases(time_point hello) noexcept
        : hello_{hello}, is_hello_open_{hello != time_point{}}
    {
    }

    /// note: call it after each step of a handshake that is not finished.
    void note(
        net::worker const& worker, net::progress const& part, tls::engine const& engine) noexcept
    {
        std::uint64_t const sent = engine.bytes_sent();
        bool const is_answer = sent != sent_;
        if (!is_answer && part.next != net::wait::certificate && part.next != net::wait::session)
            return;
        if (!is_hello_open_)
            hello_ = worker.now();
        is_hello_open_ = !is_answer;
        if (!is_answer)
            return;
        sent_ = sent;
        answer_ = net::worker::clock::now();
    }

    /// hello, answer are unset where the handshake ended before an answer was made.
    [[nodiscard]] time_point hello() const noexcept { return hello_; }
    [[nodiscard]] time_point answer() const noexcept { return answer_; }

private:
    time_point hello_;
    time_point answer_{};
    std::uint64_t sent_ = 0;
    bool is_hello_open_; // Its answer waits.
};

} // namespace cleat::app
