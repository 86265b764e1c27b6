#include "preconnect/ready_connections.hpp"
#include "upstream/connecting.hpp"
#include "upstream_tls/client_handshake.hpp"

#include <cleat/core/assert.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/net/scratch.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <string>
#include <utility>

#include <sys/socket.h>

namespace cleat::app {
namespace {

// Why a connection is not ready any more.
enum class idle_end
{
    interrupted, // It was taken, or its time is over.
    closed,
    spoke_first,
};

// The socket has neither unread bytes nor an end.
bool is_quiet(net::socket const& socket) noexcept
{
    if (socket.entry().readable())
        return false;
    std::byte one{};
    ssize_t const found = ::recv(socket.native_handle(), &one, 1, MSG_PEEK | MSG_DONTWAIT);
    return found < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

} // namespace

// One connection. It is a part of the frame of `make`.
class ready_connections::connection
{
public:
    connection(ready_connections& owner, std::size_t server) noexcept
        : owner_{owner}
        , upstream_{owner.upstream_}
        , server_{server}
        , addresses_{&upstream_.addresses(server)}
        , interrupt_{upstream_.worker()}
    {
        addresses_->hold();
        second_first_ =
            addresses_->has_both_families() && upstream_.family(server).prefers_second();
        place& mine = owner.places_[server];
        position_ = mine.address % addresses_->all().size();
        mine.all.push_back(this); // It has room.
    }
    connection(connection&&) = delete;

    ~connection()
    {
        if (is_ready_)
            upstream_.count(server_, server_count::ready_ended);
        if (addresses_ != nullptr) {
            send_close_notify();
            addresses_->release();
        }
        std::erase(owner_.places_[server_].all, this);
        owner_.look();
    }

    // Connects, and makes the handshake of TLS.
    net::task<error_code> establish()
    {
        interrupt_.expires_in(limits::preconnect_timeout, error::connect_timeout);
        result<unique_fd> started =
            upstream_.sources().connect(addresses_->in_order(position_, second_first_));
        if (!started)
            co_return started.error();
        socket_.emplace(upstream_.worker(), std::move(*started));
        error_code const interrupted = co_await net::ready{interrupt_, until_connected(*socket_)};
        if (interrupted)
            co_return interrupted;
        if (error_code const refused = socket_->error())
            co_return refused;
        if (!owner_.is_tls_)
            co_return error_code{};
        upstream_tls& tls = *upstream_.tls();
        tls::session const offered = tls.sessions(server_).take();
        tls_.emplace(tls_upstream{
            std::move(*socket_),
            new_channel(tls, upstream_.plan().servers[server_].tls_name, {}, offered),
            &tls.sessions(server_)});
        socket_.reset();
        error_code const failed = co_await shake_hands(
            interrupt_, tls_->socket, tls_->channel, net::channel::last_flight::at_once);
        if (is_ended()) // The server has not failed.
            co_return failed;
        tls::engine const& engine = tls_->channel.engine();
        error_code const why = failed ? name_fault(failed, engine.failure()) : failed;
        if (upstream_.counts() != nullptr)
            upstream_.counts()->upstream_handshake(why, engine);
        if (why)
            tls.sessions(server_).drop(offered);
        co_return why;
    }

    // Waits until it was taken, its time is over, or the server has sent something or ended.
    net::task<idle_end> stay()
    {
        is_ready_ = true;
        since_ = upstream_.worker().now();
        upstream_.count(server_, server_count::ready_begun);
        interrupt_.expires_in(upstream_.plan().preconnect.time, error::idle_timeout);
        for (;;) {
            net::interest const readable{&socket().entry(), true, false};
            error_code const interrupted = co_await net::ready{interrupt_, readable};
            if (interrupted)
                co_return idle_end::interrupted;
            std::optional<idle_end> const end = look();
            if (end)
                co_return *end;
        }
    }

    [[nodiscard]] std::optional<taken_connection> take() noexcept
    {
        if (!is_ready_ || !is_quiet(socket()))
            return std::nullopt;
        taken_connection taken{
            std::move(socket_), std::move(tls_), std::exchange(addresses_, nullptr), position_,
            second_first_};
        end();
        return taken;
    }

    // The coroutine ends, within the call if it waits; this object is then no more.
    void end() noexcept { interrupt_.raise(error::stopped); }

    // The server has closed it, or spoken, as soon as it was there.
    [[nodiscard]] bool was_short() const noexcept
    {
        return upstream_.worker().now() - since_ < limits::preconnect_pause_min;
    }
    [[nodiscard]] bool is_ended() const noexcept { return interrupt_.raised() == error::stopped; }

private:
    [[nodiscard]] net::socket& socket() noexcept { return tls_ ? tls_->socket : *socket_; }

    // Reads: nothing but sessions of TLS may come before the client's bytes.
    [[nodiscard]] std::optional<idle_end> look() noexcept
    {
        std::size_t bytes = 0;
        error_code ended;
        if (tls_) {
            net::progress const p = tls_->read(
                net::scratch::of_this_thread().plaintext(), limits::record_max,
                tls_->socket.entry().ended());
            bytes = p.bytes;
            ended = p.error;
        } else {
            std::array<std::byte, 1> block{};
            net::io_result const received = socket_->receive(block);
            bytes = received.bytes;
            ended = received.error;
        }
        if (bytes != 0)
            return idle_end::spoke_first;
        return ended ? std::optional{idle_end::closed} : std::nullopt;
    }

    // A server that has broken the connection has no use for it.
    void send_close_notify() noexcept
    {
        error_code broken;
        if (is_ready_ && tls_)
            static_cast<void>(tls_->close_send(broken));
    }

    ready_connections& owner_;
    upstream_servers& upstream_;
    std::size_t server_;
    server_addresses* addresses_; // Null: it was taken.
    std::size_t position_ = 0;
    bool second_first_ = false;
    bool is_ready_ = false;
    std::chrono::steady_clock::time_point since_{};
    net::interrupt interrupt_;
    std::optional<net::socket> socket_;
    std::optional<tls_upstream> tls_;
};

ready_connections::place::place(ready_connections& all_places, std::size_t maximum)
    : deadline{[](deadline& d) noexcept { static_cast<place&>(d).owner.look(); }}, owner{all_places}
{
    all.reserve(maximum);
}

ready_connections::ready_connections(upstream_servers& upstream)
    : upstream_{upstream}
    , is_tls_{upstream.tls() != nullptr && !upstream.plan().preconnect.is_tcp_only}
{
    finish = &ready_connections::on_look;
    for (std::size_t i = 0; i != upstream_.plan().servers.size(); ++i)
        places_.emplace_back(*this, upstream_.plan().preconnect.connections);
    // The first deadline of a duration allocates its queue. That is done here, where it may throw.
    retry_pace pace;
    while (pace.pause() < limits::preconnect_pause_max) {
        pace.failed({});
        upstream_.worker().arm(places_.front(), pace.pause());
    }
    places_.front().cancel();
    look();
}

ready_connections::~ready_connections()
{
    for (place const& each : places_)
        CLEAT_ASSERT(each.all.empty());
}

net::detached ready_connections::make(ready_connections& self, std::size_t server)
{
    try {
        connection one{self, server};
        error_code const failed = co_await one.establish();
        if (one.is_ended())
            co_return;
        if (failed)
            co_return self.failed(server, failed.message());
        self.succeeded(server);
        idle_end const end = co_await one.stay();
        if (end == idle_end::spoke_first)
            self.failed(server, "the server speaks first");
        else if (end == idle_end::closed && one.was_short())
            self.failed(server, "the server closes it at once");
    } catch (std::bad_alloc const&) {
        self.failed(server, "out of memory");
    }
}

void ready_connections::look() noexcept
{
    if (has_ended_ || std::exchange(is_queued_, true))
        return;
    upstream_.worker().push(*this);
}

void ready_connections::on_look(net::task_node& node, bool run) noexcept
{
    ready_connections& self = static_cast<ready_connections&>(node);
    self.is_queued_ = false;
    for (std::size_t i = 0; run && i != self.places_.size(); ++i)
        self.fill(i);
}

std::size_t ready_connections::wanted(std::size_t server) const noexcept
{
    balancer& servers = upstream_.servers();
    bool const serves = servers.state(server) == server_state::serving &&
                        !servers.ejection_of(server).is_out() &&
                        !upstream_.addresses(server).all().empty();
    return has_ended_ || !serves
               ? 0
               : std::min(upstream_.plan().preconnect.connections, servers.room(server));
}

void ready_connections::drop(std::size_t server) noexcept
{
    std::vector<connection*> const& all = places_[server].all;
    for (std::size_t i = all.size(); i-- > 0;)
        all[i]->end();
}

void ready_connections::make_room(std::size_t server) noexcept
{
    std::vector<connection*> const& all = places_[server].all;
    std::size_t const most = wanted(server);
    for (std::size_t i = all.size(); i-- > most;)
        all[i]->end();
}

void ready_connections::fill(std::size_t server) noexcept
{
    make_room(server);
    place& mine = places_[server];
    // After a failure one connection tries.
    std::size_t const all = wanted(server);
    std::size_t const count = mine.pace.is_failing() ? std::min<std::size_t>(all, 1) : all;
    auto const lacks_one = [&] {
        return mine.all.size() < count && !mine.pace.pauses(upstream_.worker().now());
    };
    try {
        for (std::size_t i = 0; i != limits::preconnects_in_turn && lacks_one(); ++i)
            make(*this, server);
    } catch (std::bad_alloc const&) {
        failed(server, "out of memory");
    }
    if (lacks_one())
        look();
}

void ready_connections::failed(std::size_t server, std::string_view why) noexcept
{
    place& mine = places_[server];
    net::worker::clock::time_point const now = upstream_.worker().now();
    if (mine.pace.pauses(now)) // Another one that began with this one.
        return;
    ++mine.address;
    bool const is_first = mine.pace.failed(now);
    upstream_.worker().arm(mine, mine.pace.pause());
    if (is_first)
        log("preconnect-failed", server, why);
}

void ready_connections::succeeded(std::size_t server) noexcept
{
    if (!places_[server].pace.succeeded())
        return;
    log("preconnect-recovered", server, {});
    look();
}

void ready_connections::log(
    std::string_view event, std::size_t server, std::string_view why) noexcept
{
    log_line line = upstream_.log().warning(event);
    line.add("upstream", upstream_.plan().name)
        .add("server", upstream_.plan().servers[server].name);
    if (!why.empty())
        line.add("reason", why);
}

std::optional<taken_connection> ready_connections::take(std::size_t server) noexcept
{
    std::vector<connection*> const& all = places_[server].all;
    for (std::size_t i = all.size(); i-- > 0;)
        if (std::optional<taken_connection> taken = all[i]->take())
            return taken;
    return std::nullopt;
}

void ready_connections::end() noexcept
{
    has_ended_ = true;
    for (std::size_t i = 0; i != places_.size(); ++i) {
        places_[i].cancel();
        make_room(i);
    }
}

} // namespace cleat::app
