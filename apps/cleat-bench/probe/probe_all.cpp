#include "probe/probe.hpp"
#include "probe/probe_all.hpp"
#include "result/output.hpp"
#include "system/files.hpp"
#include "system/interruption.hpp"
#include "text/json.hpp"
#include "text/times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <future>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <poll.h>
#include <unistd.h>

namespace cleat::bench {
namespace {

// How long a signal waits to be heeded.
constexpr std::chrono::milliseconds look_interval{50};

// say prints, and calls `meanwhile` as long as nobody takes it: a pager that shows its first page,
// or a terminal that was stopped.
template <class Meanwhile>
void say(std::string_view text, Meanwhile meanwhile)
{
    while (!text.empty()) {
        pollfd out{STDOUT_FILENO, POLLOUT, 0};
        if (::poll(&out, 1, static_cast<int>(look_interval.count())) == 0) {
            meanwhile();
            continue;
        }
        // A pipe that is ready takes so many bytes at once.
        ssize_t const n =
            ::write(STDOUT_FILENO, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            throw std::system_error{errno, std::generic_category(), "standard output"};
        text.remove_prefix(n > 0 ? static_cast<std::size_t>(n) : 0);
    }
}

// probe_each probes so many targets at a time, and shows each report in the targets' order, as soon
// as it and all before it are there. While it waits it calls `meanwhile`. What a probe throws, it
// throws.
template <class Show, class Meanwhile>
void probe_each(
    std::vector<std::string> const& targets, unsigned parallel, probe_options const& how, Show show,
    Meanwhile meanwhile)
{
    std::vector<std::promise<probe_report>> reports(targets.size());
    std::atomic<std::size_t> taken = 0;
    std::vector<std::jthread> probers;
    for (std::size_t i = 0; i < std::min<std::size_t>(parallel, targets.size()); ++i)
        probers.emplace_back([&] {
            for (std::size_t at = taken++; at < targets.size(); at = taken++)
                try {
                    reports[at].set_value(probe_target(targets[at], how));
                } catch (...) {
                    reports[at].set_exception(std::current_exception());
                }
        });
    try {
        for (std::promise<probe_report>& each : reports) {
            std::future<probe_report> coming = each.get_future();
            while (coming.wait_for(look_interval) != std::future_status::ready)
                meanwhile();
            show(coming.get());
        }
    } catch (...) {
        taken = targets.size(); // The others end with what they are at.
        throw;
    }
}

} // namespace

int probe_all(probe_request const& wish)
{
    interruption signals; // Before there are threads.
    check_writable({wish.json, {}, false});
    probe_options how;
    auto const timeout = parse_length(wish.timeout);
    if (!timeout || *timeout < std::chrono::milliseconds{1})
        throw std::runtime_error{
            fmt::format("--timeout {}: write a length of time like 5s or 500ms", wish.timeout)};
    how.timeout = std::chrono::ceil<std::chrono::milliseconds>(*timeout);
    how.server_name = wish.name;
    if (!wish.authorities.empty()) {
        how.authorities = read_file(wish.authorities);
        how.authorities_origin = wish.authorities;
    }

    bool good = true;
    json::array documents;
    auto const write = [&](bool partial) {
        if (wish.json.empty())
            return;
        json::object all{{"cleat_bench", 1}, {"kind", "probe"}, {"partial", partial}};
        all["hosts"] = std::move(documents);
        write_file(wish.json, json::serialize(all) + "\n");
    };
    auto const end_where_asked = [&] {
        if (!signals.asked())
            return;
        std::size_t const done = documents.size();
        write(true);
        say(fmt::format("PARTIAL: ended after {} of {} hosts\n", done, wish.targets.size()),
            [] { std::_Exit(130); }); // Who does not read is not waited for any more.
        std::_Exit(130); // The probers are not waited for: a silent host takes all of its time.
    };
    auto const show = [&](probe_report const& found) {
        good = good && found.error.empty() && !(wish.strict && found.any_weak());
        documents.push_back(to_json(found));
        say(wish.targets.size() == 1 ? to_text(found) : to_line(found), end_where_asked);
    };
    probe_each(wish.targets, wish.parallel, how, show, end_where_asked);
    write(false);
    return good ? 0 : 1;
}

} // namespace cleat::bench
