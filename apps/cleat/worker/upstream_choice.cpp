#include "worker/upstream_choice.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <poll.h>

namespace cleat::app {
namespace {

// The connect failed here, for want of room in the server's backlog, or because the server does not
// have the protocol of this one client: it serves. Or the connection has left the server's line.
bool says_nothing(error_code why) noexcept
{
    using namespace boost::system::errc;
    constexpr std::array innocent{too_many_files_open,
                                  too_many_files_open_in_system,
                                  not_enough_memory,
                                  no_buffer_space,
                                  address_not_available, // Of the source.
                                  resource_unavailable_try_again};
    return why == error::local_ports_used_up || why == error::alpn_mismatch ||
           why == error::no_server ||
           std::ranges::any_of(innocent, [&](errc_t each) { return why == each; });
}

} // namespace

upstream_choice::~upstream_choice()
{
    leave_server();
}

// Before another server is chosen, or at the connection's end.
void upstream_choice::leave_server() noexcept
{
    if (addresses_ == nullptr)
        return;
    std::exchange(addresses_, nullptr)->release();
    if (std::exchange(is_connected_, false)) {
        upstream_.count(server_, server_count::closed);
        upstream_.ports().try_again(); // Not after an attempt: the first there makes attempts.
    }
    if (std::exchange(has_failed_, false))
        upstream_.server_failed(server_, is_trial_);
    balancer& servers = upstream_.servers();
    if (std::exchange(waits_, false)) {
        upstream_.count(server_, server_count::waited);
        return servers.gave_up(server_);
    }
    if (std::exchange(is_trial_, false))
        servers.ejection_of(server_).ended();
    servers.ended(server_);
    upstream_.line(server_).try_again();
}

void upstream_choice::enter_server() noexcept
{
    balancer& servers = upstream_.servers();
    waits_ = servers.is_full(server_);
    if (waits_) {
        upstream_.count(server_, server_count::queued);
        return servers.waits(server_);
    }
    servers.began(server_);
    upstream_.line(server_).on_use(upstream_.ready());
    is_trial_ = servers.ejection_of(server_).began();
}

bool upstream_choice::look_at_client() noexcept
{
    pollfd state{client_socket_, 0, 0};
    client_has_left_ = client_socket_ >= 0 && ::poll(&state, 1, 0) > 0 &&
                       (state.revents & (POLLERR | POLLHUP)) != 0;
    return client_has_left_;
}

bool upstream_choice::leaves_line() const noexcept
{
    server_state const state = upstream_.servers().state(server_);
    return state == server_state::drained ||
           (state == server_state::down && upstream_.servers().left(tried_) != 0);
}

bool upstream_choice::admit() noexcept
{
    if (!upstream_.servers().admit(server_))
        return false;
    waits_ = false;
    upstream_.line(server_).on_use(upstream_.ready());
    upstream_.count(server_, server_count::waited);
    is_trial_ = upstream_.servers().ejection_of(server_).began();
    return true;
}

net::address const* upstream_choice::next()
{
    while (addresses_ == nullptr || address_ >= addresses_->all().size()) {
        leave_server();
        if (is_behind())
            return nullptr;
        std::optional<std::size_t> const chosen =
            upstream_.servers().choose(upstream_.worker().now(), client_, tried_);
        if (!chosen)
            return nullptr;
        server_ = static_cast<std::uint32_t>(*chosen);
        tried_.insert(server_);
        address_ = 0;
        addresses_ = &upstream_.addresses(server_);
        addresses_->hold();
        leading_ = addresses_->leading();
        prefers_second_family_ = addresses_->has_both_families() &&
                                 upstream_.family(server_).second_first(upstream_.worker().now());
        enter_server();
    }
    return &addresses_->in_order(address_++, prefers_second_family_, leading_);
}

net::address const* upstream_choice::rival() const noexcept
{
    if (!addresses_->has_both_families() || address_ >= addresses_->all().size())
        return nullptr;
    net::address const& following =
        addresses_->in_order(address_, prefers_second_family_, leading_);
    return following.family() == address().family() ? nullptr : &following;
}

std::size_t upstream_choice::others() const noexcept
{
    std::size_t const rest = addresses_ != nullptr ? addresses_->all().size() - address_ : 0;
    return rest + upstream_.servers().left(tried_);
}

void upstream_choice::failed(error_code why)
{
    if (std::exchange(has_taken_, false)) {
        skips_ready_ = true;
        address_ = 0;
        leading_ = addresses_->leading();
        return;
    }
    has_failed_ = has_failed_ || !says_nothing(why);
    if (why != error::local_ports_used_up)
        return;
    without_port_.insert(server_);
    if (!is_first_) // Or it has been counted before.
        upstream_.ports_used_up(server_);
}

result<net::socket> upstream_choice::start()
{
    if (upstream_.ready() != nullptr && !upstream_.ready()->are_of_tls())
        if (std::optional<taken_connection> taken = take_ready())
            return std::move(*taken->socket);
    return connect_to(address());
}

result<net::socket> upstream_choice::start_rival()
{
    return connect_to(*rival());
}

result<net::socket> upstream_choice::connect_to(net::address const& place)
{
    result<unique_fd> made = upstream_.sources().connect(place);
    if (!made)
        return made.error();
    return net::socket{upstream_.worker(), std::move(*made)};
}

std::optional<tls_upstream> upstream_choice::take_tls()
{
    if (upstream_.ready() == nullptr || !upstream_.ready()->are_of_tls() || waits_)
        return std::nullopt;
    std::optional<taken_connection> taken = take_ready();
    return taken ? std::move(taken->tls) : std::nullopt;
}

std::optional<taken_connection> upstream_choice::take_ready()
{
    if (skips_ready_)
        return std::nullopt;
    std::optional<taken_connection> taken = upstream_.ready()->take(server_);
    upstream_.count(server_, taken ? server_count::ready_taken : server_count::ready_missed);
    if (!taken) {
        upstream_.ready()->make_room(server_);
        return taken;
    }
    addresses_->release();
    addresses_ = taken->addresses;
    address_ = static_cast<std::uint32_t>(taken->position) + 1;
    prefers_second_family_ = taken->second_first;
    leading_ = first_of_families;
    has_taken_ = true;
    return taken;
}

result<net::socket> upstream_choice::start_again()
{
    leave_server();
    tried_ = tried_.without(std::exchange(without_port_, {}));
    is_first_ = true;
    result<net::socket> started = make_error_code(error::local_ports_used_up);
    while (next() != nullptr) {
        if (waits_) { // Its line is not the one that this connection is in.
            without_port_.insert(server_);
            pass_over();
            continue;
        }
        started = start();
        if (started)
            break;
        failed(started.error());
    }
    is_first_ = false;
    return started;
}

void upstream_choice::answered()
{
    has_failed_ = false; // At another of its addresses.
    if (!has_taken_)
        addresses_->answered(address_ - 1, prefers_second_family_, leading_);
    if (addresses_->has_both_families() && !has_taken_)
        upstream_.family(server_).answered(
            upstream_.worker().now(), addresses_->is_of_second(address()), prefers_second_family_);
    is_connected_ = true;
    upstream_.count(server_, server_count::opened);
    upstream_.server_answered(server_);
    if (std::exchange(is_trial_, false))
        upstream_.servers().ejection_of(server_).ended();
}

std::string const& upstream_choice::name() const noexcept
{
    return tried_.size() == 0 ? upstream_.plan().name : server().name;
}

} // namespace cleat::app
