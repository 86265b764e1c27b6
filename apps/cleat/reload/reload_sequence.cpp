#include "reload/reload_sequence.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include <poll.h>

namespace cleat::app {
namespace {

// A folder of broken files would fill the log.
constexpr std::size_t lines_max = 20;

bool is_readable(int fd) noexcept
{
    pollfd entry{fd, POLLIN, 0};
    return ::poll(&entry, 1, 0) == 1;
}

} // namespace

reload_sequence::reload_sequence(
    worker_group& workers, std::vector<std::string> const& command_line, std::string const& folder)
    : workers_{workers}, command_line_{command_line}, folder_{folder}, builder_{workers}
{
}

void reload_sequence::request()
{
    if (stopped_)
        return refuse("cleat is ending");
    requested_ = true;
    go_on();
}

void reload_sequence::go_on()
{
    if (builder_.is_busy() && is_readable(builder_.done()))
        take();
    if (replacing_ && workers_.is_replaced()) {
        replacing_ = false;
        report_success();
    }
    if (requested_ && !stopped_ && !replacing_ && !builder_.is_busy())
        begin();
}

void reload_sequence::stop()
{
    stopped_ = true;
}

void reload_sequence::begin()
{
    requested_ = false;
    begun_ = clock::now();
    log().info("reloading");
    try {
        builder_.begin({command_line_, folder_, &workers_.present(), workers_.places()});
    } catch (std::system_error const& e) {
        refuse(e.what());
    }
}

void reload_sequence::take()
{
    candidate built = builder_.take();
    if (stopped_)
        return refuse("cleat is ending");
    if (!built.next)
        return built.problems.empty() ? refuse("there is no memory for it")
                                      : refuse(built.problems);
    for (problem const& each : built.problems)
        log().warning("reload-warning").add("problem", to_string(each));
    changes_ = std::move(built.changes);
    replacing_ = true;
    workers_.replace(std::move(*built.next));
}

void reload_sequence::refuse(std::vector<problem> const& problems) const
{
    for (problem const& each : std::span{problems}.first(std::min(problems.size(), lines_max)))
        log().error("reload-problem").add("problem", to_string(each));
    if (problems.size() > lines_max)
        log().error("reload-problem").add("more_problems", problems.size() - lines_max);
    log().error("reload-refused").add("problems", problems.size());
}

void reload_sequence::refuse(std::string why) const
{
    refuse({{problem::severity::error, {}, {}, std::move(why), {}}});
}

void reload_sequence::report_success()
{
    for (listening_place const& each : workers_.places())
        if (!each.kept)
            log().info("listening").add("address", net::to_string(each.address));
    auto const took = std::chrono::ceil<std::chrono::milliseconds>(clock::now() - begun_);
    log_line line{log().info("reloaded")};
    line.add("took_ms", took.count()).add("keys", fmt::format("{}", fmt::join(changes_.keys, ",")));
    std::pair<std::string_view, std::size_t> const counts[] = {
        {"frontends_added", changes_.frontends_added},
        {"frontends_removed", changes_.frontends_removed},
        {"certificates_added", changes_.certificates_added},
        {"certificates_removed", changes_.certificates_removed},
        {"certificates_changed", changes_.certificates_changed}};
    for (auto const& [name, count] : counts)
        line.add(name, count);
}

} // namespace cleat::app
