#include "generate/attempt.hpp"

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

attempt::attempt(generator& of, moment intended)
    : of_{of}, counts_{of.counts()}, asked_{intended}, counted_{of.counted(intended)}
{
    of_.launched();
    began_ = clock::now();
    begin_transaction(intended);
    if (counted_) {
        ++counts_.connections;
        counts_.slip.record(ns(began_ - intended));
    }
}

attempt::~attempt()
{
    if (open_)
        failed(std::string{unfinished});
    of_.ended();
}

void attempt::begin_transaction(moment from)
{
    asked_ = from;
    open_ = true;
    if (!counted_)
        return;
    ++counts_.attempts;
    ++counts_.at(of_.since_begin(from)).attempted;
    if (of_.use().by_start)
        ++where_it_began().attempted;
}

interval& attempt::where_it_began()
{
    return counts_.by_start_at(of_.since_begin(asked_));
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
        counts_.tcp.record(ns(connected_ - began_));
}

void attempt::failed_to_connect(error_code ec)
{
    stage_ = stage::connect;
    failed(kind_of(stage_, ec, nullptr));
}

void attempt::shaken(tls::handshake_info const& agreed, bool offered)
{
    stage_ = stage::request;
    if (!counted_)
        return;
    (agreed.resumed ? counts_.tls_resumed : counts_.tls).record(ns(clock::now() - connected_));
    ++(agreed.resumed ? counts_.resumed : counts_.full);
    counts_.offered += offered ? 1 : 0;
    if (counts_.early && agreed.early != tls::early_data::not_offered) {
        ++counts_.early->offered;
        ++(agreed.early == tls::early_data::accepted ? counts_.early->accepted
                                                     : counts_.early->rejected);
    }
    counts_.agree(agreed.version, agreed.cipher, agreed.group);
}

void attempt::asks_again()
{
    moment const now = clock::now();
    // The warm-up ends between two requests of a connection too. Where so many are asked for, those
    // of its connections are not among them.
    if (!of_.use().transactions)
        counted_ = of_.counted(now);
    begin_transaction(now);
}

void attempt::asks_when_due(moment intended, moment free)
{
    counted_ = of_.counted(intended);
    began_ = clock::now();
    begin_transaction(intended);
    if (counted_)
        counts_.slip.record(ns(began_ - std::max(intended, free)));
}

void attempt::asking(std::size_t bytes, bool early)
{
    asking_ = early ? connected_ : clock::now();
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
        counts_.first_byte.record(ns(clock::now() - asking_));
}

void attempt::answered()
{
    open_ = false;
    if (!counted_)
        return;
    moment const now = clock::now();
    std::uint64_t const response = ns(now - asked_);
    ++counts_.ok;
    counts_.drained += of_.drains(asked_, now) ? 1U : 0U;
    counts_.response.record(response);
    interval const one{.ok = 1, .response_ns = response, .response_ns_max = response};
    add(counts_.at(of_.since_begin(now)), one);
    if (of_.use().by_start)
        add(where_it_began(), one);
}

void attempt::failed(error_code ec, tls::engine const& engine)
{
    failed(kind_of(stage_, ec, &engine));
}

void attempt::failed(std::string kind)
{
    open_ = false;
    if (!counted_)
        return;
    // What we cut off ourselves tells nothing about the time when it began.
    if (of_.use().by_start && kind != unfinished)
        ++where_it_began().failed;
    moment const now = clock::now();
    ++counts_.failures[{stage_, std::move(kind)}];
    counts_.drained += of_.drains(asked_, now) ? 1U : 0U;
    ++counts_.at(of_.since_begin(now)).failed;
}

} // namespace cleat::bench
