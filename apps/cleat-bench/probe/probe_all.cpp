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

// How often signals are looked for.
constexpr std::chrono::milliseconds poll_interval{50};

// print writes to standard output, and calls `meanwhile` as long as the reader takes nothing: a
// pager that shows its first page, or a stopped terminal.
template <class Meanwhile>
void print_report(std::string_view text, Meanwhile meanwhile)
{
    while (!text.empty()) {
        pollfd out{STDOUT_FILENO, POLLOUT, 0};
        if (::poll(&out, 1, static_cast<int>(poll_interval.count())) == 0) {
            meanwhile();
            continue;
        }
        // A writable pipe takes PIPE_BUF bytes without blocking.
        ssize_t const n =
            ::write(STDOUT_FILENO, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            throw std::system_error{errno, std::generic_category(), "standard output"};
        text.remove_prefix(n > 0 ? static_cast<std::size_t>(n) : 0);
    }
}

// probe_each probes `parallel` targets at a time, and shows the reports in the targets' order, each
// as soon as it and all before it are there. Calls `meanwhile` while it waits. Rethrows what a
// probe throws.
template <class Show, class Meanwhile>
void probe_each(
    std::vector<std::string> const& targets, unsigned parallel, probe_options const& options,
    Show show, Meanwhile meanwhile)
{
    std::vector<std::promise<probe_report>> reports(targets.size());
    std::atomic<std::size_t> taken = 0;
    std::vector<std::jthread> probers;
    for (std::size_t i = 0; i < std::min<std::size_t>(parallel, targets.size()); ++i)
        probers.emplace_back([&] {
            for (std::size_t next = taken++; next < targets.size(); next = taken++)
                try {
                    reports[next].set_value(probe_target(targets[next], options));
                } catch (...) {
                    reports[next].set_exception(std::current_exception());
                }
        });
    try {
        for (std::promise<probe_report>& each : reports) {
            std::future<probe_report> coming = each.get_future();
            while (coming.wait_for(poll_interval) != std::future_status::ready)
                meanwhile();
            show(coming.get());
        }
    } catch (...) {
        taken = targets.size(); // The other threads end after their current target.
        throw;
    }
}

} // namespace

int probe_all(probe_request const& request)
{
    interruption signals; // Before there are threads.
    refuse_overwriting({request.authorities}, {{"--json", request.json}});
    check_writable({{"--json", request.json}});
    probe_options options;
    auto const timeout = parse_length(request.timeout);
    if (!timeout || *timeout < std::chrono::milliseconds{1})
        throw std::runtime_error{
            fmt::format("--timeout {}: write a length of time like 5s or 500ms", request.timeout)};
    options.timeout = std::chrono::ceil<std::chrono::milliseconds>(*timeout);
    options.server_name = request.name;
    options.warn_days = request.warn_days;
    options.fleet = request.fleet;
    if (!request.authorities.empty()) {
        options.authorities = read_file(request.authorities);
        options.authorities_origin = request.authorities;
    }

    bool good = true;
    json::array documents;
    auto const write = [&](bool partial) {
        if (request.json.empty())
            return;
        json::object all{{"cleat_bench", 1}, {"kind", "probe"}, {"partial", partial}};
        all["hosts"] = std::move(documents);
        write_file(request.json, json::serialize(all) + "\n");
    };
    auto const end_after_signal = [&] {
        if (!signals.asked())
            return;
        std::size_t const done = documents.size();
        write(true);
        print_report(
            fmt::format("PARTIAL: ended after {} of {} hosts\n", done, request.targets.size()),
            [] { std::_Exit(130); }); // Does not wait for a reader that takes nothing.
        std::_Exit(130); // Does not wait for the probers: a silent host takes its whole timeout.
    };
    auto const show = [&](probe_report const& found) {
        good = good && found.error.empty() && !(request.strict && found.any_weak());
        documents.push_back(to_json(found));
        print_report(
            request.targets.size() == 1 ? to_text(found) : to_line(found), end_after_signal);
    };
    probe_each(request.targets, request.parallel, options, show, end_after_signal);
    write(false);
    return good ? 0 : 1;
}

} // namespace cleat::bench
