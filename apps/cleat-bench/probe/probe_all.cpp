#include "json.hpp"
#include "load.hpp"
#include "probe/probe.hpp"
#include "probe/probe_all.hpp"
#include "times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cleat::bench {
namespace {

// probe_each probes so many targets at a time, and shows each report in the targets' order, as soon
// as it and all before it are there. What a probe throws, it throws.
template <class Show>
void probe_each(
    std::vector<std::string> const& targets, unsigned parallel, probe_options const& how, Show show)
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
        for (std::promise<probe_report>& each : reports)
            show(each.get_future().get());
    } catch (...) {
        taken = targets.size(); // The others end with what they are at.
        throw;
    }
}

} // namespace

int probe_all(do_probe const& wish)
{
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
    probe_each(wish.targets, wish.parallel, how, [&](probe_report const& found) {
        fmt::print("{}", wish.targets.size() == 1 ? to_text(found) : to_line(found));
        std::fflush(stdout);
        good = good && found.error.empty() && !(wish.strict && found.any_weak());
        documents.push_back(to_json(found));
    });
    if (!wish.json.empty())
        write_file(
            wish.json,
            json::serialize(json::object{
                {"cleat_bench", 1}, {"kind", "probe"}, {"hosts", std::move(documents)}}) +
                "\n");
    return good ? 0 : 1;
}

} // namespace cleat::bench
