#include "health/check_control.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

namespace cleat::app {
namespace {

std::vector<check_target> targets_of(upstream_states const& states)
{
    std::vector<check_target> found;
    for (known_upstream const& upstream : states.all())
        for (known_server const& server : upstream.servers)
            if (upstream.check.is_on && !server.addresses.empty())
                found.push_back(
                    {upstream.name, server.name, server.addresses, upstream.check, server.tls_name,
                     server.is_down, server.check.state != check_state::unknown});
    return found;
}

// Both are warnings: a log that says that a server is down also says that it is back.
void log_news(logger const& log, check_news const& news, bool was_down)
{
    if (news.is_down == was_down)
        return; // Its first result: it serves, as was assumed.
    if (news.is_down)
        log.warning("server-down")
            .add("upstream", news.upstream)
            .add("server", news.server)
            .add("reason", news.reason)
            .add("checks", news.checks);
    else
        log.warning("server-up")
            .add("upstream", news.upstream)
            .add("server", news.server)
            .add("checks", news.checks);
}

} // namespace

check_control::check_control(upstream_states& states, std::function<void()> wake) noexcept
    : states_{states}, wake_{std::move(wake)}
{
}

void check_control::follow(logger const& log)
{
    if (std::exchange(followed_, states_.version()) != states_.version())
        check_present(log);
    take_news(log);
}

void check_control::take_news(logger const& log)
{
    while (checker_) {
        std::unique_ptr<check_news> const news = checker_->next_news();
        if (!news)
            return;
        if (news->order != order_) // Of other rules, perhaps. The checker repeats what holds.
            continue;
        bool was_down = false;
        bool const is_known =
            states_.change(news->upstream, news->server, [&](known_server& server) {
                was_down = server.is_down;
                check_state const found = news->is_down ? check_state::failed : check_state::passed;
                if (server.check.state == found && server.check.reason == news->reason)
                    return; // The checker has repeated it.
                server.is_down = news->is_down;
                server.check = {found, news->reason, std::chrono::system_clock::now()};
            });
        if (is_known)
            log_news(log, *news, was_down);
    }
}

// Results of checks make no other targets.
void check_control::check_present(logger const& log)
{
    std::vector<check_target> wanted = targets_of(states_);
    bool const is_same = std::ranges::equal(
        wanted, targets_, [](check_target const& one, check_target const& other) {
            return one.is_same_check(other);
        });
    if (is_same)
        return;
    targets_ = wanted;
    try {
        if (!checker_)
            checker_ = std::make_unique<checker>(wake_);
        order_ = checker_->follow(std::move(wanted));
    } catch (std::system_error const& e) {
        log.error("checks-not-started")
            .add("reason", e.what())
            .add("cure", "raise the limits of descriptors and threads, and reload");
        targets_.clear(); // The next reload tries again.
    }
}

} // namespace cleat::app
