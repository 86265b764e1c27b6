// The thread runs one io_context. Everything in `state` but the posted commands and the flags
// belongs to it; the main thread posts.

#include "admin/accept_header.hpp"
#include "admin/admin_pages.hpp"
#include "admin/admin_server.hpp"
#include "admin/exposition.hpp"
#include "admin/http_session.hpp"
#include "admin/status_json.hpp"
#include "live_page/live_page.hpp"
#include "system/low_priority.hpp"
#include "system/mailbox.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/core/unique_fd.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <exception>
#include <list>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>

namespace cleat::app {
namespace {

namespace asio = boost::asio;

unique_fd copy_of(int fd)
{
    unique_fd copy{::fcntl(fd, F_DUPFD_CLOEXEC, 0)};
    if (!copy)
        throw std::system_error{errno, std::system_category(), "fcntl"};
    return copy;
}

using listening_socket = asio::posix::stream_descriptor;

// An answer that the main thread gives to a command, and the session that waits for it.
struct pending_command
{
    explicit pending_command(asio::io_context& io)
        : arrival{io, asio::steady_timer::time_point::max()}
    {
    }

    asio::steady_timer arrival; // Cancelled when the answer is there.
    std::optional<admin_answer> answer;
};

http_answer json_answer(unsigned status, std::string body)
{
    return {.status = status, .content_type = "application/json", .body = std::move(body)};
}

http_answer text_answer(unsigned status, std::string body)
{
    return {.status = status, .content_type = "text/plain; charset=utf-8", .body = std::move(body)};
}

http_answer page_answer()
{
    live_page page = make_live_page();
    return {
        .status = 200,
        .content_type = "text/html; charset=utf-8",
        .body = std::move(page.html),
        .policy = std::move(page.policy)};
}

http_answer wrong_method_answer(admin_path const& path)
{
    std::string_view const allowed = path.is_command ? "POST" : "GET, HEAD";
    http_answer refused =
        json_answer(405, problem_json(fmt::format("{} takes {}", path.path, allowed)));
    refused.allow = allowed;
    return refused;
}

using level_choice = std::optional<log_level>;

struct wanted_level
{
    bool is_known = false;
    level_choice level{}; // Unset: that of the configuration.
};

constexpr std::string_view log_level_usage =
    "say which level: POST /log-level?level=0, 1, 2 or configured, which is log-level of the "
    "configuration";

wanted_level level_for(std::string_view text)
{
    if (text == "configured")
        return {.is_known = true};
    if (text == "0" || text == "1" || text == "2")
        return {.is_known = true, .level = log_level_of(text.front() - '0')};
    return {};
}

http_answer wrong_query_answer(std::string_view problem)
{
    return json_answer(400, problem_json(problem));
}

// Null where the query does not say what it should.
std::unique_ptr<admin_command> command_for(admin_page page, std::string_view target)
{
    auto made = std::make_unique<admin_command>();
    if (page == admin_page::drain) {
        made->what = admin_command::kind::drain;
    } else if (page == admin_page::log_level) {
        wanted_level const wanted = level_for(value_in(target, "level"));
        if (!wanted.is_known)
            return nullptr;
        made->what = admin_command::kind::log_level;
        made->level = wanted.level;
    } else if (page == admin_page::server) {
        std::optional<server_order> order = server_order_in(target);
        if (!order)
            return nullptr;
        made->what = admin_command::kind::server;
        made->order = *std::move(order);
    }
    return made;
}

// Answers 503. It does not wait, and allocates nothing.
void refuse_session(int fd) noexcept
{
    constexpr std::string_view text = "HTTP/1.1 503 Service Unavailable\r\n"
                                      "Content-Type: application/json\r\n"
                                      "Content-Length: 34\r\n"
                                      "Connection: close\r\n\r\n"
                                      "{\"error\": \"too many connections\"}\n";
    static_cast<void>(!::send(fd, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
    // Unread bytes would make the close a reset, which can destroy the answer.
    static_cast<void>(::shutdown(fd, SHUT_WR));
    std::array<char, 4096> unread{};
    static_cast<void>(!::recv(fd, unread.data(), unread.size(), MSG_DONTWAIT));
}

} // namespace

struct admin_server::state
{
    state(std::vector<worker_source> sources, std::function<void()> on_command)
        : workers{std::move(sources)}, wake{std::move(on_command)}
    {
    }

    void run() noexcept
    {
        static_cast<void>(::pthread_setname_np(::pthread_self(), "admin"));
        lower_priority();
        for (;;) {
            try {
                io.run();
                return;
            } catch (std::bad_alloc const&) { // One connection ends.
            }
        }
    }

    void listen(std::shared_ptr<listening_socket> socket, net::address const& where)
    {
        stop_listening();
        address = where;
        listening = std::move(socket);
        accept_on(listening);
    }

    // Lack of memory ends the coroutine, and another one begins.
    void accept_on(std::shared_ptr<listening_socket> const& socket)
    {
        asio::co_spawn(io, accept(socket), [this, socket](std::exception_ptr const& failed) {
            if (failed && socket->is_open())
                accept_on(socket);
        });
    }

    void stop_listening()
    {
        if (listening)
            listening->close();
        listening.reset();
        // They end after their answers: the new address may be for other clients.
        for (std::shared_ptr<http_session> const& each : sessions)
            each->finish();
    }

    asio::awaitable<void> accept(std::shared_ptr<listening_socket> socket)
    {
        while (socket->is_open()) {
            boost::system::error_code ec;
            co_await socket->async_wait(
                listening_socket::wait_read, asio::redirect_error(asio::use_awaitable, ec));
            if (ec || !socket->is_open())
                co_return;
            unique_fd accepted{
                ::accept4(socket->native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
            if (accepted) {
                try_begin_session(std::move(accepted));
            } else if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR) {
                // Out of descriptors or memory: connections wait in the kernel's queue.
                asio::steady_timer pause{io, limits::accept_pause};
                co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, ec));
            }
        }
    }

    // A new client takes the place of an idle one: scrapers that keep their connections must not
    // shut out a probe of /healthz.
    void try_begin_session(unique_fd fd) noexcept
    {
        if (sessions.size() >= limits::admin_connections_max) {
            auto const idle =
                std::ranges::find_if(sessions, [](auto const& each) { return each->is_idle(); });
            if (idle == sessions.end())
                return refuse_session(fd.get());
            (*idle)->finish();
        }
        try {
            begin_session(std::move(fd));
        } catch (std::exception const&) { // There is no memory for it.
        }
    }

    void begin_session(unique_fd fd)
    {
        // The address that the client has connected to, where the server listens on several.
        result<net::address> const local = net::local_address(fd.get());
        bool const is_tcp = address.family() != AF_UNIX;
        auto session = std::make_shared<http_session>(
            io, std::move(fd), is_tcp && local ? *local : address,
            [this](http_request const& asked) { return respond(asked); });
        asio::co_spawn(io, session->run(), [this, session](std::exception_ptr const&) {
            sessions.remove(session);
            if (is_ending && sessions.empty())
                end_timer.cancel();
        });
        sessions.push_back(std::move(session)); // It ends in a later turn of the io_context.
    }

    asio::awaitable<http_answer> respond(http_request const& asked)
    {
        if (asked.target == "*") // RFC 9110, section 9.3.7: of the server as a whole.
            co_return http_answer{.status = 204, .allow = "GET, HEAD, OPTIONS, POST"};
        admin_path const* const found = find_path(asked.target);
        if (found == nullptr)
            co_return text_answer(404, "there is no such path; these are:\n" + paths_text());
        bool const is_right = found->is_command ? asked.method == "POST"
                                                : asked.method == "GET" || asked.method == "HEAD";
        if (!is_right)
            co_return wrong_method_answer(*found);
        if (!facts)
            co_return json_answer(503, problem_json("cleat has not begun to serve"));
        switch (found->page) {
        case admin_page::root:
            co_return prefers_html(asked.accept) ? page_answer() : text_answer(200, paths_text());
        case admin_page::metrics:
        case admin_page::status:
            co_return co_await show_numbers(found->page, asked);
        case admin_page::configuration:
            co_return facts->configuration_text
                ? text_answer(200, *facts->configuration_text)
                : text_answer(
                      404, "cleat was started without a configuration file; /status.json has its "
                           "settings\n");
        case admin_page::health:
            co_return co_await show_health();
        case admin_page::readiness:
            co_return is_draining ? json_answer(503, "{\"ready\": false, \"why\": \"draining\"}\n")
                                  : json_answer(200, "{\"ready\": true}\n");
        case admin_page::reload:
        case admin_page::drain:
        case admin_page::log_level:
        case admin_page::server:
            co_return co_await command(found->page, asked.target);
        }
        co_return json_answer(500, problem_json("no page"));
    }

    asio::awaitable<http_answer> show_numbers(admin_page page, http_request const& asked)
    {
        // Each worker reports the length of its queues. A busy one may be late: its last report
        // holds then.
        co_await ask_workers(limits::admin_queue_time);
        std::shared_ptr<admin_facts const> const present = facts;
        metric_sources const from{
            workers, *present, read_process_numbers(), std::chrono::system_clock::now(),
            is_draining};
        if (page == admin_page::status)
            co_return json_answer(200, status_json(from));
        exposition_format const format = choose_format(asked.accept);
        co_return http_answer{
            .status = 200,
            .content_type = content_type(format),
            .body = expose(read_metrics(from), format)};
    }

    asio::awaitable<http_answer> show_health()
    {
        std::size_t const silent = co_await ask_workers(limits::admin_answer_time);
        co_return json_answer(
            silent == 0 ? 200 : 503,
            fmt::format(
                "{{\"healthy\": {}, \"workers\": {}, \"silent_workers\": {}}}\n", silent == 0,
                workers.size(), silent));
    }

    // How many workers have not answered in that time. A worker that has ended need not. The wait
    // is a poll, because a worker that posted to Asio would take its lock.
    asio::awaitable<std::size_t> ask_workers(std::chrono::milliseconds longest)
    {
        for (worker_source const& each : workers)
            each.probe->ask();
        asio::steady_timer timer{io};
        auto const deadline = std::chrono::steady_clock::now() + longest;
        std::chrono::microseconds pause{100};
        for (;;) {
            auto const silent = std::ranges::count_if(workers, [](worker_source const& each) {
                return each.probe->is_waiting() && !each.counts->ended;
            });
            if (silent == 0 || std::chrono::steady_clock::now() >= deadline)
                co_return static_cast<std::size_t>(silent);
            timer.expires_after(pause);
            pause = std::min<std::chrono::microseconds>(pause * 2, std::chrono::milliseconds{20});
            boost::system::error_code ec;
            co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ec));
        }
    }

    asio::awaitable<http_answer> command(admin_page page, std::string_view target)
    {
        if (std::string_view const key = repeated_key(target); !key.empty())
            co_return wrong_query_answer(fmt::format("the query has {} twice: say it once", key));
        std::unique_ptr<admin_command> asked = command_for(page, target);
        if (!asked)
            co_return wrong_query_answer(
                page == admin_page::server ? server_order_usage : log_level_usage);
        auto const pending = std::make_shared<pending_command>(io);
        auto const place = commands.insert(commands.end(), pending);
        // The server's destructor waits for the thread, so `io` outlives each answer.
        asked->answer = [this, pending](admin_answer answer) {
            asio::post(io, [pending, answer = std::move(answer)]() mutable {
                pending->answer = std::move(answer);
                pending->arrival.cancel();
            });
        };
        posted.post(std::move(asked));
        wake();
        boost::system::error_code ec;
        while (!pending->answer && !is_ending)
            co_await pending->arrival.async_wait(asio::redirect_error(asio::use_awaitable, ec));
        commands.erase(place);
        if (!pending->answer)
            co_return json_answer(503, problem_json("cleat has ended"));
        co_return json_answer(pending->answer->status, std::move(pending->answer->json));
    }

    // Idle connections end now, the others with their answers.
    void end()
    {
        is_ending = true;
        stop_listening();
        for (std::shared_ptr<pending_command> const& each : commands)
            each->arrival.cancel();
        if (!sessions.empty()) {
            end_timer.expires_after(limits::admin_end_time);
            end_timer.async_wait([this](boost::system::error_code ec) {
                if (!ec)
                    io.stop();
            });
        }
        guard.reset();
    }

    std::vector<worker_source> const workers;
    std::function<void()> const wake;
    mailbox<admin_command> posted;
    std::atomic<bool> is_draining{false};

    asio::io_context io{1};
    asio::executor_work_guard<asio::io_context::executor_type> guard{io.get_executor()};
    asio::steady_timer end_timer{io};
    std::shared_ptr<listening_socket> listening; // Null: none.
    net::address address;
    std::shared_ptr<admin_facts const> facts;
    std::list<std::shared_ptr<http_session>> sessions;
    std::list<std::shared_ptr<pending_command>> commands;
    bool is_ending = false;

    std::thread thread;
};

admin_server::admin_server(std::vector<worker_source> workers, std::function<void()> wake)
    : state_{std::make_unique<state>(std::move(workers), std::move(wake))}
{
    state_->thread = std::thread{[state = state_.get()] { state->run(); }};
}

admin_server::~admin_server()
{
    asio::post(state_->io, [state = state_.get()] { state->end(); });
    state_->thread.join();
}

void admin_server::listen(int fd, net::address const& address)
{
    unique_fd copy = copy_of(fd);
    auto socket = std::make_shared<listening_socket>(state_->io, copy.get());
    static_cast<void>(copy.release());
    asio::post(state_->io, [state = state_.get(), socket = std::move(socket), address]() mutable {
        state->listen(std::move(socket), address);
    });
}

void admin_server::stop_listening()
{
    asio::post(state_->io, [state = state_.get()] { state->stop_listening(); });
}

void admin_server::publish(std::shared_ptr<admin_facts const> facts)
{
    asio::post(state_->io, [state = state_.get(), facts = std::move(facts)]() mutable {
        state->facts = std::move(facts);
    });
}

void admin_server::begin_drain() noexcept
{
    state_->is_draining = true;
}

std::unique_ptr<admin_command> admin_server::next_command() noexcept
{
    return state_->posted.next();
}

} // namespace cleat::app
