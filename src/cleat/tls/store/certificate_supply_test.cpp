#include <cleat/tls/certificates/certificate.hpp>
#include <cleat/tls/store/certificate_loader.hpp>
#include <cleat/tls/store/certificate_supply.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <latch>
#include <memory>
#include <new>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

namespace cleat::tls::certificate_supply_test {
namespace {

using loaded = std::shared_ptr<certificate const>;
using texts = std::vector<std::string>;

loaded read_good(certificate_load const&)
{
    return std::make_shared<certificate const>();
}

/// One load, whose owner waits for it. It outlives the supply, whose thread may still be in `done`.
struct pending : certificate_load
{
    explicit pending(int wanted = 0)
    {
        files.paths.chain = std::to_string(wanted);
        done = [](certificate_load& self) noexcept {
            pending& me = static_cast<pending&>(self);
            me.thread = std::this_thread::get_id();
            ++me.calls;
            me.is_done.release();
        };
    }
    void wait() { is_done.acquire(); }

    std::counting_semaphore<> is_done{0};
    int calls = 0;
    std::thread::id thread;
};

/// A reader whose every reading begins, and goes on when the test lets it.
struct gate
{
    certificate_supply::reader reader()
    {
        return [this](certificate_load const& wanted) {
            read.push_back(wanted.files.paths.chain);
            begun.release();
            go_on.acquire();
            return read_good(wanted);
        };
    }

    std::counting_semaphore<> begun{0};
    std::counting_semaphore<> go_on{0};
    texts read; // Written by the supply's thread.
};

} // namespace

TEST_CASE("a load is done on the supply's thread, once, with its certificate")
{
    pending load;
    certificate_supply supply{read_good};
    supply.submit(load);
    load.wait();
    CHECK(load.loaded != nullptr);
    CHECK(load.failure.empty());
    CHECK(load.calls == 1);
    CHECK(load.thread != std::this_thread::get_id());
}

TEST_CASE("loads are done in the order of their submission")
{
    gate held;
    std::array<pending, 5> loads;
    {
        certificate_supply supply{held.reader()};
        for (std::size_t i = 0; i < loads.size(); ++i) {
            loads.at(i).files.paths.chain = std::to_string(i);
            supply.submit(loads.at(i));
            if (i == 0)
                held.begun.acquire(); // The others wait behind the first.
        }
        held.go_on.release(loads.size());
        for (pending& each : loads)
            each.wait();
    }
    CHECK(held.read == texts{"0", "1", "2", "3", "4"});
}

TEST_CASE("many threads submit, and each load comes back to its own")
{
    constexpr std::size_t submitters = 4;
    constexpr std::size_t loads_of_each = 250;
    std::vector<pending> loads(submitters * loads_of_each);
    certificate_supply supply{[](certificate_load const& wanted) {
        auto made = std::make_shared<certificate>();
        made->origin = wanted.files.paths.chain;
        return loaded{std::move(made)};
    }};
    std::latch start{submitters};
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < submitters; ++i)
            threads.emplace_back([&, i] {
                start.arrive_and_wait();
                for (std::size_t n = 0; n < loads_of_each; ++n) {
                    pending& load = loads[i * loads_of_each + n];
                    load.files.paths.chain = std::to_string(i * loads_of_each + n);
                    supply.submit(load);
                    load.wait();
                }
            });
    }
    std::size_t good = 0;
    for (std::size_t i = 0; i < loads.size(); ++i)
        good += loads[i].loaded && loads[i].loaded->origin == std::to_string(i) ? 1U : 0U;
    CHECK(good == loads.size());
}

TEST_CASE("a failure says why, what to do, and whether the next try may succeed")
{
    for (bool const passes : {false, true}) {
        pending load;
        certificate_supply supply{[passes](certificate_load const&) -> loaded {
            throw load_error{"cannot read a.pem", "Copy it again.", passes};
        }};
        supply.submit(load);
        load.wait();
        CHECK(load.loaded == nullptr);
        CHECK(load.failure == "cannot read a.pem. Copy it again.");
        CHECK(load.may_pass == passes);
    }
}

TEST_CASE("lack of memory and a bad certificate end one load, and not the supply")
{
    pending no_memory{0};
    pending bad{1};
    pending good{2};
    certificate_supply supply{[](certificate_load const& wanted) {
        if (wanted.files.paths.chain == "0")
            throw std::bad_alloc{};
        if (wanted.files.paths.chain == "1")
            throw spec_error{"a.pem: the file is damaged"};
        return read_good(wanted);
    }};
    for (pending* each : {&no_memory, &bad, &good})
        supply.submit(*each);
    for (pending* each : {&no_memory, &bad, &good})
        each->wait();
    CHECK(no_memory.failure == "out of memory");
    CHECK(no_memory.may_pass);
    CHECK(bad.failure == "a.pem: the file is damaged");
    CHECK_FALSE(bad.may_pass);
    CHECK(good.loaded != nullptr);
}

TEST_CASE("a load that its owner abandons is done without reading")
{
    gate held;
    pending first{0};
    pending second{1};
    certificate_supply supply{held.reader()};
    supply.submit(first);
    held.begun.acquire();
    supply.submit(second);
    second.abandoned = true;
    held.go_on.release();
    second.wait();
    CHECK(second.loaded == nullptr);
    CHECK(held.read == texts{"0"});
    first.wait();
    CHECK(first.loaded != nullptr);
}

TEST_CASE("a supply that ends waits for the file that is being read, and does the loads behind it")
{
    gate held;
    pending first{0};
    pending second{1};
    pending third{2};
    std::optional<certificate_supply> supply{std::in_place, held.reader()};
    supply->submit(first);
    held.begun.acquire();
    supply->submit(second);
    supply->submit(third);
    held.go_on.release(3); // The loads behind the first are read only if that comes before the end.
    supply.reset();
    CHECK(first.loaded != nullptr);
    for (pending const* each : {&first, &second, &third})
        CHECK(each->calls == 1);
}

TEST_CASE("a supply ends at once where nothing is wanted")
{
    certificate_supply const supply{read_good};
}

TEST_CASE("loads that are submitted just before the end are done")
{
    for (int i = 0; i < 200; ++i) {
        std::array<pending, 3> loads;
        {
            certificate_supply supply{read_good};
            for (pending& each : loads)
                supply.submit(each);
        }
        for (pending const& each : loads)
            CHECK(each.calls == 1);
    }
}

TEST_CASE("a supply reads certificates from their files")
{
    backend::library_state const library;
    pending load;
    load.files.paths.chain = "nowhere/site.pem";
    load.folder = "/";
    load.library = &library;
    certificate_supply supply;
    supply.submit(load);
    load.wait();
    CHECK(
        load.failure == "cannot read nowhere/site.pem: No such file or directory. Check the path "
                        "and who may read it.");
}

} // namespace cleat::tls::certificate_supply_test
