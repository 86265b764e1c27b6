// A server whose certificates are in a store: read when a client asks for them, and by reloads.

#include <cleat/core/inbox.hpp>
#include <cleat/core/temporary_folder_for_tests.hpp>
#include <cleat/net/server.hpp>
#include <cleat/net/stream.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/engine.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using asio::ip::tcp;

namespace cleat::net::server_store_test {
namespace {

asio::awaitable<void> farewell(connection c)
{
    co_await c.stream.async_shutdown(asio::as_tuple(asio::use_awaitable));
}

/// visit is one client's connection, and what it saw.
struct visit
{
    visit(
        server const& target, std::string const& name,
        tls::protocol_version version = tls::protocol_version::tls_1_3)
    {
        tls::context_spec spec;
        spec.role = tls::role::client;
        spec.server_name = name;
        spec.version_max = version;
        tls::context context{spec};
        asio::io_context io{1};
        stream<tcp::socket> client{tcp::socket{io}, context};
        client.next_layer().connect(
            {asio::ip::address_v4::loopback(), static_cast<unsigned short>(target.port())}, error);
        if (!error)
            client.handshake(tls::role::client, error);
        if (error)
            return;
        shown = client.engine().peer_common_name();
        error_code ignored;
        client.shutdown(ignored);
    }

    error_code error;
    std::string shown; ///< The certificate's common name.
};

std::string shown_by(server const& target, std::string const& name)
{
    return visit{target, name}.shown;
}

/// failures is those that a server has reported, from all of its workers.
class failures
{
public:
    void add(connection_failure const& failed)
    {
        auto* const added = new entry{failed.error, std::string{failed.reason}, nullptr};
        all_.push(*added);
    }

    /// take waits for one, in any order.
    std::pair<error_code, std::string> take()
    {
        while (taken_ == nullptr) {
            std::this_thread::yield();
            taken_ = all_.take();
        }
        std::unique_ptr<entry> const first{std::exchange(taken_, taken_->next)};
        return {first->error, first->reason};
    }

    ~failures()
    {
        for (entry* each = all_.take(); each != nullptr;)
            delete std::exchange(each, each->next);
        while (taken_ != nullptr)
            delete std::exchange(taken_, taken_->next);
    }

private:
    struct entry
    {
        error_code error;
        std::string reason;
        entry* next;
    };

    inbox<entry, &entry::next> all_;
    entry* taken_ = nullptr;
};

/// A folder of certificates: "one" in one.pem is for one.test.
struct sites
{
    void put(
        std::string const& name, std::string const& shown = {},
        tls::key_type type = tls::key_type::ecdsa_p256) const
    {
        tls::test_identity const made = tls::make_identity(
            {.type = type, .names = {name + ".test"}, .common_name = shown.empty() ? name : shown});
        folder.replace(name + ".pem", made.certificate_pem + made.key_pem);
    }

    // put_many names them by numbers.
    void put_many(int first, int count) const
    {
        for (int i = 0; i < count; ++i)
            put(std::to_string(first + i));
    }

    [[nodiscard]] tls::context_spec settings() const
    {
        tls::context_spec spec;
        spec.certificate_store = {.folders = {{.path = folder.path()}}, .cache = cache};
        return spec;
    }

    [[nodiscard]] server_spec spec(std::size_t workers)
    {
        server_spec made;
        made.tls = settings();
        made.workers = workers;
        made.pin = false;
        made.on_failure = [this](connection_failure const& failed) { failed_here.add(failed); };
        return made;
    }

    void remove(std::string const& name) const
    {
        REQUIRE(std::filesystem::remove(folder.path() / (name + ".pem")));
    }

    temporary_folder folder;
    std::size_t cache = 100;
    failures failed_here;
};

} // namespace

TEST_CASE_FIXTURE(sites, "a thousand certificates are each read when a client asks for one")
{
    constexpr int count = 1000;
    put_many(1000, count);
    cache = 8;
    server one{spec(2), farewell};
    for (tls::protocol_version const version :
         {tls::protocol_version::tls_1_2, tls::protocol_version::tls_1_3})
        for (int i = 0; i < count; i += 37) {
            std::string const name = std::to_string(1000 + i);
            visit const seen{one, name + ".test", version};
            CHECK_FALSE(seen.error);
            CHECK(seen.shown == name);
        }
    CHECK(shown_by(one, "unknown.test") == "1000"); // The first file's.
    // More often than there is room for.
    for (int round = 0; round < 3; ++round)
        for (int i = 0; i < 20; ++i)
            CHECK(shown_by(one, std::to_string(1500 + i) + ".test") == std::to_string(1500 + i));

    remove("1999"); // No client has asked for it.
    visit const late{one, "1999.test"};
    CHECK(late.error == error::peer_alert);
    auto const [error, reason] = failed_here.take();
    CHECK(error == cleat::error::certificate_unavailable);
    CHECK(reason.starts_with("cannot read " + (folder.path() / "1999.pem").string() + ": "));
}

TEST_CASE_FIXTURE(sites, "clients that ask for the same certificate at once all get it")
{
    for (char const* name : {"a", "b", "c"})
        put(name);
    server one{spec(2), farewell};
    std::vector<std::future<std::string>> asking;
    for (int i = 0; i < 30; ++i)
        asking.push_back(std::async(std::launch::async, [&one, i] {
            return shown_by(one, i % 3 == 0 ? "b.test" : "c.test");
        }));
    for (int i = 0; i < 30; ++i)
        CHECK(asking[static_cast<std::size_t>(i)].get() == (i % 3 == 0 ? "b" : "c"));
}

TEST_CASE_FIXTURE(sites, "an unknown name is refused where it is to be")
{
    put("a");
    put("b");
    server_spec strict = spec(1);
    strict.tls.refuse_unknown_names = true;
    server one{std::move(strict), farewell};
    CHECK(shown_by(one, "b.test") == "b");
    CHECK(visit{one, "c.test"}.error == error::peer_alert);
    CHECK(failed_here.take().first == error::unknown_name);
}

TEST_CASE_FIXTURE(sites, "a file that cannot be used stops a start, and is named")
{
    put("a");
    folder.write("b.pem", "not a certificate");
    CHECK_THROWS_WITH_AS(
        (server{spec(2), farewell}), doctest::Contains("b.pem: "), tls::spec_error);
    server_spec empty = spec(1);
    empty.tls.certificate_store = tls::certificate_store_spec{};
    CHECK_THROWS_AS((server{empty, farewell}), tls::spec_error);
    server_spec both = spec(1);
    both.tls.certificates.push_back(tls::make_identity({.names = {"c.test"}}).source("c"));
    CHECK_THROWS_AS((server{both, farewell}), tls::spec_error);
    remove("b");
    server_spec odd = spec(1);
    odd.tls.groups = "no such group";
    CHECK_THROWS_AS((server{odd, farewell}), tls::spec_error);
    server one{spec(1), farewell};
    CHECK(shown_by(one, "a.test") == "a");
}

TEST_CASE_FIXTURE(sites, "a reload serves what has changed, and keeps what is loaded")
{
    for (char const* name : {"a", "b", "c", "d"})
        put(name);
    server one{spec(1), farewell};
    for (char const* name : {"b", "c"})
        CHECK(shown_by(one, std::string{name} + ".test") == name);
    put("c", "c renewed");
    put("e");
    remove("d");
    one.reload(settings());
    CHECK(shown_by(one, "c.test") == "c renewed");
    CHECK(shown_by(one, "e.test") == "e");
    CHECK(shown_by(one, "d.test") == "a");
    remove("b"); // The worker need not read it again.
    CHECK(shown_by(one, "b.test") == "b");

    put("b", "b again");
    put("c", "c with RSA", tls::key_type::rsa); // A new type of key: contexts are made anew.
    one.reload(settings());
    CHECK(shown_by(one, "c.test") == "c with RSA");
    CHECK(shown_by(one, "b.test") == "b again");
    put("a", "a renewed"); // The default certificate is in the contexts.
    one.reload(settings());
    CHECK(shown_by(one, "a.test") == "a renewed");
    CHECK(shown_by(one, "c.test") == "c with RSA");
}

TEST_CASE_FIXTURE(sites, "a certificate that no worker has loaded is served as its file has it")
{
    put("a");
    put("b");
    put("c");
    server one{spec(2), farewell};
    std::string const file = folder.path() / "b.pem";
    std::filesystem::rename(file, file + ".kept");
    put("b", "b renewed");
    CHECK(shown_by(one, "b.test") == "b renewed");
    std::filesystem::rename(file + ".kept", file); // It is withdrawn, and no worker has kept it.
    one.reload(settings());
    CHECK(shown_by(one, "b.test") == "b");
    put("c", "c with RSA", tls::key_type::rsa); // Only a reload can offer that to clients.
    CHECK(visit{one, "c.test"}.error == error::peer_alert);
    CHECK(failed_here.take().second.find("has changed") != std::string::npos);
    one.reload(settings());
    CHECK(shown_by(one, "c.test") == "c with RSA");
}

TEST_CASE_FIXTURE(sites, "a reload with a broken file changes nothing, unless it is to be skipped")
{
    put("a");
    put("b");
    put("c");
    server one{spec(2), farewell};
    put("b", "b renewed");
    folder.write("c.pem", "not a certificate");
    CHECK_THROWS_WITH_AS(one.reload(settings()), doctest::Contains("c.pem: "), tls::spec_error);
    CHECK(visit{one, "c.test"}.error == error::peer_alert);
    CHECK(shown_by(one, "b.test") == "b renewed"); // Its old file has gone.

    std::vector<std::string> warnings;
    tls::context_spec lenient = settings();
    lenient.certificate_store->skip_broken = true;
    lenient.certificate_store->on_warning = [&](std::string_view finding) {
        warnings.emplace_back(finding);
    };
    one.reload(lenient);
    REQUIRE(warnings.size() == 1);
    CHECK(warnings.front().find("c.pem: ") != std::string::npos);
    CHECK(shown_by(one, "b.test") == "b renewed");
}

TEST_CASE_FIXTURE(sites, "a server may change between a store and certificates of its settings")
{
    put("a");
    put("b");
    tls::test_identity const other =
        tls::make_identity({.names = {"b.test"}, .common_name = "in memory"});
    tls::context_spec in_memory;
    in_memory.certificates.push_back(other.source("other"));

    server_spec first = spec(2);
    first.tls = in_memory;
    server one{std::move(first), farewell};
    CHECK(shown_by(one, "b.test") == "in memory");
    for (int round = 0; round < 3; ++round) {
        one.reload(settings());
        for (int i = 0; i < 5; ++i)
            CHECK(shown_by(one, "b.test") == "b");
        one.reload(in_memory);
        for (int i = 0; i < 5; ++i)
            CHECK(shown_by(one, "b.test") == "in memory");
    }
}

TEST_CASE_FIXTURE(sites, "reloads disturb no handshake that waits for a certificate")
{
    constexpr int count = 40;
    put_many(100, count);
    cache = 2;
    server one{spec(2), farewell};
    std::atomic<bool> done{false};
    std::atomic<int> visits{0};
    std::atomic<int> wrong{0};
    std::vector<std::thread> clients;
    for (int start = 0; start < 3; ++start)
        clients.emplace_back([&, start] {
            for (int i = start; !done; i = (i + 7) % count) {
                std::string const name = std::to_string(100 + i);
                std::string const shown = shown_by(one, name + ".test");
                if (shown != name && (i != 1 || shown != "renewed"))
                    ++wrong;
                ++visits;
                visits.notify_one();
            }
        });
    put("101", "renewed");
    // Each reload has handshakes before it and beside it, however few a slow machine makes.
    for (int i = 0; i < 10; ++i) {
        put("new" + std::to_string(i));
        one.reload(settings());
        for (int seen = visits; seen < 20 * (i + 1); seen = visits)
            visits.wait(seen);
    }
    done = true;
    for (std::thread& each : clients)
        each.join();
    CHECK(wrong == 0);
}

TEST_CASE_FIXTURE(sites, "two reloads at the same time leave one store on all workers")
{
    put("a");
    put("b");
    server one{spec(3), farewell};
    tls::context_spec named = settings();
    named.certificate_store->folders.front().glob = "a.pem"; // Without b.
    for (int round = 0; round < 5; ++round) {
        std::future<void> other = std::async(std::launch::async, [&] { one.reload(settings()); });
        one.reload(named);
        other.get();
        std::string const shown = shown_by(one, "b.test");
        for (int i = 0; i < 10; ++i)
            CHECK(shown_by(one, "b.test") == shown);
    }
}

TEST_CASE_FIXTURE(sites, "a server may end while certificates are read")
{
    constexpr int count = 30;
    put_many(100, count);
    cache = 1;
    for (int round = 0; round < 5; ++round) {
        std::optional<server> one{std::in_place, spec(2), farewell};
        std::atomic<int> begun{0};
        std::vector<std::thread> clients;
        for (int i = 0; i < 4; ++i)
            clients.emplace_back([&, i] {
                for (int k = i; k < count; k += 4) {
                    ++begun;
                    visit const seen{*one, std::to_string(100 + k) + ".test"};
                    if (seen.error)
                        return;
                    CHECK(seen.shown == std::to_string(100 + k));
                }
            });
        while (begun < 4 + round)
            std::this_thread::yield();
        one->stop();
        for (std::thread& each : clients)
            each.join();
        one.reset();
    }
}

} // namespace cleat::net::server_store_test
