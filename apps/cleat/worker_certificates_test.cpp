#include "worker_certificates.hpp"

#include <cleat/net/task.hpp>
#include <cleat/tls/certificates/certificate.hpp>
#include <cleat/tls/store/certificate_loader.hpp>

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <vector>

namespace cleat::app::worker_certificates_test {
namespace {

using tls::certificate_load;
using numbers = std::vector<tls::certificate_store::number>;
using loaded = tls::certificate_table::loaded;

/// A handshake that waits for a certificate.
struct client
{
    client(net::worker& worker, tls::certificate_store::number wanted) : interrupt{worker}
    {
        request.wanted = wanted;
    }

    net::detached wait(worker_certificates& certificates)
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

/// A worker whose supply reads a file when the test lets it.
struct waiting_fixture
{
    loaded read(certificate_load const& wanted)
    {
        was_read.push_back(wanted.number);
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
    net::detached begin_in_turn(std::vector<client*> const& clients)
    {
        for (client* each : clients)
            each->outcome = co_await worker_certificates::arrival{
                *certificates, each->interrupt, each->request};
        worker.stop();
    }

    std::counting_semaphore<> begun{0};
    std::counting_semaphore<> go_on{0};
    numbers was_read; // Written by the supply's thread.
    std::optional<tls::load_error> failure;
    int left = 0;
    tls::certificate_store store{"/"};
    tls::certificate_supply supply{[this](certificate_load const& wanted) { return read(wanted); }};
    net::worker worker;
    std::optional<worker_certificates> certificates{std::in_place, worker, supply, store, 8U};
};

} // namespace

TEST_CASE_FIXTURE(waiting_fixture, "handshakes that want the same certificate share one load")
{
    client first{worker, 3};
    client second{worker, 3};
    client third{worker, 3};
    for (client* each : {&first, &second, &third}) {
        each->wait(*certificates);
        CHECK_FALSE(each->outcome);
    }
    go_on.release();
    serve({&first, &second, &third});
    CHECK(was_read == numbers{3});
    for (client* each : {&first, &second, &third}) {
        CHECK(each->outcome == error_code{});
        CHECK(each->request.provided != nullptr);
        CHECK(each->request.provided == first.request.provided);
        CHECK(each->request.refusal.empty());
    }
    CHECK(certificates->table().find(3) == first.request.provided.get());
}

TEST_CASE_FIXTURE(waiting_fixture, "each handshake gets the certificate that it wants")
{
    client first{worker, 1};
    client second{worker, 2};
    first.wait(*certificates);
    second.wait(*certificates);
    go_on.release(2);
    serve({&first, &second});
    CHECK(was_read == numbers{1, 2});
    CHECK(certificates->table().find(1) == first.request.provided.get());
    CHECK(certificates->table().find(2) == second.request.provided.get());
}

TEST_CASE("a handshake whose deadline passes leaves the load to the others")
{
    for (std::size_t const leaving : {0U, 1U, 2U}) {
        CAPTURE(leaving);
        waiting_fixture f;
        std::array<client, 3> clients{
            client{f.worker, 0}, client{f.worker, 0}, client{f.worker, 0}};
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
        client first{worker, 0};
        first.wait(*certificates);
        first.interrupt.raise(error::handshake_timeout);
        CHECK(first.outcome == error::handshake_timeout);
    }
    client second{worker, 0};
    second.wait(*certificates);
    go_on.release();
    serve({&second});
    CHECK(second.request.provided != nullptr);
    CHECK(was_read == numbers{0});
}

TEST_CASE_FIXTURE(waiting_fixture, "an interrupt that is raised already begins no load")
{
    client late{worker, 0};
    late.interrupt.raise(error::handshake_timeout);
    late.wait(*certificates);
    CHECK(late.outcome == error::handshake_timeout);
    CHECK(was_read.empty());
}

TEST_CASE_FIXTURE(waiting_fixture, "a worker may end while its files are read and wait to be read")
{
    {
        client first{worker, 0};
        client second{worker, 1};
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
    CHECK(was_read.front() == 0);
}

TEST_CASE_FIXTURE(waiting_fixture, "a worker may end before it has seen that a file was read")
{
    {
        client first{worker, 0};
        first.wait(*certificates);
        go_on.release();
        begun.acquire();
        first.interrupt.raise(error::stopped);
    }
    certificates.reset();
    CHECK(was_read == numbers{0});
}

TEST_CASE_FIXTURE(
    waiting_fixture, "a failure is given to all that wait, and fills no place in the table")
{
    failure.emplace("cannot read a.pem", "Copy it again.", false);
    client first{worker, 0};
    client second{worker, 0};
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
        client first{f.worker, 0};
        client second{f.worker, 0};
        client other{f.worker, 1};
        f.serve_in_turn({&first, &second, &other});
        for (client* each : {&first, &second, &other})
            CHECK(each->request.refusal == "cannot read a.pem. Copy it again.");
        CHECK(f.was_read == (passes ? numbers{0, 0, 1} : numbers{0, 1}));
    }
}

} // namespace cleat::app::worker_certificates_test
