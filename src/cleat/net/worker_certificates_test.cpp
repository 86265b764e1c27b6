#include <cleat/net/async_arrival.hpp>
#include <cleat/net/task.hpp>
#include <cleat/net/worker_certificates.hpp>
#include <cleat/tls/certificates/certificate.hpp>
#include <cleat/tls/store/certificate_loader.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <vector>

namespace cleat::net::worker_certificates_test {
namespace {

using tls::certificate_load;
using texts = std::vector<std::string>;
using loaded = tls::certificate_table::loaded;

/// A handshake that waits for a certificate.
struct client
{
    client(
        net::worker& worker, tls::certificate_store const& store,
        tls::certificate_store::number wanted)
        : interrupt{worker}
    {
        request.store = &store;
        request.wanted = wanted;
    }

    detached wait(worker_certificates& certificates)
    {
        outcome = co_await worker_certificates::arrival{certificates, interrupt, request};
        if (at_end != nullptr && --*at_end == 0)
            interrupt.worker().stop();
    }

    net::interrupt interrupt;
    tls::certificate_request request;
    std::optional<error_code> outcome;
    int* at_end = nullptr; // How many clients wait: the last one stops the worker.
};

/// The same, by an operation of Asio's that is cancelled when the interrupt is raised.
struct asio_client : client, waiter
{
    asio_client(
        net::worker& worker, tls::certificate_store const& store,
        tls::certificate_store::number wanted)
        : client{worker, store, wanted}
    {
        wake = [](waiter& w, error_code) noexcept {
            static_cast<asio_client&>(w).cancel.emit(boost::asio::cancellation_type::terminal);
        };
        interrupt.guard(this);
    }

    void wait(worker_certificates& certificates)
    {
        async_arrival(
            certificates, request,
            boost::asio::bind_cancellation_slot(cancel.slot(), [this](error_code ec) {
                outcome = ec;
                if (at_end != nullptr && --*at_end == 0)
                    interrupt.worker().stop();
            }));
    }

    boost::asio::cancellation_signal cancel;
};

/// A worker whose supply reads a file when the test lets it.
struct waiting_fixture
{
    waiting_fixture()
    {
        for (unsigned i = 0; i < 4; ++i) {
            tls::file_digest digest{};
            digest.front() = static_cast<std::byte>(i);
            store.add({.paths = {std::to_string(i), ""}, .summary = {.digest = digest}});
        }
    }

    // The certificate in the table, or null.
    tls::certificate const* in_table(tls::certificate_store::number number)
    {
        return certificates->table().find(store.summary(number).digest);
    }

    loaded read(certificate_load const& wanted)
    {
        was_read.push_back(wanted.files.paths.chain);
        begun.release();
        go_on.acquire();
        if (failure)
            throw tls::load_error{*failure};
        return std::make_shared<tls::certificate const>();
    }

    // Serves until so many of the clients have their outcome.
    void serve(std::initializer_list<client*> clients)
    {
        left = static_cast<int>(clients.size());
        for (client* each : clients)
            each->at_end = &left;
        worker.run();
    }

    // The same, where each begins to wait when the one before has its outcome.
    void serve_in_turn(std::vector<client*> const& clients)
    {
        begin_in_turn(clients);
        worker.run();
    }
    detached begin_in_turn(std::vector<client*> const& clients)
    {
        for (client* each : clients) {
            each->outcome = co_await worker_certificates::arrival{
                *certificates, each->interrupt, each->request};
            if (after_each)
                after_each();
        }
        worker.stop();
    }

    std::counting_semaphore<> begun{0};
    std::counting_semaphore<> go_on{0};
    texts was_read; // Written by the supply's thread.
    std::optional<tls::load_error> failure;
    std::function<void()> after_each; // In serve_in_turn.
    int left = 0;
    tls::certificate_store store{"/"};
    tls::certificate_supply supply{[this](certificate_load const& wanted) { return read(wanted); }};
    net::worker worker;
    std::optional<worker_certificates> certificates{std::in_place, worker, supply, 8U};
};

} // namespace

TEST_CASE_FIXTURE(waiting_fixture, "handshakes that want the same certificate share one load")
{
    client first{worker, store, 3};
    client second{worker, store, 3};
    client third{worker, store, 3};
    for (client* each : {&first, &second, &third}) {
        each->wait(*certificates);
        CHECK_FALSE(each->outcome);
    }
    go_on.release();
    serve({&first, &second, &third});
    CHECK(was_read == texts{"3"});
    for (client* each : {&first, &second, &third}) {
        CHECK(each->outcome == error_code{});
        CHECK(each->request.provided != nullptr);
        CHECK(each->request.provided == first.request.provided);
        CHECK(each->request.refusal.empty());
    }
    CHECK(in_table(3) == first.request.provided.get());
}

TEST_CASE_FIXTURE(waiting_fixture, "each handshake gets the certificate that it wants")
{
    client first{worker, store, 1};
    client second{worker, store, 2};
    first.wait(*certificates);
    second.wait(*certificates);
    go_on.release(2);
    serve({&first, &second});
    CHECK(was_read == texts{"1", "2"});
    CHECK(in_table(1) == first.request.provided.get());
    CHECK(in_table(2) == second.request.provided.get());
}

TEST_CASE("a handshake whose deadline passes leaves the load to the others")
{
    for (std::size_t const leaving : {0U, 1U, 2U}) {
        CAPTURE(leaving);
        waiting_fixture f;
        std::array<client, 3> clients{
            client{f.worker, f.store, 0}, client{f.worker, f.store, 0},
            client{f.worker, f.store, 0}};
        for (client& each : clients)
            each.wait(*f.certificates);
        f.begun.acquire();
        clients.at(leaving).interrupt.raise(error::handshake_timeout);
        CHECK(clients.at(leaving).outcome == error::handshake_timeout);
        f.go_on.release();
        f.serve({&clients.at((leaving + 1) % 3), &clients.at((leaving + 2) % 3)});
        CHECK(clients.at(leaving).request.provided == nullptr);
        CHECK(clients.at((leaving + 1) % 3).request.provided != nullptr);
        CHECK(clients.at((leaving + 2) % 3).request.provided != nullptr);
    }
}

TEST_CASE_FIXTURE(
    waiting_fixture, "a load that nobody waits for any more serves the next handshake")
{
    {
        client first{worker, store, 0};
        first.wait(*certificates);
        first.interrupt.raise(error::handshake_timeout);
        CHECK(first.outcome == error::handshake_timeout);
    }
    client second{worker, store, 0};
    second.wait(*certificates);
    go_on.release();
    serve({&second});
    CHECK(second.request.provided != nullptr);
    CHECK(was_read == texts{"0"});
}

TEST_CASE_FIXTURE(waiting_fixture, "an interrupt that is raised already begins no load")
{
    client late{worker, store, 0};
    late.interrupt.raise(error::handshake_timeout);
    late.wait(*certificates);
    CHECK(late.outcome == error::handshake_timeout);
    CHECK(was_read.empty());
}

TEST_CASE_FIXTURE(waiting_fixture, "a worker may end while its files are read and wait to be read")
{
    {
        client first{worker, store, 0};
        client second{worker, store, 1};
        first.wait(*certificates);
        second.wait(*certificates);
        begun.acquire();
        worker.stop();
        worker.run();
        CHECK(first.outcome == error::stopped);
        CHECK(second.outcome == error::stopped);
    }
    go_on.release(2);
    certificates.reset(); // It waits for the first file.
    CHECK(was_read.front() == "0");
}

TEST_CASE_FIXTURE(waiting_fixture, "a worker may end before it has seen that a file was read")
{
    {
        client first{worker, store, 0};
        first.wait(*certificates);
        go_on.release();
        begun.acquire();
        first.interrupt.raise(error::stopped);
    }
    certificates.reset();
    CHECK(was_read == texts{"0"});
}

TEST_CASE_FIXTURE(
    waiting_fixture, "a failure is given to all that wait, and fills no place in the table")
{
    failure.emplace("cannot read a.pem", "Copy it again.", false);
    client first{worker, store, 0};
    client second{worker, store, 0};
    first.wait(*certificates);
    second.wait(*certificates);
    go_on.release();
    serve({&first, &second});
    for (client* each : {&first, &second}) {
        CHECK(each->outcome == error_code{});
        CHECK(each->request.provided == nullptr);
        CHECK(each->request.refusal == "cannot read a.pem. Copy it again.");
    }
    CHECK(certificates->table().size() == 0);
}

TEST_CASE("a failure is remembered for the next handshake, unless it may pass")
{
    for (bool const passes : {false, true}) {
        CAPTURE(passes);
        waiting_fixture f;
        f.failure.emplace("cannot read a.pem", "Copy it again.", passes);
        f.go_on.release(3);
        client first{f.worker, f.store, 0};
        client second{f.worker, f.store, 0};
        client other{f.worker, f.store, 1};
        f.serve_in_turn({&first, &second, &other});
        for (client* each : {&first, &second, &other})
            CHECK(each->request.refusal == "cannot read a.pem. Copy it again.");
        CHECK(f.was_read == (passes ? texts{"0", "0", "1"} : texts{"0", "1"}));
    }
}

TEST_CASE_FIXTURE(waiting_fixture, "a new configuration tries again what had failed")
{
    failure.emplace("cannot read a.pem", "Copy it again.", false);
    go_on.release(2);
    client first{worker, store, 0};
    client second{worker, store, 0};
    after_each = [&] {
        failure.reset();
        certificates->renew(8);
    };
    serve_in_turn({&first, &second});
    CHECK(first.request.refusal == "cannot read a.pem. Copy it again.");
    CHECK(second.request.provided != nullptr);
    CHECK(was_read == texts{"0", "0"});
}

TEST_CASE_FIXTURE(waiting_fixture, "a certificate serves for another store that has the same one")
{
    go_on.release();
    client first{worker, store, 2};
    serve_in_turn({&first});
    tls::certificate_store next{"/"};
    next.add({.paths = {"moved", ""}, .summary = store.summary(2)});
    CHECK(certificates->table().find(next.summary(0).digest) == first.request.provided.get());
}

TEST_CASE_FIXTURE(waiting_fixture, "an operation of Asio's and a task share a load")
{
    client first{worker, store, 3};
    asio_client second{worker, store, 3};
    asio_client third{worker, store, 3};
    first.wait(*certificates);
    second.wait(*certificates);
    third.wait(*certificates);
    CHECK_FALSE(second.outcome);
    go_on.release();
    serve({&first, &second, &third});
    CHECK(was_read == texts{"3"});
    for (client* each : {&first, static_cast<client*>(&second), static_cast<client*>(&third)}) {
        CHECK(each->outcome == error_code{});
        CHECK(each->request.provided == first.request.provided);
    }
}

TEST_CASE("an operation that is cancelled leaves the load to the others")
{
    for (std::size_t const leaving : {0U, 1U, 2U}) {
        CAPTURE(leaving);
        waiting_fixture f;
        std::array<asio_client, 3> clients{
            asio_client{f.worker, f.store, 0}, asio_client{f.worker, f.store, 0},
            asio_client{f.worker, f.store, 0}};
        for (asio_client& each : clients)
            each.wait(*f.certificates);
        f.begun.acquire();
        clients.at(leaving).interrupt.raise(error::handshake_timeout);
        CHECK_FALSE(clients.at(leaving).outcome); // Its handler is not called from here.
        f.go_on.release();
        f.serve({&clients[0], &clients[1], &clients[2]});
        for (std::size_t i = 0; i < clients.size(); ++i) {
            bool const left = i == leaving;
            CHECK(
                clients.at(i).outcome ==
                (left ? error_code{boost::asio::error::operation_aborted} : error_code{}));
            CHECK((clients.at(i).request.provided == nullptr) == left);
        }
        CHECK(f.was_read == texts{"0"});
    }
}

TEST_CASE_FIXTURE(waiting_fixture, "an operation completes with a failure that is remembered")
{
    failure.emplace("cannot read a.pem", "Copy it again.", false);
    go_on.release();
    asio_client first{worker, store, 0};
    first.at_end = &(left = 2);
    asio_client second{worker, store, 0};
    second.at_end = &left;
    first.wait(*certificates);
    client between{worker, store, 0};
    // The first one's load ends before the second one begins.
    auto const then = [&]() -> detached {
        between.outcome = co_await worker_certificates::arrival{
            *certificates, between.interrupt, between.request};
        second.wait(*certificates);
    };
    then();
    worker.run();
    CHECK(first.outcome == error_code{});
    CHECK(second.outcome == error_code{});
    CHECK(second.request.refusal == "cannot read a.pem. Copy it again.");
    CHECK(was_read == texts{"0"});
}

TEST_CASE_FIXTURE(waiting_fixture, "a worker may end while operations wait")
{
    {
        asio_client first{worker, store, 0};
        asio_client second{worker, store, 1};
        first.wait(*certificates);
        second.wait(*certificates);
        begun.acquire();
        worker.stop();
        worker.run();
        CHECK_FALSE(first.outcome); // Handlers are destroyed, not called.
        CHECK_FALSE(second.outcome);
    }
    go_on.release(2);
    certificates.reset(); // It waits for the first file.
    CHECK(was_read.front() == "0");
}

} // namespace cleat::net::worker_certificates_test
