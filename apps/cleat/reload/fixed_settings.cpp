#include "config/table.hpp"
#include "reload/fixed_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::app {
namespace {

class comparison
{
public:
    comparison(
        config const& running, config const& wanted, bool is_whole, std::vector<problem>& problems)
        : running_{running}, wanted_{wanted}, is_whole_{is_whole}, problems_{problems}
    {
    }

    // `why` says why the key is fixed.
    template <class T>
    void refuse_change(std::string_view key, setting<T> config::*member, std::string_view why)
    {
        location const& where = (wanted_.*member).location;
        key_row const& row = *find_key(key);
        std::string const before = row.show(running_);
        std::string const after = row.show(wanted_);
        if (before == after || (where.is_built_in() && !is_whole_))
            return;
        if (where.is_built_in()) { // The line is gone: its place is where it was.
            problems_.push_back(
                {problem::severity::error, (running_.*member).location, std::string{key},
                 fmt::format("{} can be removed by a restart only: {}", named(key, before), why),
                 fmt::format("Restart cleat, or write {} = {} again.", key, shown(before))});
            return;
        }
        problems_.push_back(
            {problem::severity::error, where, std::string{key},
             fmt::format(
                 "{} becomes {} by a restart only: {}", named(key, before), shown(after), why),
             fmt::format("Restart cleat, or leave {} at {}.", key, shown(before))});
    }

    // A folder that the running configuration does not have.
    void refuse_more(
        std::string_view key, std::vector<setting<std::string>> const& before,
        std::vector<setting<std::string>> const& after, std::string_view why)
    {
        for (setting<std::string> const& each : after)
            if (std::ranges::find(before, *each, [](auto const& one) { return *one; }) ==
                before.end())
                problems_.push_back(
                    {problem::severity::error, each.location, std::string{key},
                     fmt::format("{} gets {} by a restart only: {}", key, *each, why),
                     "Restart cleat, or leave it out."});
    }

private:
    static std::string shown(std::string const& value)
    {
        return value.empty() || value == "\"\"" ? "nothing" : value;
    }

    static std::string named(std::string_view key, std::string const& value)
    {
        return fmt::format("{} {}", key, shown(value));
    }

    config const& running_;
    config const& wanted_;
    bool is_whole_;
    std::vector<problem>& problems_;
};

} // namespace

void refuse_fixed(
    config const& running, config const& wanted, bool is_whole, std::vector<problem>& problems)
{
    comparison compare{running, wanted, is_whole, problems};
    std::string_view const rights = "cleat gives up its rights once, and cannot get them back";
    compare.refuse_change("user", &config::user, rights);
    compare.refuse_change("group", &config::group, rights);
    compare.refuse_change("chroot", &config::chroot, rights);
    compare.refuse_change(
        "daemon", &config::daemon, "a process leaves its terminal when it starts");
    compare.refuse_change(
        "pidfile", &config::pidfile, "other programs find this process by the file");
    compare.refuse_change(
        "workers", &config::workers, "connections stay with the worker that accepted them");
    std::string_view const limits = "a process takes its limits once, and cannot get rid of them";
    compare.refuse_change("sandbox", &config::sandbox, limits);
    compare.refuse_change("core-dumps", &config::core_dumps, limits);
    compare.refuse_change("lock-memory", &config::lock_memory, limits);
    compare.refuse_more("sandbox-read", running.sandbox_read, wanted.sandbox_read, limits);
    compare.refuse_more("sandbox-write", running.sandbox_write, wanted.sandbox_write, limits);
    // A size that is left to the kernel cannot be taken back from a socket that had one.
    std::string_view const kernel =
        "a socket with a buffer of its own never leaves it to the kernel";
    if (*running.recv_bufsize > 0 && *wanted.recv_bufsize <= 0)
        compare.refuse_change("recv-bufsize", &config::recv_bufsize, kernel);
    if (*running.send_bufsize > 0 && *wanted.send_bufsize <= 0)
        compare.refuse_change("send-bufsize", &config::send_bufsize, kernel);
}

} // namespace cleat::app
