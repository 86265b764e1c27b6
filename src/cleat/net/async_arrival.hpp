// async_arrival: a handshake's wait for its certificate, as an Asio operation. Not a public header.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/net/executor.hpp>
#include <cleat/net/priority.hpp>
#include <cleat/net/queued_operation.hpp>
#include <cleat/net/worker.hpp>
#include <cleat/net/worker_certificates.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>

#include <new>
#include <type_traits>
#include <utility>

namespace cleat::net {

/// arrival_op is one async_arrival. It lives until its handler is dispatched.
template <class Handler>
class arrival_op : worker_certificates::waiting, task_node
{
public:
    /// start allocates before it moves the handler: where it throws std::bad_alloc, the caller
    /// still has its handler.
    static void start(
        Handler& handler, worker_certificates& certificates, tls::certificate_request& request)
    {
        auto* const op = allocate_operation<arrival_op>(handler);
        new (op) arrival_op{std::move(handler), certificates, request};
        op->begin();
    }

private:
    arrival_op(
        Handler handler, worker_certificates& certificates, tls::certificate_request& request)
        : waiting{certificates, request, &arrival_op::on_settle}, handler_{std::move(handler)}
    {
    }

    void begin() noexcept
    {
        try {
            if (has_failed())
                return complete({});
            auto slot = boost::asio::get_associated_cancellation_slot(handler_);
            if (slot.is_connected())
                slot.assign([this](boost::asio::cancellation_type) {
                    leave();
                    complete(boost::asio::error::operation_aborted);
                });
            join();
        } catch (std::bad_alloc const&) {
            complete(make_error_code(boost::system::errc::not_enough_memory));
        }
    }

    static void on_settle(waiting& w, error_code ec) noexcept
    {
        static_cast<arrival_op&>(w).complete(ec);
    }

    // The handler is queued, not called here: see socket::wait_op.
    void complete(error_code ec) noexcept
    {
        auto slot = boost::asio::get_associated_cancellation_slot(handler_);
        if (slot.is_connected())
            slot.clear();
        ec_ = ec;
        finish = &arrival_op::on_turn;
        worker().push_here(*this, ec ? priority::established : priority::handshake);
    }

    static void on_turn(task_node& node, bool run)
    {
        arrival_op& self = static_cast<arrival_op&>(node);
        end_operation(self, self.handler_, self.worker().get_executor(), self.ec_, run);
    }

    Handler handler_;
    error_code ec_{};
};

/// async_arrival waits until a request has its certificate, or the reason why there is none:
/// void(error_code). Connections that want the same certificate share one load, and go on as
/// handshakes do, in their turn. On the worker's thread; the request lives until the operation
/// completes. It can be cancelled, by any kind of cancellation: asio::error::operation_aborted.
template <class Token>
auto async_arrival(
    worker_certificates& certificates, tls::certificate_request& request, Token&& token)
{
    return boost::asio::async_initiate<Token, void(error_code)>(
        [&certificates, &request](auto&& handler) {
            arrival_op<std::remove_cvref_t<decltype(handler)>>::start(
                handler, certificates, request);
        },
        token);
}

} // namespace cleat::net
