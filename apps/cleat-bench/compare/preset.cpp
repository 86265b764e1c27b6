#include "compare/preset.hpp"
#include "peer_configs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include <pwd.h>
#include <unistd.h>

namespace cleat::bench {
namespace {

namespace fs = std::filesystem;

std::string_view word_of_environment(char const* name)
{
    char const* const found = std::getenv(name);
    return found == nullptr ? std::string_view{} : found;
}

// As peers/install has it.
fs::path peers_folder()
{
    if (std::string_view const cache = word_of_environment("CLEAT_CACHE_DIR"); !cache.empty())
        return fs::path{cache} / "peers";
    if (std::string_view const cache = word_of_environment("XDG_CACHE_HOME"); !cache.empty())
        return fs::path{cache} / "cleat/peers";
    return fs::path{word_of_environment("HOME")} / ".cache/cleat/peers";
}

std::vector<fs::path> folders_of(home from, fs::path const& own)
{
    if (from == home::own)
        return {own};
    if (from == home::peers)
        return {peers_folder()};
    std::vector<fs::path> found;
    for (std::string_view rest = word_of_environment("PATH"); !rest.empty();) {
        std::size_t const colon = std::min(rest.find(':'), rest.size());
        found.emplace_back(rest.substr(0, colon));
        rest.remove_prefix(std::min(colon + 1, rest.size()));
    }
    // Servers are on root's PATH only.
    found.insert(found.end(), {"/usr/local/sbin", "/usr/sbin", "/usr/local/bin", "/usr/bin"});
    return found;
}

// Who servers become that are not to be root.
std::string plain_user()
{
    if (::geteuid() == 0)
        return "nobody";
    passwd const* const found = ::getpwuid(::geteuid());
    return found == nullptr ? std::to_string(::geteuid()) : found->pw_name;
}

// nginx's notation: the highest CPU first.
std::string mask_of(std::vector<int> const& cores)
{
    std::string mask(static_cast<std::size_t>(*std::ranges::max_element(cores)) + 1, '0');
    for (int const core : cores)
        mask[mask.size() - 1 - static_cast<std::size_t>(core)] = '1';
    return mask;
}

preset control(std::string_view name, std::string_view program)
{
    return {
        .name = name,
        .from = home::own,
        .programs = {program},
        .config_name = {},
        .config = {},
        .arguments =
            {"--listen", "127.0.0.1:@PORT@", "--upstream", "127.0.0.1:@UPSTREAM@", "--pem", "@PEM@",
             "--groups", "@GROUPS@", "--tls", "@TLS@"},
        .version = "--version",
        .one_worker = true,
        .install = "it is built beside cleat-bench: name its folder with --binaries",
    };
}

constexpr std::string_view from_packages = "apps/cleat-bench/compare/peers/install gets it";

std::vector<preset> make_presets()
{
    preset const haproxy{
        "haproxy",
        home::system,
        {"haproxy"},
        "haproxy.conf",
        peer_configs::haproxy(),
        {"-db", "-f", "@CONFIG@"},
        "-v",
        false,
        from_packages};
    preset haproxy_awslc = haproxy;
    haproxy_awslc.name = "haproxy-awslc";
    haproxy_awslc.from = home::peers;
    haproxy_awslc.programs = {"haproxy-awslc"};
    haproxy_awslc.install = "apps/cleat-bench/compare/peers/install haproxy-awslc builds it";
    return {
        {"cleat",
         home::own,
         {"cleat"},
         "cleat.conf",
         peer_configs::cleat(),
         {"--config", "@CONFIG@"},
         "--version",
         false,
         "it is built beside cleat-bench: name its folder with --binaries"},
        control("epoll", "perf-epoll-relay"),
        control("asio", "perf-asio-relay"),
        {"nginx",
         home::system,
         {"nginx"},
         "nginx.conf",
         peer_configs::nginx(),
         {"-c", "@CONFIG@", "-p", "@FOLDER@/"},
         "-v",
         false,
         from_packages},
        haproxy,
        haproxy_awslc,
        {"hitch",
         home::system,
         {"hitch"},
         "hitch.conf",
         peer_configs::hitch(),
         {"--config=@CONFIG@"},
         "--version",
         false,
         from_packages},
        {"stunnel",
         home::system,
         {"stunnel4", "stunnel"},
         "stunnel.conf",
         peer_configs::stunnel(),
         {"@CONFIG@"},
         "-version",
         false,
         from_packages},
        {"envoy",
         home::peers,
         {"envoy"},
         "envoy.yaml",
         peer_configs::envoy(),
         {"-c", "@CONFIG@", "--concurrency", "@WORKERS@", "--disable-hot-restart", "--log-level",
          "error"},
         "--version",
         false,
         "apps/cleat-bench/compare/peers/install envoy gets it"},
    };
}

} // namespace

std::vector<preset> const& presets()
{
    static std::vector<preset> const all = make_presets();
    return all;
}

preset const* find_preset(std::string_view name)
{
    auto const found = std::ranges::find(presets(), name, &preset::name);
    return found == presets().end() ? nullptr : &*found;
}

template_values values_for(setting const& use)
{
    // One worker is pinned by the process's own cores; several can each have one, where there are
    // enough.
    bool const pin = use.workers > 1 && use.cores.size() >= use.workers;
    std::vector<int> const cores =
        pin ? std::vector<int>(use.cores.begin(), use.cores.begin() + use.workers)
            : std::vector<int>{};
    return {
        {"PORT", std::to_string(use.port)},
        {"UPSTREAM", std::to_string(use.upstream)},
        {"PEM", use.pem},
        {"FOLDER", use.folder},
        {"CONFIG", use.config},
        {"GROUPS", use.groups},
        {"TLS", use.tls},
        {"TLS_MINOR", use.tls.substr(use.tls.size() - 1)},
        {"CIPHERS", use.ciphers},
        {"SESSION_IDS", use.session_ids ? "on" : ""},
        {"WORKERS", std::to_string(use.workers)},
        {"CORES", fmt::format("{}", fmt::join(cores, " "))},
        {"CORE_MASK", pin ? mask_of(cores) : ""},
        {"USER", plain_user()},
    };
}

std::optional<fs::path> find_program(preset const& of, fs::path const& own)
{
    std::error_code none;
    for (std::string_view const program : of.programs)
        for (fs::path const& folder : folders_of(of.from, own)) {
            fs::path const at = folder / program;
            if (fs::is_regular_file(at, none) && ::access(at.c_str(), X_OK) == 0)
                return at;
        }
    return std::nullopt;
}

} // namespace cleat::bench
