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
    comparison(config const& running, config const& wanted, std::vector<problem>& problems)
        : running_{running}, wanted_{wanted}, problems_{problems}
    {
    }

    // `why` says why the key is fixed.
    void refuse_change(std::string_view key, location const& where, std::string_view why)
    {
        key_row const& row = *find_key(key);
        std::string const before = row.show(running_);
        std::string const after = row.show(wanted_);
        if (before == after)
            return;
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
    std::vector<problem>& problems_;
};

} // namespace

void refuse_fixed(config const& running, config const& wanted, std::vector<problem>& problems)
{
    comparison compare{running, wanted, problems};
    std::string_view const rights = "cleat gives up its rights once, and cannot get them back";
    compare.refuse_change("user", wanted.user.location, rights);
    compare.refuse_change("group", wanted.group.location, rights);
    compare.refuse_change("chroot", wanted.chroot.location, rights);
    compare.refuse_change(
        "daemon", wanted.daemon.location, "a process leaves its terminal when it starts");
    compare.refuse_change(
        "pidfile", wanted.pidfile.location, "other programs find this process by the file");
    compare.refuse_change(
        "workers", wanted.workers.location, "connections stay with the worker that accepted them");
    std::string_view const limits = "a process takes its limits once, and cannot get rid of them";
    compare.refuse_change("sandbox", wanted.sandbox.location, limits);
    compare.refuse_change("core-dumps", wanted.core_dumps.location, limits);
    compare.refuse_change("lock-memory", wanted.lock_memory.location, limits);
    compare.refuse_more("sandbox-read", running.sandbox_read, wanted.sandbox_read, limits);
    compare.refuse_more("sandbox-write", running.sandbox_write, wanted.sandbox_write, limits);
    // A size that is left to the kernel cannot be taken back from a socket that had one.
    std::string_view const kernel =
        "a socket with a buffer of its own never leaves it to the kernel";
    if (*running.recv_bufsize > 0 && *wanted.recv_bufsize <= 0)
        compare.refuse_change("recv-bufsize", wanted.recv_bufsize.location, kernel);
    if (*running.send_bufsize > 0 && *wanted.send_bufsize <= 0)
        compare.refuse_change("send-bufsize", wanted.send_bufsize.location, kernel);
}

} // namespace cleat::app
