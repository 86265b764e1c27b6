// raw_visit: a connection to a probed server without a TLS library: bytes out, and a flight back.

#pragma once

#include "wire/flight.hpp"

#include <cleat/core/unique_fd.hpp>
#include <cleat/net/socket_options.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace cleat::bench {

/// The time that a server has to answer the last message of a connection: silence is a result, too.
inline constexpr std::chrono::milliseconds last_answer_time{2000};

/// raw_ending is why no more was read.
enum class raw_ending : std::uint8_t
{
    not_connected,
    answered, ///< All that was waited for has come.
    closed,   ///< By the server.
    silent    ///< The server sent nothing more within the time.
};

/// raw_answer is what a server sent.
struct raw_answer
{
    wire::flight flight;
    raw_ending ending = raw_ending::not_connected;

    /// accepted: a ServerHello came.
    [[nodiscard]] bool accepted() const noexcept { return flight.hello().has_value(); }
    /// refusal names what came instead of a ServerHello: "alert handshake_failure", "closed".
    [[nodiscard]] std::string refusal() const;
};

/// awaited is how much of a flight is read.
enum class awaited : std::uint8_t
{
    hello, ///< Up to the ServerHello.
    flight ///< All of it.
};

/// raw_visit is one connection. It blocks.
class raw_visit
{
public:
    /// Connects. `timeout` is for all of the visit.
    raw_visit(net::address const& address, std::chrono::milliseconds timeout);

    [[nodiscard]] bool connected() const noexcept { return connected_; }
    /// send is false once the connection is closed.
    bool send(std::string_view bytes) noexcept;
    /// pause waits for bytes of the server, for at most this time; true if there are any.
    [[nodiscard]] bool pause(std::chrono::milliseconds time) const noexcept;
    /// read adds to an answer.
    void read(raw_answer& answer, awaited end);
    /// read_to_end is all that comes until the server closes, or is silent for `time`.
    [[nodiscard]] std::string read_to_end(std::chrono::milliseconds time, bool& closed);

private:
    using clock = std::chrono::steady_clock;

    clock::time_point deadline_;
    unique_fd fd_;
    bool connected_ = false;
};

} // namespace cleat::bench
