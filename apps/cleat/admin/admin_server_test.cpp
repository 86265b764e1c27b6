// The server over its socket. Its workers do not run, unless a test turns their loop.

#include "admin/admin_server.hpp"
#include "counts/worker_counts.hpp"
#include "liveness/worker_probe.hpp"
#include "process/admin_socket.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <sys/socket.h>

namespace cleat::app::admin_server_test {
namespace {

// A connection to the server.
class client
{
public:
    explicit client(net::address const& where)
        : fd_{::socket(where.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)}
    {
        REQUIRE(::connect(fd_.get(), where.data(), where.size) == 0);
    }

    void send(std::string_view text) const
    {
        REQUIRE(::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL) == std::ssize(text));
    }

    // Until the server closes.
    [[nodiscard]] std::string read_to_end() const
    {
        std::string all;
        std::array<char, 4096> some{};
        for (ssize_t n = 0; (n = ::recv(fd_.get(), some.data(), some.size(), 0)) > 0;)
            all.append(some.data(), static_cast<std::size_t>(n));
        return all;
    }

private:
    unique_fd fd_;
};

struct running_server
{
    explicit running_server(bool is_published = true)
    {
        server.listen(socket.native_handle(), socket.address());
        if (is_published)
            server.publish(std::make_shared<admin_facts>());
    }

    [[nodiscard]] std::string ask(std::string_view method, std::string_view path) const
    {
        client const c{socket.address()};
        c.send(
            std::string{method} + ' ' + std::string{path} +
            " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        return c.read_to_end();
    }

    // The main thread's part: the next command.
    std::unique_ptr<admin_command> wait_for_command()
    {
        came.get_future().wait();
        return server.next_command();
    }

    std::unique_ptr<worker_counts> counts = std::make_unique<worker_counts>();
    std::promise<void> came;
    std::atomic<int> answers{0};
    // The probe outlives the worker, which may have its question still.
    std::unique_ptr<worker_probe> probe;
    std::unique_ptr<net::worker> worker = std::make_unique<net::worker>();
    admin_socket socket = admin_socket::open(host_port{"127.0.0.1", 0}).value();
    admin_server server{make_sources(), [this] { came.set_value(); }};

private:
    std::vector<worker_source> make_sources()
    {
        probe = std::make_unique<worker_probe>(*worker, [this] { ++answers; });
        return {{counts.get(), worker.get(), probe.get()}};
    }
};

bool has_status(std::string const& answer, std::string_view status)
{
    return answer.starts_with("HTTP/1.1 " + std::string{status});
}

} // namespace

TEST_CASE("cleat is not ready before it has facts, nor once it drains")
{
    {
        running_server const early{false};
        CHECK(has_status(early.ask("GET", "/readyz"), "503"));
        CHECK(has_status(early.ask("GET", "/"), "503"));
    }
    running_server r;
    CHECK(has_status(r.ask("GET", "/readyz"), "200"));
    r.server.begin_drain();
    CHECK(has_status(r.ask("GET", "/readyz"), "503"));
    CHECK(r.ask("GET", "/metrics").find("\ncleat_draining 1\n") != std::string::npos);
}

TEST_CASE("a worker that does not answer is unhealthy, and does not keep the metrics back")
{
    running_server r;
    CHECK(has_status(r.ask("GET", "/metrics"), "200"));
    std::string const answer = r.ask("GET", "/healthz");
    CHECK(has_status(answer, "503"));
    CHECK(answer.find("\"silent_workers\": 1") != std::string::npos);
    r.counts->ended = true; // A worker that has ended need not.
    CHECK(has_status(r.ask("GET", "/healthz"), "200"));
}

TEST_CASE("a worker that answers is healthy")
{
    running_server r;
    std::thread loop{[&] { r.worker->run(); }};
    CHECK(has_status(r.ask("GET", "/healthz"), "200"));
    CHECK(has_status(r.ask("GET", "/metrics"), "200"));
    CHECK(r.answers == 2);
    r.worker->stop();
    loop.join();
}

TEST_CASE("a command waits for the main thread's answer")
{
    running_server r;
    std::string answer;
    std::thread asker{[&] { answer = r.ask("POST", "/reload"); }};
    std::unique_ptr<admin_command> const command = r.wait_for_command();
    REQUIRE(command);
    CHECK(command->what == admin_command::kind::reload);
    CHECK(r.server.next_command() == nullptr);
    command->answer({422, "{\"done\": false}\n"});
    asker.join();
    CHECK(has_status(answer, "422"));
    CHECK(answer.ends_with("{\"done\": false}\n"));
}

TEST_CASE("a command that has no answer at the end gets 503")
{
    std::string answer;
    std::thread asker;
    {
        running_server r;
        asker = std::thread{[&answer, where = r.socket.address()] {
            client const c{where};
            c.send("POST /drain HTTP/1.1\r\nHost: localhost\r\n\r\n");
            answer = c.read_to_end();
        }};
        CHECK(r.wait_for_command()->what == admin_command::kind::drain);
    }
    asker.join();
    CHECK(has_status(answer, "503"));
}

TEST_CASE("the end of the server ends connections that wait for a request")
{
    auto r = std::make_unique<running_server>();
    client const silent{r->socket.address()};
    client const half{r->socket.address()};
    half.send("GET / HT");
    CHECK(has_status(r->ask("GET", "/readyz"), "200")); // Both have been accepted before.
    r.reset();
    CHECK(silent.read_to_end().empty());
    CHECK(half.read_to_end().empty());
}

TEST_CASE("a path takes its methods, and an unknown path has the list of all")
{
    running_server const r;
    std::string const wrong = r.ask("GET", "/drain");
    CHECK(has_status(wrong, "405"));
    CHECK(wrong.find("\r\nAllow: POST\r\n") != std::string::npos);
    CHECK(r.ask("DELETE", "/metrics").find("\r\nAllow: GET, HEAD\r\n") != std::string::npos);
    std::string const unknown = r.ask("GET", "/nothing");
    CHECK(has_status(unknown, "404"));
    CHECK(unknown.find("POST /reload") != std::string::npos);
}

TEST_CASE("HEAD has the headers of GET, and no body")
{
    running_server const r;
    std::string const whole = r.ask("GET", "/");
    std::string const head = r.ask("HEAD", "/");
    CHECK(head == whole.substr(0, whole.find("\r\n\r\n") + 4));
}

} // namespace cleat::app::admin_server_test
