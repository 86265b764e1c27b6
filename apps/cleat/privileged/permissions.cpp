#include "config/read_files.hpp"
#include "log/log_sink.hpp"
#include "privileged/permissions.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <variant>

#include <arpa/inet.h>
#include <fnmatch.h>
#include <netinet/in.h>

namespace cleat::app {
namespace {

// The names of a path below a folder. Empty: it is not below it, or has a name that no search of a
// pem-dir finds.
std::vector<std::string> names_below(std::string_view folder, std::string_view path)
{
    std::string const start = folder == "/" ? "/" : std::string{folder} + '/';
    if (!path.starts_with(start))
        return {};
    path.remove_prefix(start.size());
    std::vector<std::string> names;
    while (!path.empty()) {
        std::size_t const end = std::min(path.find('/'), path.size());
        std::string_view const name = path.substr(0, end);
        if (name.empty() || name.front() == '.')
            return {};
        names.emplace_back(name);
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return names;
}

// Nothing: it is a name.
std::optional<bool> is_numeric_host(std::string const& host, bind_address const& address)
{
    in6_addr number{}; // Large enough for both families.
    for (int const family : {AF_INET, AF_INET6}) {
        if (::inet_pton(family, host.c_str(), &number) != 1)
            continue;
        if (family != address.family())
            return false;
        void const* const bytes =
            family == AF_INET ? static_cast<void const*>(
                                    &reinterpret_cast<sockaddr_in const&>(address.storage).sin_addr)
                              : &reinterpret_cast<sockaddr_in6 const&>(address.storage).sin6_addr;
        return std::memcmp(&number, bytes, family == AF_INET ? 4 : 16) == 0;
    }
    return std::nullopt;
}

bool is_any_address(bind_address const& address)
{
    return is_numeric_host(address.family() == AF_INET ? "0.0.0.0" : "::", address).value_or(false);
}

} // namespace

std::string absolute_path(std::string const& folder, std::string_view path)
{
    std::string const whole =
        path.starts_with('/') ? std::string{path} : folder + '/' + std::string{path};
    std::string made;
    for (std::size_t begin = 0; begin < whole.size();) {
        std::size_t const end = std::min(whole.find('/', begin), whole.size());
        std::string_view const name = std::string_view{whole}.substr(begin, end - begin);
        if (!name.empty() && name != ".")
            made.append("/").append(name);
        begin = end + 1;
    }
    return made.empty() ? "/" : made;
}

std::vector<std::string> log_files_of(config const& settings)
{
    std::vector<std::string> files;
    if (!settings.log_filename->empty() && !log_sink::is_standard(*settings.log_filename))
        files.push_back(*settings.log_filename);
    if (target_of_access_log(settings) == access_log_target::file &&
        !log_sink::is_standard(*settings.access_log))
        files.push_back(*settings.access_log);
    return files;
}

permissions::permissions(config const& settings, std::string const& folder)
    : folder_{folder}
    , pem_dir_glob_{*settings.pem_dir_glob}
    , pem_dir_recursive_{*settings.pem_dir_recursive}
{
    for (read_file const& each : read_files_of(settings)) {
        std::string const path = absolute_path(folder_, each.path);
        switch (each.use) {
        case file_use::pem_dir:
            pem_dirs_.push_back(path);
            break;
        case file_use::challenges:
            challenges_ = path;
            break;
        case file_use::ticket_secret:
            if (!*settings.ticket_ratchet) // This process rewrites it, and needs rights of its own.
                files_.insert(path);
            break;
        case file_use::crls:
            crls_.push_back(path);
            [[fallthrough]];
        default:
            files_.insert(path);
        }
    }
    for (frontend_config const& each : settings.frontends)
        places_.push_back(each.address());
    if (host_port const* const admin = std::get_if<host_port>(&*settings.admin))
        places_.push_back(*admin);
    for (std::string const& each : log_files_of(settings))
        logs_.insert(absolute_path(folder_, each));
}

bool permissions::may_read(std::string_view path) const
{
    std::string const wanted = absolute_path(folder_, path);
    auto const is_in_folder = [&](std::string const& crls) {
        return app::names_below(crls, wanted).size() == 1;
    };
    if (files_.contains(wanted) || std::ranges::any_of(crls_, is_in_folder))
        return true;
    if (!challenges_.empty() && wanted.ends_with(".pem") &&
        app::names_below(challenges_, wanted).size() == 1)
        return true;
    return std::ranges::any_of(pem_dirs_, [&](std::string const& pem_dir) {
        std::vector<std::string> const names = app::names_below(pem_dir, wanted);
        return !names.empty() && (names.size() == 1 || pem_dir_recursive_) &&
               (pem_dir_glob_.empty() ||
                ::fnmatch(pem_dir_glob_.c_str(), names.back().c_str(), 0) == 0);
    });
}

std::size_t permissions::names_below(std::string_view path) const
{
    std::string const wanted = absolute_path(folder_, path);
    std::size_t most = challenges_.empty() ? 0 : app::names_below(challenges_, wanted).size();
    for (std::string const& crls : crls_)
        most = std::max(most, app::names_below(crls, wanted).size());
    for (std::string const& pem_dir : pem_dirs_)
        most = std::max(most, app::names_below(pem_dir, wanted).size());
    return files_.contains(wanted) ? 0 : most;
}

bool permissions::may_list(std::string_view path) const
{
    std::string const wanted = absolute_path(folder_, path);
    bool const is_challenges = !challenges_.empty() && wanted == challenges_;
    if (is_challenges || std::ranges::find(crls_, wanted) != crls_.end())
        return true;
    return std::ranges::any_of(pem_dirs_, [&](std::string const& pem_dir) {
        return wanted == pem_dir ||
               (pem_dir_recursive_ && !app::names_below(pem_dir, wanted).empty());
    });
}

bool permissions::may_log_to(std::string_view path) const
{
    return logs_.contains(absolute_path(folder_, path));
}

bool permissions::may_bind(bind_address const& address) const
{
    return std::ranges::any_of(places_, [&](host_port const& each) {
        if (each.port != address.port())
            return false;
        if (each.host == "*" || each.host.empty())
            return is_any_address(address);
        return is_numeric_host(each.host, address).value_or(true);
    });
}

} // namespace cleat::app
