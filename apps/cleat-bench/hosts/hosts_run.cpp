#include "hosts/hosts_run.hpp"
#include "hosts/progress_json.hpp"
#include "text/times.hpp"
#include "text/usage_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include <poll.h>

namespace cleat::bench {
namespace {

using namespace std::chrono_literals;

// The end of a program and a signal are noticed within this time.
constexpr auto hosts_tick = 20ms;
constexpr auto watch_period = 500ms;
// The line that names the start reaches all hosts before it, if it takes twice as long as the
// slowest answer to a question for the time did.
constexpr auto start_lead = 1s;
constexpr int start_round_trips = 4;
// For documents after a stop, and for hosts that are left to remove their folders.
constexpr auto leave_patience = 5s;

// The exit code of a cleat-bench whose command line is wrong.
constexpr int usage_code = 2;

} // namespace

hosts_run::hosts_run(hosts_request const& request, host_plan const& plan, interruption& signals)
    : request_{request}
    , signals_{signals}
    , lines_(request.hosts.size())
    , heard_(request.hosts.size(), clock::now())
{
    for (std::size_t i = 0; i != request.hosts.size(); ++i) {
        host_address const& host = request.hosts[i];
        std::vector<std::string> arguments{"load", "--as-host"};
        if (request.seed)
            arguments.push_back(fmt::format("--seed={}", *request.seed + i));
        arguments.insert(arguments.end(), request.arguments.begin(), request.arguments.end());
        hosts_.emplace_back(host.name, plan);
        channels_.push_back(std::make_unique<channel>(
            ssh_command(request.ssh, host.destination, host.port, arguments), signals.before()));
    }
}

hosts_run::~hosts_run()
{
    leave();
}

// A host whose input ends ends its load, removes its folder, and then its ssh ends.
void hosts_run::leave() noexcept
{
    for (std::unique_ptr<channel> const& each : channels_)
        each->close_input();
    auto const deadline = clock::now() + leave_patience;
    auto const is_left = [](std::unique_ptr<channel> const& each) {
        return !each->has_ended() && !each->ended();
    };
    while (clock::now() < deadline && std::ranges::count_if(channels_, is_left) != 0) {
        for (std::unique_ptr<channel> const& each : channels_) {
            static_cast<void>(each->read_output()); // A full pipe would hold it.
            each->read_errors();
        }
        ::poll(nullptr, 0, static_cast<int>(hosts_tick.count()));
    }
}

// Reads what a host has said, and answers. True: it has done something.
bool hosts_run::serve(std::size_t number)
{
    channel& its = *channels_[number];
    bool any = its.flush();
    its.read_errors();
    std::string const bytes = its.read_output();
    for (std::string const& line : lines_[number].take(bytes)) {
        any = true;
        its.send(hosts_[number].take_line(line, std::chrono::system_clock::now()));
    }
    return any;
}

void hosts_run::take_ends()
{
    for (std::size_t i = 0; i != channels_.size(); ++i) {
        std::optional<std::string> const end = channels_[i]->ended();
        if (!end)
            continue;
        serve(i); // The rest of its output.
        hosts_[i].take_end(*end, channels_[i]->complaints());
    }
}

// Waits for something, at most a tick, and serves all hosts.
void hosts_run::step()
{
    std::vector<pollfd> fds;
    for (std::unique_ptr<channel> const& each : channels_) {
        fds.push_back({each->input_fd(), POLLOUT, 0});
        fds.push_back({each->output_fd(), POLLIN, 0});
        fds.push_back({each->errors_fd(), POLLIN, 0});
    }
    ::poll(fds.data(), fds.size(), static_cast<int>(hosts_tick.count()));
    for (std::size_t i = 0; i != hosts_.size(); ++i)
        if (serve(i))
            heard_[i] = clock::now();
    take_ends();
    // A host that is given up is left alone, so that it does not begin.
    for (std::size_t i = 0; i != hosts_.size(); ++i)
        if (hosts_[i].stage() == host_stage::lost)
            channels_[i]->close_input();
}

bool hosts_run::all(bool (*holds)(host_run const&)) const
{
    return std::ranges::all_of(hosts_, holds);
}

void hosts_run::give_up_silent(std::chrono::milliseconds preflight)
{
    for (std::size_t i = 0; i != hosts_.size(); ++i) {
        host_stage const stage = hosts_[i].stage();
        auto const limit = request_.patience + (stage == host_stage::preparing ? preflight : 0ms);
        if (stage >= host_stage::ready || clock::now() - heard_[i] < limit)
            continue;
        hosts_[i].lose(fmt::format(
            "{} for {}: see whether `ssh {}` answers, or allow more with --ssh-timeout",
            stage == host_stage::connecting ? "ssh has not come to it" : "it has said nothing",
            in_words(static_cast<double>(std::chrono::nanoseconds{limit}.count())),
            request_.hosts[i].destination));
    }
}

void hosts_run::refuse_away() const
{
    std::string text;
    bool is_usage = true;
    for (std::size_t i = 0; i != hosts_.size(); ++i) {
        if (hosts_[i].stage() != host_stage::lost)
            continue;
        text += fmt::format(
            "{}host {}: {}", text.empty() ? "" : "\n  ", hosts_[i].name(), hosts_[i].reason());
        is_usage = is_usage && channels_[i]->exit_code() == usage_code;
    }
    if (text.empty())
        return;
    if (is_usage)
        refuse_usage(text);
    throw host_away{text + "\n  nothing was begun; leave such a host out of --hosts, or mend it"};
}

void hosts_run::prepare(std::chrono::milliseconds preflight)
{
    // All of them, so that one message names all that are away.
    while (!all([](host_run const& each) {
        return each.stage() == host_stage::ready || each.stage() == host_stage::lost;
    })) {
        step();
        if (signals_.asked())
            throw interrupted{};
        give_up_silent(preflight);
    }
    refuse_away();
}

void hosts_run::stop()
{
    stopped_ = true;
    for (std::size_t i = 0; i != hosts_.size(); ++i)
        if (hosts_[i].stage() == host_stage::running)
            channels_[i]->send("stop\n");
}

// Unset: no host has said anything yet. Its time is the mean of theirs.
std::optional<progress> hosts_run::sum() const
{
    progress found;
    std::int64_t count = 0;
    for (host_run const& each : hosts_) {
        if (each.now() == nullptr)
            continue;
        add(found, *each.now());
        found.since_begin += each.now()->since_begin;
        ++count;
    }
    if (count == 0)
        return std::nullopt;
    found.since_begin /= count;
    return found;
}

void hosts_run::run(
    std::chrono::nanoseconds limit, std::function<void(progress const&)> const& watch)
{
    std::chrono::nanoseconds slowest{};
    for (host_run const& each : hosts_)
        slowest = std::max(slowest, each.clock().round_trip());
    auto const ahead = start_lead + start_round_trips * slowest;
    auto const start = clock::now() + ahead;
    begin_ = std::chrono::floor<std::chrono::microseconds>(
        std::chrono::system_clock::now() +
        std::chrono::duration_cast<std::chrono::system_clock::duration>(ahead));
    for (std::size_t i = 0; i != hosts_.size(); ++i)
        channels_[i]->send(hosts_[i].start(begin_));
    auto deadline = start + limit;
    // The figures are summed between two lines of each host. At the time of the lines, some host's
    // figures would be missing.
    auto next_watch = start + watch_period + watch_period / 2;
    while (!all([](host_run const& each) { return each.is_over(); })) {
        step();
        auto const now = clock::now();
        if (!stopped_ && signals_.asked()) {
            stop();
            deadline = std::min(deadline, now + leave_patience);
        }
        if (now >= deadline)
            for (host_run& each : hosts_)
                each.lose("it gave no result in the time of the load and of all its timeouts");
        if (watch && now >= next_watch && !stopped_) {
            if (std::optional<progress> const all_hosts = sum())
                watch(*all_hosts);
            next_watch = std::max(next_watch + watch_period, now);
        }
    }
}

} // namespace cleat::bench
