#include "sandbox/landlock.hpp"
#include "sandbox/landlock_abi.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

namespace cleat::app {
namespace {

// A kernel refuses rights that it does not know.
landlock::ruleset_attr handled_by(int abi, bool limits_ports) noexcept
{
    landlock::ruleset_attr attr;
    attr.handled_access_fs = landlock::first_rights;
    if (abi >= 2)
        attr.handled_access_fs |= landlock::refer;
    if (abi >= 3)
        attr.handled_access_fs |= landlock::truncate;
    if (abi >= 5)
        attr.handled_access_fs |= landlock::ioctl_dev;
    if (abi >= 4 && limits_ports)
        attr.handled_access_net = landlock::bind_tcp | landlock::connect_tcp;
    if (abi >= 6)
        attr.scoped = landlock::scope_signal;
    return attr;
}

error_code add_paths(int ruleset, std::vector<path_rule> const& rules, granted_places& places)
{
    for (path_rule const& each : rules) {
        unique_fd const fd{::open(each.path.c_str(), O_PATH | O_CLOEXEC)};
        struct stat about
        {
        };
        if (!fd || ::fstat(fd.get(), &about) != 0)
            continue; // It is not there, or this user has no right to it anyway.
        std::uint64_t const rights =
            S_ISDIR(about.st_mode) ? each.rights : each.rights & landlock::file_rights;
        if (landlock::add_rule(ruleset, landlock::path_beneath_attr{rights, fd.get()}) != 0)
            return last_system_error();
        places.add(about.st_dev, about.st_ino, rights);
    }
    return {};
}

error_code add_ports(
    int ruleset, std::vector<std::uint16_t> const& ports, std::uint64_t right) noexcept
{
    for (std::uint16_t const each : ports)
        if (landlock::add_rule(ruleset, landlock::net_port_attr{right, each}) != 0)
            return last_system_error();
    return {};
}

error_code restrict(int abi, sandbox_rules const& rules, granted_places& places)
{
    landlock::ruleset_attr const attr = handled_by(abi, rules.limits_ports);
    unique_fd const ruleset{landlock::create_ruleset(attr)};
    if (!ruleset)
        return last_system_error();
    error_code ec = add_paths(ruleset.get(), rules.paths, places);
    if (!ec && attr.handled_access_net != 0)
        ec = add_ports(ruleset.get(), rules.bound_ports, landlock::bind_tcp);
    if (!ec && attr.handled_access_net != 0)
        ec = add_ports(ruleset.get(), rules.connected_ports, landlock::connect_tcp);
    if (!ec && landlock::restrict_self(ruleset.get()) != 0)
        ec = last_system_error();
    return ec;
}

} // namespace

void granted_places::add(dev_t device, ino_t inode, std::uint64_t rights)
{
    places_.push_back({device, inode, rights});
}

std::uint64_t granted_places::rights_at(std::string const& path) const noexcept
{
    struct stat about
    {
    };
    std::uint64_t found = 0;
    if (::stat(path.c_str(), &about) == 0)
        for (place const& each : places_)
            if (each.device == about.st_dev && each.inode == about.st_ino)
                found |= each.rights;
    return found;
}

bool granted_places::allow(std::string const& path, std::uint64_t rights) const
{
    std::error_code ec;
    std::filesystem::path next =
        std::filesystem::weakly_canonical(std::filesystem::absolute(path, ec), ec);
    if (ec)
        return false;
    std::uint64_t found = 0;
    for (; (found & rights) != rights; next = next.parent_path()) {
        found |= rights_at(next.string());
        if (next == next.parent_path())
            break;
    }
    return (found & rights) == rights;
}

result<int> landlock_abi() noexcept
{
    int const abi = landlock::version();
    if (abi < 0)
        return last_system_error();
    return abi;
}

landlocked enter_landlock(sandbox_rules const& rules)
{
    result<int> const abi = landlock_abi();
    landlocked made;
    if (!abi) {
        made.fault = abi.error();
        return made;
    }
    made.own_facts.reset(::open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC));
    made.fault = restrict(*abi, rules, made.places);
    if (!made.fault)
        made.abi = *abi;
    return made;
}

} // namespace cleat::app
