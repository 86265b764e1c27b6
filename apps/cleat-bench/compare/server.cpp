#include "compare/quiet_client.hpp"
#include "compare/server.hpp"
#include "generate/http2_transaction.hpp"
#include "generate/load_spec.hpp"
#include "system/files.hpp"
#include "system/processes.hpp"

#include <cleat/core/unique_fd.hpp>
#include <cleat/tls/context.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace cleat::bench {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr auto start_patience = 60s;  // It may have many certificates, and a busy machine.
constexpr auto target_patience = 10s; // For a server that runs already.
constexpr auto one_try = 2s;
constexpr auto between_tries = 20ms;
// A server that refuses handshakes for so long does not accept one later.
constexpr auto refusal_patience = 1s;
constexpr int ports_tried_max = 5;
constexpr std::size_t log_lines_max = 15;

net::address loopback(unsigned port)
{
    sockaddr_in socket_address{};
    socket_address.sin_family = AF_INET;
    socket_address.sin_port = htons(static_cast<std::uint16_t>(port));
    socket_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    net::address made;
    *reinterpret_cast<sockaddr_in*>(&made.storage) = socket_address;
    made.size = sizeof socket_address;
    return made;
}

// A port that is free now; another program may take it before the server binds it.
unsigned free_port()
{
    net::address any = loopback(0);
    unique_fd const probe{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (!probe || ::bind(probe.get(), any.data(), any.size) != 0)
        throw start_failure{"no free port"};
    auto const bound = net::local_address(probe.get());
    return bound ? bound->port() : 0;
}

std::string lower_case(std::string text)
{
    std::ranges::transform(
        text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

// The first line that reports an error; empty if none does.
std::string error_line(std::string const& log)
{
    std::istringstream lines{log};
    for (std::string line; std::getline(lines, line);) {
        std::string const lower = lower_case(line);
        for (char const* const word :
             {"error", "emerg", "alert", "fatal", "fail", "invalid", "unable", "cannot", "unknown",
              "not supported"})
            if (lower.find(word) != std::string::npos)
                return line;
    }
    return {};
}

// Whether TLS itself failed, not the connection below it.
bool is_refusal(std::string const& failure)
{
    return failure.starts_with("handshake: ") && failure != "handshake: timeout" &&
           failure != "handshake: reset";
}

std::string last_lines(std::string const& log)
{
    std::string_view rest{log};
    while (rest.ends_with('\n'))
        rest.remove_suffix(1);
    std::size_t newline = rest.size();
    for (std::size_t lines = 0; lines != log_lines_max && newline != std::string::npos; ++lines)
        newline = newline == 0 ? std::string::npos : rest.rfind('\n', newline - 1);
    return rest.empty() ? "it said nothing"
                        : std::string{rest.substr(newline == std::string::npos ? 0 : newline + 1)};
}

bool port_was_taken(std::string const& log)
{
    std::string const lower = lower_case(log);
    return lower.find("address already in use") != std::string::npos ||
           lower.find("address in use") != std::string::npos;
}

// Why a connection does not have the protocol that its client has offered; empty if it has it.
std::string other_protocol(connection_attempt const& attempt, tls::context_spec const& client)
{
    std::string_view const selected = attempt.client.channel->engine().info().alpn;
    return client.alpn.empty() || selected == client.alpn.front() ? "" : no_http2(selected);
}

// Empty if the server is ready, else why it is not.
std::string wait_until_ready(
    child& process, net::address const& address, tls::context_spec const& client_spec,
    interruption& stop)
{
    tls::context const client{client_spec};
    auto const deadline = clock::now() + start_patience;
    std::string last_failure = "nothing was tried";
    std::optional<clock::time_point> first_refusal;
    while (clock::now() < deadline) {
        if (stop.asked())
            throw interrupted{};
        connection_attempt const attempt = shake_hands(address, client, one_try);
        if (attempt.failure.empty())
            return other_protocol(attempt, client_spec);
        last_failure = attempt.failure;
        if (std::optional<std::string> const end = process.ended())
            return *end;
        if (!is_refusal(last_failure))
            first_refusal.reset();
        else if (!first_refusal)
            first_refusal = clock::now();
        else if (clock::now() - *first_refusal > refusal_patience)
            return last_failure;
        std::this_thread::sleep_for(between_tries);
    }
    return fmt::format(
        "no handshake within {} s, the last try: {}", start_patience.count(), last_failure);
}

// Writes the configuration of a preset that has one, and gives its text.
std::string write_config(
    server_preset const& preset, std::string const& file_name, template_values const& values)
{
    if (preset.config_name.empty())
        return {};
    std::string config = fill_template(preset.config, preset.config_name, values);
    std::ofstream file{file_name, std::ios::binary};
    file << config << std::flush;
    if (!file)
        throw start_failure{fmt::format("{}: cannot be written", file_name)};
    return config;
}

std::vector<std::string> command_for(
    server_preset const& preset, fs::path const& program, template_values const& values)
{
    std::vector<std::string> command{program.string()};
    for (std::string const& argument : preset.arguments) {
        std::string word = fill_template(argument, preset.name, values);
        bool const is_left_out = word.empty() && !argument.empty(); // By its condition.
        if (!is_left_out)
            command.push_back(std::move(word));
    }
    for (std::string& word : command)
        if (word.ends_with('\n'))
            word.pop_back(); // A template has lines.
    return command;
}

// Starts a preset's program on a free port and waits until `client` completes a handshake with it.
server start(
    server_preset const& preset, fs::path const& program, server_settings settings,
    std::vector<std::string> const& variables, tls::context_spec const& client,
    std::unique_ptr<cpu_quota> quota, temporary_directory& directory, interruption& stop)
{
    for (int tried = 1;; ++tried) {
        settings.port = free_port();
        fs::path const folder = directory.make_folder(preset.name);
        settings.folder = folder.string();
        settings.config = (folder / preset.config_name).string();
        template_values const values = values_for(settings);
        std::string config = write_config(preset, settings.config, values);
        std::vector<std::string> const command = command_for(preset, program, values);
        int const join_file = quota ? quota->join_file() : -1;
        child process{
            {command, settings.cores, folder / "log", stop.before(), join_file, variables}};
        net::address const address = loopback(settings.port);
        std::string const reason = wait_until_ready(process, address, client, stop);
        if (reason.empty()) {
            int const pid = process.pid();
            return {
                .quota = std::move(quota),
                .process = std::move(process),
                .pids = {pid},
                .address = address,
                .command = fmt::format("{}", fmt::join(command, " ")),
                .config = std::move(config),
                .folder = folder,
                .server_name = client.server_name,
                .host = {}};
        }
        process.stop();
        std::string const log = process.output();
        if (tried == ports_tried_max || !port_was_taken(log))
            throw start_failure{reason, log};
    }
}

} // namespace

start_failure::start_failure(std::string const& reason, std::string const& log)
    : std::runtime_error{reason + "\n" + last_lines(log)}, brief{reason}
{
    if (std::string const line = error_line(log); !line.empty())
        brief += ": " + line;
}

tls::context_spec client_spec_for(scenario_spec const& scenario)
{
    using version = tls::protocol_version;
    tls::context_spec spec = client_defaults();
    bool const old = scenario.tls == "1.2";
    spec.version_min = spec.version_max = old ? version::tls_1_2 : version::tls_1_3;
    spec.groups = scenario.groups;
    spec.server_name = "localhost";
    // In TLS 1.2 the groups are also the curves that a certificate may be on; the servers, which
    // have the scenario's alone, choose none of them for the key exchange.
    if (old && scenario.key == "ecdsa-p256")
        spec.groups += ":P-256";
    if (old)
        spec.ciphers = scenario.ciphers.empty()
                           ? "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256"
                           : scenario.ciphers;
    else
        spec.ciphersuites =
            scenario.ciphersuites.empty() ? "TLS_AES_128_GCM_SHA256" : scenario.ciphersuites;
    // Some libraries do not offer Ed25519 by default.
    if (scenario.key == "ed25519")
        spec.signature_algorithms = "ed25519";
    if (scenario.streams != 0)
        spec.alpn = {"h2"};
    return spec;
}

server start_server(
    scenario_spec const& scenario, server_preset const& preset, fs::path const& program,
    server_environment const& environment, temporary_directory& directory, interruption& stop)
{
    server_settings settings;
    settings.upstream = environment.upstream;
    fs::path const pem = directory.certificate(scenario.key);
    settings.pem = pem.string();
    settings.groups = scenario.groups;
    settings.tls = scenario.tls;
    settings.ciphers = scenario.ciphers;
    settings.session_ids = scenario.session_ids;
    settings.alpn = scenario.streams != 0 ? "h2" : "";
    settings.workers = environment.workers;
    settings.cores = environment.cores;
    tls::context_spec client = client_spec_for(scenario);
    client.verify = tls::peer_verification::required;
    client.verify_authorities = read_file(fs::path{pem}.replace_extension(".crt").string());
    client.verify_origin = "the certificate";
    std::unique_ptr<cpu_quota> quota;
    if (scenario.server_cpu)
        quota = std::make_unique<cpu_quota>(*scenario.server_cpu);
    return start(
        preset, program, std::move(settings), environment.variables, client, std::move(quota),
        directory, stop);
}

server attach_to(
    running_target const& target, scenario_spec const& scenario, temporary_directory& directory)
{
    for (int const pid : target.pids)
        if (!exists(pid))
            throw start_failure{fmt::format("its process {} has ended", pid)};
    tls::context_spec client = client_spec_for(scenario);
    client.server_name = target.server_name;
    tls::context const context{client}; // Outlives the connection.
    connection_attempt const attempt = shake_hands(target.address, context, target_patience);
    if (!attempt.failure.empty())
        throw start_failure{attempt.failure};
    if (std::string const other = other_protocol(attempt, client); !other.empty())
        throw start_failure{other};
    server found;
    found.pids = target.pids;
    found.address = target.address;
    found.folder = directory.make_folder("target");
    found.server_name = target.server_name;
    found.host = target.host;
    return found;
}

std::string version_of(
    server_preset const& preset, fs::path const& program, temporary_directory& directory,
    interruption& stop)
{
    try {
        std::string output = run_to_end(
            {{program.string(), preset.version_option},
             {},
             directory.path() / "version.log",
             stop.before()});
        // Some print an empty line before it, or what they are about to do.
        for (std::string_view const word : {"stunnel ", "version"})
            if (std::size_t const found = output.find(word); found != std::string::npos) {
                std::size_t const newline = output.rfind('\n', found);
                output.erase(0, newline == std::string::npos ? 0 : newline + 1);
                break;
            }
        if (output.starts_with("cleat"))
            std::ranges::replace(output, '\n', ' ');
        output.erase(std::min(output.find('\n'), output.size()));
        return output;
    } catch (std::runtime_error const& e) {
        return fmt::format("unknown: {}", e.what());
    }
}

origin start_origin(
    fs::path const& programs, std::vector<int> const& cores, temporary_directory& directory,
    interruption& stop)
{
    fs::path const program = programs / "perf-origin";
    if (!fs::exists(program))
        throw std::runtime_error{fmt::format(
            "{} is missing, the server behind the servers: build it (scripts/build release "
            "perf-origin), or name the folder where it is with --binaries",
            program.string())};
    fs::path const log = directory.make_folder("origin") / "log";
    child process{{{program.string()}, cores, log, stop.before()}};
    auto const deadline = clock::now() + start_patience;
    while (clock::now() < deadline && !process.ended()) {
        if (stop.asked())
            throw interrupted{};
        std::string const output = process.output();
        std::size_t const colon = output.rfind(':');
        unsigned port = 0;
        if (output.starts_with("ready ") && output.ends_with('\n') && colon != std::string::npos &&
            std::from_chars(output.data() + colon + 1, output.data() + output.size(), port).ec ==
                std::errc{})
            return {std::move(process), port};
        std::this_thread::sleep_for(between_tries);
    }
    process.stop();
    throw start_failure{fmt::format("{} does not start", program.string()), process.output()};
}

} // namespace cleat::bench
