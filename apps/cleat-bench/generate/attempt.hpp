// attempt: the account of one connection of a load.

#pragma once

#include "generate/outcome.hpp"
#include "generate/tally.hpp"
#include "generate/worker_load.hpp"

#include <cleat/tls/handshake_info.hpp>

#include <cstddef>
#include <string>

namespace cleat::bench {

/// attempt keeps the times of a connection's stages and counts exactly one outcome for each
/// transaction on it: a transaction without another outcome is unfinished. During the warm-up it
/// counts nothing.
class attempt
{
public:
    attempt(worker_load& load, moment intended);
    /// ahead: the connection is begun before its first transaction is due, which due_transaction
    /// begins. Where it fails before, that transaction has failed.
    struct ahead
    {
    };
    attempt(worker_load& load, moment due, ahead);
    /// link: a connection whose requests have accounts of their own (stream_account). A failure is
    /// not counted, but told by lost().
    struct link
    {
    };
    attempt(worker_load& load, moment intended, link);
    attempt(attempt&&) = delete;
    ~attempt();

    /// connection_replaced: a link connects again `now`, after a connection that has ended.
    void connection_replaced(moment now);
    /// lost is the last failure of a link.
    [[nodiscard]] failure const& lost() const noexcept { return lost_; }

    /// request is that of the transaction which has begun.
    [[nodiscard]] std::string const& request() const noexcept;

    /// failed_to_start: no packet left. Where the kernel knows at once that no process listens
    /// there, the connection failed in the stage `connect`.
    void failed_to_start(error_code ec);

    void connected();
    void failed_to_connect(error_code ec);

    void handshake_done(tls::handshake_info const& agreed, bool offered);

    /// next_transaction begins another transaction `now`. The response time of the first one counts
    /// from its intended start, that of the others from here.
    void next_transaction(moment now);
    /// due_transaction begins another transaction that was meant to begin at `intended`; the
    /// connection was free for it from `free_since` on.
    void due_transaction(moment intended, moment free_since);

    /// failed_to_send: the request was due, and the time was up before its connection was free.
    void failed_to_send();

    /// request_begun: a request of so many bytes. Accepted early data left with the ClientHello.
    void request_begun(std::size_t bytes, bool early = false);
    void received(std::size_t bytes);
    void answered();

    /// The opening of a WebSocket: its connection is to be begun, its Upgrade is to be sent, and it
    /// is open. A message that is sent right after it counts from there, unless it was due before.
    void opening_begun();
    void upgrade_begun();
    void opened();
    /// opening_answered ends a transaction that is an opening, which was ok.
    void opening_answered();

    /// message_begun: a message is sent over a WebSocket.
    void message_begun();
    /// waits_open: no message is under way.
    void waits_open() noexcept { stage_ = stage::open; }
    void sent(std::size_t bytes) noexcept;
    /// heard counts what came over a WebSocket.
    void heard(std::uint64_t pings, std::uint64_t messages) noexcept;

    /// failed counts a failure in the current stage.
    void failed(error_code ec, tls::engine const& engine);
    void failed(std::string kind);

private:
    void begin_connection(moment intended);
    void begin_transaction(moment intended);
    void answered_at(moment end);
    [[nodiscard]] bool is_held() const noexcept;

    worker_load& load_;
    tally& counts_;
    moment intended_;
    moment response_from_; // The intended start, or the end of a WebSocket's opening.
    moment opening_from_;
    moment opened_;
    moment begun_;
    moment connected_;
    moment request_begun_;
    std::size_t path_ = 0;
    stage stage_ = stage::connect;
    failure lost_;
    bool counted_;
    bool is_link_ = false;
    bool open_ = false;  // A transaction has no outcome yet.
    bool ahead_ = false; // The first transaction is not begun yet.
    bool first_byte_ = false;
};

} // namespace cleat::bench
