#include "generate/stream_account.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace cleat::bench {

stream_account::stream_account(worker_load& load, moment intended, bool is_counted)
    : load_{load}, begun_{intended, load.choose_path()}, is_counted_{is_counted}
{
    if (is_counted_)
        count_begun(load_, begun_);
}

stream_account::stream_account(stream_account&& from) noexcept
    : load_{from.load_}
    , begun_{from.begun_}
    , sent_{from.sent_}
    , heard_{from.heard_}
    , is_counted_{from.is_counted_}
    , is_open_{std::exchange(from.is_open_, false)}
    , has_come_{from.has_come_}
{
}

stream_account::~stream_account()
{
    if (is_open_)
        failed({stage::answer, std::string{unfinished}}, std::chrono::steady_clock::now());
}

void stream_account::sent(moment now) noexcept
{
    sent_ = heard_ = now;
    has_come_ = false;
}

void stream_account::came(moment now)
{
    heard_ = now;
    if (!std::exchange(has_come_, true) && is_counted_)
        load_.counts().first_byte.record(
            static_cast<std::uint64_t>(std::chrono::nanoseconds{now - sent_}.count()));
}

void stream_account::answered(moment now)
{
    is_open_ = false;
    if (is_counted_)
        count_ok(load_, begun_, begun_.intended, now);
}

void stream_account::failed(failure what, moment now)
{
    is_open_ = false;
    if (is_counted_)
        count_failed(load_, begun_, std::move(what), now, now);
}

} // namespace cleat::bench
