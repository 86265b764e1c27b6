// attempt: the account of one connection of a load.

#pragma once

#include "generate/generator.hpp"

#include <cleat/tls/handshake_info.hpp>

#include <string>

namespace cleat::bench {

/// attempt keeps the times of a connection's stages and counts exactly one outcome for each
/// transaction on it. One that is left without a word is unfinished. During the warm-up it counts
/// nothing.
class attempt
{
public:
    attempt(generator& of, moment intended);
    attempt(attempt&&) = delete;
    ~attempt();

    /// failed_to_start: no packet left. The kernel may know at once that nobody listens; then it
    /// was an attempt to connect.
    void failed_to_start(error_code ec);

    void connected();
    void failed_to_connect(error_code ec);

    void shaken(tls::handshake_info const& agreed, bool offered);

    /// asks_again begins another transaction. The first one's response counts from its intended
    /// start, another's from here.
    void asks_again();
    /// asks_when_due begins another transaction that was meant to begin at `intended`, on a
    /// connection that was free for it from `free` on.
    void asks_when_due(moment intended, moment free);
    /// asking begins a request. One that was accepted as early data has begun with the ClientHello.
    void asking(std::size_t bytes, bool early = false);
    void received(std::size_t bytes);
    void answered();

    /// failed counts a failure in the stage that it is in.
    void failed(error_code ec, tls::engine const& engine);
    void failed(std::string kind);

private:
    void begin_transaction(moment from);
    [[nodiscard]] interval& where_it_began();

    generator& of_;
    tally& counts_;
    moment asked_;
    moment began_;
    moment connected_;
    moment asking_;
    stage stage_ = stage::connect;
    bool counted_;
    bool open_ = false;
    bool first_byte_ = false;
};

} // namespace cleat::bench
