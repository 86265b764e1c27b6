// stream_account: the account of one request of a load by HTTP/2, apart from that of its
// connection.

#pragma once

#include "generate/outcome.hpp"
#include "generate/transaction_counts.hpp"
#include "generate/worker_load.hpp"

#include <cstddef>

namespace cleat::bench {

/// stream_account counts exactly one outcome of a request: one that is destroyed without another
/// outcome is unfinished. During the warm-up it counts nothing.
class stream_account
{
public:
    /// A request begins that was meant to begin at `intended`: its response counts from there.
    stream_account(worker_load& load, moment intended, bool is_counted);
    stream_account(stream_account&& from) noexcept;
    stream_account& operator=(stream_account&&) = delete;
    ~stream_account();

    [[nodiscard]] std::size_t path() const noexcept { return begun_.path; }
    [[nodiscard]] moment intended() const noexcept { return begun_.intended; }

    /// sent: the request leaves, for the first time or once more.
    void sent(moment now) noexcept;
    /// went, came: some of the request has left, some of the answer has come.
    void went(moment now) noexcept { heard_ = now; }
    void came(moment now);
    /// heard is when it was last sent, or went on.
    [[nodiscard]] moment heard() const noexcept { return heard_; }

    void answered(moment now);
    void failed(failure what, moment now);

private:
    worker_load& load_;
    begun_transaction begun_;
    moment sent_{};
    moment heard_{};
    bool is_counted_;
    bool is_open_ = true; // It has no outcome yet.
    bool has_come_ = false;
};

} // namespace cleat::bench
