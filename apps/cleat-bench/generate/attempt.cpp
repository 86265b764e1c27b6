#include "generate/attempt.hpp"
#include "generate/transaction_counts.hpp"

#include <algorithm>
#include <utility>

namespace cleat::bench {
namespace {

using clock = std::chrono::steady_clock;

std::uint64_t ns(clock::duration d) noexcept
{
    return static_cast<std::uint64_t>(
        std::max<std::int64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(d).count(), 0));
}

} // namespace

attempt::attempt(worker_load& load, moment intended)
    : load_{load}, counts_{load.counts()}, intended_{intended}, counted_{load.is_counted(intended)}
{
    begin_connection(intended);
    begin_transaction(intended);
    if (counted_)
        counts_.slip.record(ns(begun_ - intended));
}

attempt::attempt(worker_load& load, moment due, ahead)
    : load_{load}, counts_{load.counts()}, intended_{due}, counted_{load.is_counted(due)}
{
    begin_connection(due);
    ahead_ = true;
}

attempt::attempt(worker_load& load, moment intended, link)
    : load_{load}
    , counts_{load.counts()}
    , intended_{intended}
    , counted_{load.is_counted(intended)}
    , is_link_{true}
{
    begin_connection(intended);
}

void attempt::connection_replaced(moment now)
{
    begun_ = now;
    stage_ = stage::connect;
    counted_ = load_.is_counted(now);
    counts_.connections += counted_ ? 1U : 0U;
}

void attempt::begin_connection(moment intended)
{
    load_.connection_begun();
    begun_ = clock::now();
    intended_ = intended;
    // All messages of a WebSocket are of one path.
    if (load_.spec().websocket)
        path_ = load_.choose_path();
    counts_.connections += counted_ ? 1U : 0U;
}

attempt::~attempt()
{
    if (open_)
        failed(std::string{unfinished});
    load_.connection_ended();
}

void attempt::begin_transaction(moment intended)
{
    intended_ = response_from_ = intended;
    open_ = true;
    ahead_ = false;
    if (!load_.spec().websocket)
        path_ = load_.choose_path();
    if (counted_)
        count_begun(load_, {intended_, path_});
}

std::string const& attempt::request() const noexcept
{
    exchange const& exchange = load_.spec().exchange;
    return exchange.by_path.empty() ? exchange.request : exchange.by_path[path_].request;
}

void attempt::failed_to_start(error_code ec)
{
    std::string kind = kind_of(stage::start, ec, nullptr);
    stage_ = client_limit({stage::start, kind}) ? stage::start : stage::connect;
    failed(std::move(kind));
}

void attempt::connected()
{
    connected_ = clock::now();
    stage_ = stage::handshake;
    if (counted_)
        counts_.tcp.record(ns(connected_ - begun_));
}

void attempt::failed_to_connect(error_code ec)
{
    stage_ = stage::connect;
    failed(kind_of(stage_, ec, nullptr));
}

void attempt::handshake_done(tls::handshake_info const& agreed, bool offered)
{
    stage_ = stage::request;
    if (!counted_)
        return;
    (agreed.resumed ? counts_.tls_resumed : counts_.tls).record(ns(clock::now() - connected_));
    ++(agreed.resumed ? counts_.resumed : counts_.full);
    counts_.offered += offered ? 1U : 0U;
    if (counts_.early && agreed.early != tls::early_data::not_offered) {
        ++counts_.early->offered;
        ++(agreed.early == tls::early_data::accepted ? counts_.early->accepted
                                                     : counts_.early->rejected);
    }
    counts_.count_agreement(agreed.version, agreed.cipher, agreed.group);
}

void attempt::next_transaction(moment now)
{
    // The warm-up may end between two requests of a connection. In a load of a given number of
    // transactions, no transaction counts on a connection that began in the warm-up, unless each
    // is taken from the number by itself.
    if (!load_.spec().transactions || load_.spec().keep)
        counted_ = load_.is_counted(now);
    begin_transaction(now);
}

void attempt::due_transaction(moment intended, moment free_since)
{
    counted_ = load_.is_counted(intended);
    begun_ = clock::now();
    begin_transaction(intended);
    if (counted_)
        counts_.slip.record(ns(begun_ - std::max(intended, free_since)));
}

void attempt::failed_to_send()
{
    stage_ = stage::start;
    failed(std::string{connection_busy});
}

void attempt::request_begun(std::size_t bytes, bool early)
{
    request_begun_ = early ? connected_ : clock::now();
    first_byte_ = false;
    stage_ = stage::answer;
    counts_.bytes_up += counted_ ? bytes : 0;
}

void attempt::received(std::size_t bytes)
{
    if (!counted_ || bytes == 0)
        return;
    counts_.bytes_down += bytes;
    if (!std::exchange(first_byte_, true))
        counts_.first_byte.record(ns(clock::now() - request_begun_));
}

void attempt::answered()
{
    answered_at(clock::now());
}

void attempt::answered_at(moment end)
{
    open_ = false;
    if (counted_)
        count_ok(load_, {intended_, path_}, response_from_, end);
}

void attempt::opening_begun()
{
    bool const is_kept = std::holds_alternative<kept>(load_.spec().loop);
    opening_from_ = is_kept ? clock::now() : intended_;
    counts_.websocket->openings += counted_ ? 1U : 0U;
}

void attempt::upgrade_begun()
{
    request_begun_ = clock::now();
    // The first byte of an echo is of more interest than that of the opening.
    first_byte_ = load_.spec().websocket->use == websocket_use::echo;
    stage_ = stage::upgrade;
}

void attempt::opened()
{
    opened_ = clock::now();
    stage_ = stage::open;
    bool const is_echo = load_.spec().websocket->use == websocket_use::echo;
    if (is_echo && !std::holds_alternative<kept>(load_.spec().loop))
        response_from_ = opened_;
    if (!counted_)
        return;
    counts_.websocket->opening.record(ns(opened_ - opening_from_));
    counts_.websocket->opened_in_time += load_.is_in_schedule(opened_) ? 1U : 0U;
}

void attempt::opening_answered()
{
    answered_at(opened_);
}

void attempt::message_begun()
{
    request_begun_ = clock::now();
    first_byte_ = false;
    stage_ = stage::answer;
}

void attempt::sent(std::size_t bytes) noexcept
{
    counts_.bytes_up += counted_ ? bytes : 0;
}

void attempt::heard(std::uint64_t pings, std::uint64_t messages) noexcept
{
    if (!counted_)
        return;
    counts_.websocket->pings += pings;
    counts_.websocket->messages += messages;
}

void attempt::failed(error_code ec, tls::engine const& engine)
{
    failed(kind_of(stage_, ec, &engine));
}

void attempt::failed(std::string kind)
{
    if (is_link_) {
        lost_ = {stage_, std::move(kind)};
        return;
    }
    if (ahead_)
        begin_transaction(intended_);
    open_ = false;
    if (!counted_)
        return;
    moment const now = clock::now();
    // A WebSocket that was held did not make anything wait: it was open in time, or too late.
    moment const end = is_held() ? opened_ : now;
    count_failed(load_, {intended_, path_}, {stage_, std::move(kind)}, now, end);
}

bool attempt::is_held() const noexcept
{
    std::optional<websocket_load> const& load = load_.spec().websocket;
    return stage_ == stage::open && load && load->use == websocket_use::hold;
}

} // namespace cleat::bench
