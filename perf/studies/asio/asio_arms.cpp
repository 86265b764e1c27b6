// Asio as it is usually written: TLS contexts that all threads share, and either one io_context
// for all threads, with a strand for each stream, or an io_context for each thread, with the
// connections dealt round robin.

#include "measure.hpp"
#include "tls13_suite.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/strand.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace study {
namespace {

namespace ssl = asio::ssl;
using asio::ip::tcp;

// pin lets every arm and every library do the same work. Tickets are off since no client resumes.
void pin(ssl::context& context)
{
    SSL_CTX* const native = context.native_handle();
    if (SSL_CTX_set_min_proto_version(native, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set1_groups_list(native, "X25519") != 1 ||
        !set_tls13_suite(native, "TLS_AES_128_GCM_SHA256"))
        throw std::runtime_error{"this TLS library has no TLS 1.3 as the study wants it"};
    SSL_CTX_set_num_tickets(native, 0);
}

class asio_arm
{
public:
    using stream = ssl::stream<tcp::socket>;

    asio_arm(load const& what, std::size_t loops)
        : what_{what}, server_{ssl::context::tls_server}, client_{ssl::context::tls_client}
    {
        server_.use_certificate_chain_file(what.pem);
        server_.use_private_key_file(what.pem, ssl::context::pem);
        pin(server_);
        pin(client_);
        int const threads_of_each = static_cast<int>(what.threads / loops);
        for (std::size_t i = 0; i < loops; ++i) {
            loops_.push_back(std::make_unique<asio::io_context>(threads_of_each));
            work_.push_back(asio::make_work_guard(*loops_.back()));
        }
        acceptor_ = std::make_unique<tcp::acceptor>(
            *loops_.front(), tcp::endpoint{asio::ip::address_v4::loopback(), 0});
        at_ = acceptor_->local_endpoint();
        asio::co_spawn(*loops_.front(), accept_all(), or_give_up);
        for (std::size_t i = 0; i < what.threads; ++i)
            threads_.emplace_back([&loop = *loops_[i % loops]] { loop.run(); });
    }

    ~asio_arm()
    {
        for (std::unique_ptr<asio::io_context> const& each : loops_)
            each->stop();
        for (std::thread& each : threads_)
            each.join();
    }

    asio_arm(asio_arm&&) = delete;

    // A server's stream and its client's are neighbours, not the same: so two threads have a part
    // each even of one connection.
    asio::any_io_executor executor(std::size_t client) { return place(client + 1); }

    asio::awaitable<stream> connect(std::size_t client)
    {
        stream made{executor(client), client_};
        co_await made.next_layer().async_connect(at_, asio::use_awaitable);
        made.next_layer().set_option(tcp::no_delay{true});
        co_await made.async_handshake(ssl::stream_base::client, asio::use_awaitable);
        co_return made;
    }

    seen const& found() const { return found_; }

private:
    asio::any_io_executor place(std::size_t number)
    {
        if (loops_.size() == 1)
            return asio::make_strand(*loops_.front());
        return loops_[number % loops_.size()]->get_executor();
    }

    asio::awaitable<void> session(tcp::socket accepted)
    {
        stream tls{std::move(accepted), server_};
        co_await tls.async_handshake(ssl::stream_base::server, asio::use_awaitable);
        co_await serve(tls, what_, found_);
    }

    asio::awaitable<void> accept_all()
    {
        for (std::size_t number = 0;; ++number) {
            tcp::socket accepted =
                co_await acceptor_->async_accept(place(number), asio::use_awaitable);
            accepted.set_option(tcp::no_delay{true});
            asio::any_io_executor const where = accepted.get_executor();
            asio::co_spawn(where, session(std::move(accepted)), or_give_up);
        }
    }

    load const& what_;
    seen found_;
    ssl::context server_;
    ssl::context client_;
    std::vector<std::unique_ptr<asio::io_context>> loops_;
    std::vector<asio::executor_work_guard<asio::io_context::executor_type>> work_;
    std::unique_ptr<tcp::acceptor> acceptor_;
    tcp::endpoint at_;
    std::vector<std::thread> threads_;
};

} // namespace

figures run_naive(load const& what)
{
    asio_arm arm{what, 1};
    return measure(arm, what);
}

figures run_per_core(load const& what)
{
    asio_arm arm{what, what.threads};
    return measure(arm, what);
}

} // namespace study
