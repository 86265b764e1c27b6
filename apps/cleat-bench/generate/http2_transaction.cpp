#include "generate/attempt.hpp"
#include "generate/client_connection.hpp"
#include "generate/http2_peer.hpp"
#include "generate/http2_requests.hpp"
#include "generate/http2_transaction.hpp"
#include "generate/stream_account.hpp"
#include "generate/worker_turns.hpp"

#include <cleat/net/scratch.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cleat::bench {
namespace {

using clock = std::chrono::steady_clock;

// http2_client is one connection with its streams, and the connections that replace it.
class http2_client
{
public:
    http2_client(worker_load& load, http2_requests requests, alarm* due_alarm)
        : load_{load}
        , spec_{load.spec()}
        , requests_{std::move(requests)}
        , due_alarm_{due_alarm}
        , interrupt_{load.worker()}
        , streams_(load.spec().http2->streams)
    {
    }

    // run ends when no request begins any more and all have ended, or the run is cut off. A
    // connection that is held has no end of its own: it answers the server meanwhile.
    net::task<> run();

private:
    [[nodiscard]] bool is_stopped() const noexcept { return interrupt_.raised() == error::stopped; }
    [[nodiscard]] bool is_done(moment now);
    [[nodiscard]] bool may_connect(moment now) const noexcept;
    [[nodiscard]] std::optional<stream_account> next(moment now);
    [[nodiscard]] bool has_room() const noexcept
    {
        return peer_ && !is_retired_ && peer_->room() != 0;
    }
    void begin_due(moment now);
    void fail_due(moment now, failure const& what);
    net::task<> connect(moment now);
    net::task<> wait(bool is_full);
    [[nodiscard]] bool exchange();
    net::progress send_frames();
    net::progress receive_frames();
    void take_events();
    void on_end(http2_peer::event& one, moment now);
    void note_peer(moment now);
    void cancel_overdue(moment now);
    void lose(error_code ec);
    void end_connection();

    worker_load& load_;
    load_spec const& spec_;
    http2_requests requests_;
    alarm* due_alarm_; // Null: the requests have no rate.
    net::interrupt interrupt_;
    std::optional<attempt> account_; // Of the connection.
    std::optional<client_connection> connection_;
    std::optional<http2_peer> peer_;
    std::vector<std::optional<stream_account>> streams_; // By the peer's number.
    std::deque<stream_account> waiting_; // They have begun, and no connection has them yet.
    std::string end_;                    // Why the last connection has ended.
    moment free_since_{};
    moment heard_{};      // When the server was last heard.
    moment next_check_{}; // No stream is overdue before.
    moment armed_{};      // The alarm is set to it.
    unsigned busy_ = 0;   // Streams with a request.
    unsigned rounds_ = 0;
    bool is_retired_ = false; // No more streams begin on this connection.
    bool is_full_ = false;    // The socket takes no more.
    bool had_room_ = false;
    bool has_failed_ = false; // A request on this connection failed.
    bool has_ended_ = false;  // A request ended since this flag was last read.
    bool is_noted_ = false;   // The streams that the server allows are counted.
    bool is_left_ = false;    // The server's GOAWAY is counted.
};

// A request that has begun before goes first.
std::optional<stream_account> http2_client::next(moment now)
{
    if (waiting_.empty())
        return requests_.begin(now, free_since_);
    std::optional<stream_account> first{std::move(waiting_.front())};
    waiting_.pop_front();
    return first;
}

bool http2_client::may_connect(moment now) const noexcept
{
    std::optional<moment> const due = requests_.next_due();
    bool const is_new = !account_ && !requests_.has_rate();
    return !waiting_.empty() || is_new || (due && *due <= now);
}

// A connection without a rate is replaced by the generator, unless it leaves requests behind.
bool http2_client::is_done(moment now)
{
    if (busy_ != 0 || !waiting_.empty())
        return false;
    if (requests_.is_over())
        return true;
    if (peer_ || requests_.has_rate() || !account_)
        return false;
    if (!spec_.keep && !has_failed_) // It has ended before all of its requests have begun.
        if (std::optional<stream_account> one = requests_.begin(now, free_since_))
            one->failed({stage::request, end_}, now);
    return true;
}

void http2_client::fail_due(moment now, failure const& what)
{
    if (!requests_.has_rate())
        return;
    while (std::optional<stream_account> one = requests_.begin(now, now))
        one->failed(what, now);
}

// begin_due begins the requests that may begin, on the streams that are free.
void http2_client::begin_due(moment now)
{
    if (requests_.ends_on_time() && !load_.is_in_time(now))
        fail_due(now, {stage::start, std::string{connection_busy}});
    if (has_room() && !std::exchange(had_room_, true))
        free_since_ = now;
    while (has_room()) {
        std::optional<stream_account> one = next(now);
        if (!one)
            return;
        one->sent(now);
        if (busy_++ == 0)
            next_check_ = now + spec_.timeouts.answer;
        unsigned const number = peer_->begin(one->path());
        streams_[number].emplace(std::move(*one));
        load_.counts().http2->open_max = std::max(load_.counts().http2->open_max, busy_);
    }
    had_room_ = false;
    if (peer_ && busy_ == 0 && peer_->allowed() == 0U && !peer_->left())
        if (std::optional<stream_account> one = next(now)) {
            one->failed({stage::request, "no stream allowed"}, now);
            has_failed_ = true;
            end_connection();
        }
}

// connect opens a connection for a request that waits for one, if there is such a request.
net::task<> http2_client::connect(moment now)
{
    std::optional<stream_account> first = next(now);
    if (!first)
        co_return;
    if (account_)
        account_->connection_replaced(now);
    else
        account_.emplace(load_, first->intended(), attempt::link{});
    has_failed_ = true; // Until it is there.
    std::size_t early = 0;
    bool const is_there = co_await establish(interrupt_, load_, *account_, connection_, {}, early);
    if (!is_there) {
        first->failed(account_->lost(), clock::now());
        connection_.reset();
        co_return;
    }
    std::string_view const alpn = connection_->channel.engine().info().alpn;
    if (alpn != "h2") {
        first->failed({stage::request, no_http2(alpn)}, clock::now());
        connection_.reset();
        co_return;
    }
    interrupt_.clear();
    peer_.emplace(*spec_.http2, spec_.exchange);
    is_retired_ = is_full_ = had_room_ = is_noted_ = is_left_ = has_failed_ = false;
    heard_ = clock::now();
    end_ = "closed early";
    waiting_.push_front(std::move(*first));
}

net::progress http2_client::send_frames()
{
    return connection_->send(*peer_, [&](std::size_t bytes) {
        if (load_.is_counted(clock::now()))
            load_.counts().bytes_up += bytes;
    });
}

net::progress http2_client::receive_frames()
{
    std::span<std::byte> const block = net::scratch::of_this_thread().plaintext();
    net::progress const p = connection_->receive(block);
    if (p.bytes != 0) {
        heard_ = clock::now();
        if (load_.is_counted(heard_))
            load_.counts().bytes_down += p.bytes;
        peer_->take(block.first(p.bytes));
    }
    return p;
}

void http2_client::on_end(http2_peer::event& one, moment now)
{
    std::optional<stream_account>& account = streams_[one.stream];
    if (!account)
        return;
    --busy_;
    has_ended_ = true;
    std::optional<http2_peer::leave> const& left = peer_->left();
    // Each connection of a server that has served some stream brings the requests forward.
    bool const again = one.is_unprocessed && left->is_graceful && left->has_served &&
                       (spec_.keep || requests_.has_rate());
    if (again) {
        load_.counts().http2->resent += load_.is_counted(now) ? 1U : 0U;
        waiting_.push_back(std::move(*account));
    } else if (one.fault.empty()) {
        account->answered(now);
    } else {
        account->failed({stage::answer, std::move(one.fault)}, now);
        has_failed_ = true;
    }
    account.reset();
}

void http2_client::take_events()
{
    moment const now = clock::now();
    for (http2_peer::event& each : peer_->events()) {
        std::optional<stream_account>& account = streams_[each.stream];
        if (each.what == http2_peer::event::kind::ended)
            on_end(each, now);
        else if (account && each.what == http2_peer::event::kind::came)
            account->came(now);
        else if (account)
            account->went(now);
    }
    peer_->clear_events();
    note_peer(now);
}

// note_peer counts what the server has said about the connection.
void http2_client::note_peer(moment now)
{
    http2_counts& counts = *load_.counts().http2;
    if (std::optional<std::uint32_t> const allowed = peer_->allowed();
        allowed && !std::exchange(is_noted_, true)) {
        ++counts.connections;
        counts.limited += *allowed < counts.streams ? 1U : 0U;
        counts.allowed_min = std::min(counts.allowed_min.value_or(*allowed), *allowed);
    }
    if (peer_->left() && !std::exchange(is_left_, true)) {
        counts.goaways += load_.is_counted(now) ? 1U : 0U;
        end_ = fmt::format("GOAWAY {}", peer_->left()->reason);
    }
}

// lose ends a connection that the server or the network has ended, and its requests with it.
void http2_client::lose(error_code ec)
{
    peer_->end();
    take_events();
    if (!peer_->fault().empty())
        end_ = peer_->fault();
    else if (!peer_->left() || (peer_->left()->is_graceful && busy_ != 0))
        end_ = kind_of(stage::answer, ec, &connection_->channel.engine());
    moment const now = clock::now();
    has_failed_ = has_failed_ || busy_ != 0;
    for (std::optional<stream_account>& each : streams_) {
        if (each)
            each->failed({stage::answer, end_}, now);
        each.reset();
    }
    busy_ = 0;
    free_since_ = now;
    static_cast<void>(connection_->channel.close(connection_->socket.entry()));
    peer_.reset();
    connection_.reset();
}

// end_connection says GOAWAY and close_notify, without waiting for the server's.
void http2_client::end_connection()
{
    peer_->close();
    if (!connection_->channel.unsent())
        static_cast<void>(send_frames());
    static_cast<void>(connection_->channel.close(connection_->socket.entry()));
    if (spec_.end == ending::reset)
        connection_->socket.reset();
    peer_.reset();
    connection_.reset();
}

// cancel_overdue fails requests whose server was silent for too long. A connection on which it said
// nothing at all meanwhile, or takes nothing, gets no more requests.
void http2_client::cancel_overdue(moment now)
{
    if (busy_ == 0 || now < next_check_)
        return;
    next_check_ = moment::max();
    for (unsigned i = 0; i != streams_.size(); ++i) {
        if (!streams_[i])
            continue;
        moment const limit = streams_[i]->heard() + spec_.timeouts.answer;
        if (now < limit) {
            next_check_ = std::min(next_check_, limit);
            continue;
        }
        is_retired_ = is_retired_ || is_full_ || heard_ <= streams_[i]->heard();
        streams_[i]->failed({stage::answer, "timeout"}, now);
        streams_[i].reset();
        peer_->cancel(i);
        --busy_;
        has_failed_ = has_ended_ = true;
    }
}

// exchange sends and receives once. True: there may be more to do without a wait.
bool http2_client::exchange()
{
    is_full_ = false;
    if (peer_->has_to_send() || connection_->channel.unsent()) {
        net::progress const p = send_frames();
        is_full_ = p.next == net::wait::writable;
        if (error_code const ec = connection_->failure_of_send(p)) {
            lose(ec);
            return true;
        }
    }
    net::progress p{.next = net::wait::readable};
    if (connection_->socket.entry().readable() || connection_->channel.unread())
        p = receive_frames();
    take_events();
    if (!peer_->fault().empty() || p.error) {
        lose(p.error);
        return true;
    }
    if (busy_ == 0 && (is_retired_ || peer_->is_used_up())) {
        free_since_ = clock::now();
        end_connection();
        return true;
    }
    return p.bytes != 0 || (peer_->has_to_send() && !is_full_);
}

// wait waits until the server sends, the socket takes more, or a request is due.
net::task<> http2_client::wait(bool is_full)
{
    if (busy_ != 0)
        interrupt_.expires_in(next_look(next_check_ - clock::now()), error::idle_timeout);
    else
        interrupt_.clear();
    net::interest const socket =
        connection_ ? net::interest{&connection_->socket.entry(), true, is_full} : net::interest{};
    net::interest timer;
    std::optional<moment> const due = requests_.next_due();
    if (due && (!connection_ || has_room())) {
        if (std::exchange(armed_, *due) != *due)
            due_alarm_->set(*due);
        timer = due_alarm_->interest();
    }
    static_cast<void>(co_await net::ready{interrupt_, socket, timer});
}

net::task<> http2_client::run()
{
    while (!is_stopped()) {
        moment const now = clock::now();
        begin_due(now);
        if (is_done(now) && !(spec_.hold && peer_))
            break;
        if (!peer_ && may_connect(now)) {
            co_await connect(now);
            continue;
        }
        bool const goes_on = peer_ && exchange();
        bool const is_turn_over = ++rounds_ % rounds_max == 0;
        if (peer_ && (!goes_on || is_turn_over))
            cancel_overdue(clock::now());
        // A request can begin where another has just ended.
        bool const has_ended = std::exchange(has_ended_, false);
        if (goes_on || has_ended || (has_room() && !had_room_)) {
            // A socket that takes more is ready, and has its turn behind the others.
            if (is_turn_over && connection_)
                co_await wait(true);
            continue;
        }
        co_await wait(is_full_ || (peer_ && peer_->has_to_send()));
    }
    if (is_stopped())
        fail_due(clock::now(), {stage::start, std::string{unfinished}});
    if (peer_)
        end_connection();
}

} // namespace

std::string no_http2(std::string_view selected)
{
    return fmt::format(
        "no HTTP/2: the server selected {}", selected.empty() ? "no protocol" : selected);
}

net::detached transact_http2(worker_load& load, moment intended, unsigned requests)
{
    http2_client client{load, http2_requests{load, intended, requests}, nullptr};
    co_await client.run();
}

net::detached keep_requesting_http2(worker_load& load, alarm due_alarm, kept_turn part)
{
    http2_client client{load, http2_requests{load, part}, &due_alarm};
    co_await client.run();
}

} // namespace cleat::bench
