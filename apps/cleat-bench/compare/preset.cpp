#include "compare/preset.hpp"
#include "peer_configs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <pwd.h>
#include <unistd.h>

namespace cleat::bench {
namespace {

namespace fs = std::filesystem;

std::string_view environment_variable(char const* name)
{
    char const* const found = std::getenv(name);
    return found == nullptr ? std::string_view{} : found;
}

// The same as in peers/install.
fs::path peers_folder()
{
    if (std::string_view const cache = environment_variable("CLEAT_CACHE_DIR"); !cache.empty())
        return fs::path{cache} / "peers";
    if (std::string_view const cache = environment_variable("XDG_CACHE_HOME"); !cache.empty())
        return fs::path{cache} / "cleat/peers";
    return fs::path{environment_variable("HOME")} / ".cache/cleat/peers";
}

std::vector<fs::path> folders_of(program_source source, fs::path const& build_folder)
{
    if (source == program_source::own_build)
        return {build_folder};
    if (source == program_source::peers)
        return {peers_folder()};
    std::vector<fs::path> found;
    for (std::string_view rest = environment_variable("PATH"); !rest.empty();) {
        std::size_t const colon = std::min(rest.find(':'), rest.size());
        found.emplace_back(rest.substr(0, colon));
        rest.remove_prefix(std::min(colon + 1, rest.size()));
    }
    // Servers are on root's PATH only.
    found.insert(found.end(), {"/usr/local/sbin", "/usr/sbin", "/usr/local/bin", "/usr/bin"});
    return found;
}

// The user for servers that refuse to run as root.
std::string unprivileged_user()
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

// The controls of this project (perf/controls).
server_preset control(std::string name, std::string_view program)
{
    return {
        .name = std::move(name),
        .source = program_source::own_build,
        .programs = {program},
        .config_name = {},
        .config = {},
        .arguments =
            {"--listen", "127.0.0.1:@PORT@", "--upstream", "127.0.0.1:@UPSTREAM@", "--pem", "@PEM@",
             "--groups", "@GROUPS@", "--tls", "@TLS@", "#with ALPN: --alpn=@ALPN@"},
        .version_option = "--version",
        .one_worker = true,
        .install = "it is built beside cleat-bench: name its folder with --binaries",
    };
}

// Its workers are threads that run one io_context.
server_preset asio_control()
{
    server_preset made = control("asio", "perf-asio-relay");
    made.arguments.insert(made.arguments.end(), {"--threads", "@WORKERS@"});
    made.one_worker = false;
    return made;
}

constexpr std::string_view from_packages = "apps/cleat-bench/compare/peers/install gets it";

std::vector<server_preset> make_presets() // house(function-length): a table, row by row
{
    server_preset const haproxy{
        "haproxy",
        program_source::system,
        {"haproxy"},
        "haproxy.conf",
        peer_configs::haproxy(),
        {"-db", "-f", "@CONFIG@"},
        "-v",
        false,
        from_packages};
    server_preset haproxy_awslc = haproxy;
    haproxy_awslc.name = "haproxy-awslc";
    haproxy_awslc.source = program_source::peers;
    haproxy_awslc.programs = {"haproxy-awslc"};
    haproxy_awslc.install = "apps/cleat-bench/compare/peers/install haproxy-awslc builds it";
    return {
        {"cleat",
         program_source::own_build,
         {"cleat"},
         "cleat.conf",
         peer_configs::cleat(),
         {"--config", "@CONFIG@"},
         "--version",
         false,
         "it is built beside cleat-bench: name its folder with --binaries"},
        control("epoll", "perf-epoll-relay"),
        asio_control(),
        {"nginx",
         program_source::system,
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
         program_source::system,
         {"hitch"},
         "hitch.conf",
         peer_configs::hitch(),
         {"--config=@CONFIG@"},
         "--version",
         false,
         from_packages},
        {"stunnel",
         program_source::system,
         {"stunnel4", "stunnel"},
         "stunnel.conf",
         peer_configs::stunnel(),
         {"@CONFIG@"},
         "-version",
         false,
         from_packages},
        {"envoy",
         program_source::peers,
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

std::vector<server_preset> const& presets()
{
    static std::vector<server_preset> const all = make_presets();
    return all;
}

std::vector<std::string> preset_names()
{
    std::vector<std::string> found;
    for (server_preset const& each : presets())
        found.emplace_back(each.name);
    return found;
}

server_preset const* find_preset(std::string_view name)
{
    auto const found = std::ranges::find(presets(), name, &server_preset::name);
    return found == presets().end() ? nullptr : &*found;
}

template_values values_for(server_settings const& settings)
{
    // The process's own cores pin a single worker; several workers get one core each if there are
    // enough.
    bool const pin = settings.workers > 1 && settings.cores.size() >= settings.workers;
    std::vector<int> const cores =
        pin ? std::vector<int>(settings.cores.begin(), settings.cores.begin() + settings.workers)
            : std::vector<int>{};
    return {
        {"PORT", std::to_string(settings.port)},
        {"UPSTREAM", std::to_string(settings.upstream)},
        {"PEM", settings.pem},
        {"CERT", fs::path{settings.pem}.replace_extension(".crt").string()},
        {"KEY", fs::path{settings.pem}.replace_extension(".key").string()},
        {"FOLDER", settings.folder},
        {"CONFIG", settings.config},
        {"GROUPS", settings.groups},
        {"TLS", settings.tls},
        {"TLS_MINOR", settings.tls.substr(settings.tls.size() - 1)},
        {"CIPHERS", settings.ciphers},
        {"ALPN", settings.alpn},
        {"BIND_ALPN", settings.alpn.empty() ? "" : " alpn " + settings.alpn},
        {"SESSION_IDS", settings.session_ids ? "on" : ""},
        {"WORKERS", std::to_string(settings.workers)},
        {"CORES", fmt::format("{}", fmt::join(cores, " "))},
        {"CORE_MASK", pin ? mask_of(cores) : ""},
        {"USER", unprivileged_user()},
    };
}

std::optional<fs::path> find_program(server_preset const& preset, fs::path const& build_folder)
{
    std::error_code ignored;
    for (std::string_view const program : preset.programs)
        for (fs::path const& folder : folders_of(preset.source, build_folder)) {
            fs::path const path = folder / program;
            if (fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0)
                return path;
        }
    return std::nullopt;
}

} // namespace cleat::bench
