#include "compare/quiet_client.hpp"
#include "compare/server.hpp"
#include "generate/load_spec.hpp"
#include "system/files.hpp"

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

constexpr auto ready_patience = 10s;
constexpr auto one_try = 2s;
constexpr auto between_tries = 20ms;
// A server that refuses a handshake for so long does not come to like it.
constexpr auto refusal_patience = 1s;
constexpr int ports_tried_max = 5;
constexpr std::size_t log_lines_max = 15;

// A port that was free a moment ago; who binds it may find it taken.
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

// The first line that has a word of trouble in it; empty where none has.
std::string telling_line(std::string const& log)
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

// Whether TLS itself is what failed, rather than what comes before it.
bool is_refusal(std::string const& failure)
{
    return failure.starts_with("handshake: ") && failure != "handshake: timeout" &&
           failure != "handshake: reset";
}

std::string tail_of(std::string const& log)
{
    std::string_view rest{log};
    while (rest.ends_with('\n'))
        rest.remove_suffix(1);
    std::size_t from = rest.size();
    for (std::size_t lines = 0; lines != log_lines_max && from != std::string::npos; ++lines)
        from = from == 0 ? std::string::npos : rest.rfind('\n', from - 1);
    return rest.empty() ? "it said nothing"
                        : std::string{rest.substr(from == std::string::npos ? 0 : from + 1)};
}

bool port_was_taken(std::string const& log)
{
    std::string const lower = lower_case(log);
    return lower.find("address already in use") != std::string::npos ||
           lower.find("address in use") != std::string::npos;
}

// Empty: it is ready. Otherwise why it is not.
std::string wait_until_ready(
    child& process, net::address const& at, tls::context const& client, interruption& stop)
{
    auto const until = clock::now() + ready_patience;
    std::string last = "nothing was tried";
    std::optional<clock::time_point> refused;
    while (clock::now() < until) {
        if (stop.asked())
            throw interrupted{};
        attempted const one = shake_hands(at, client, one_try);
        if (one.failure.empty())
            return {};
        last = one.failure;
        if (std::optional<std::string> const end = process.ended())
            return *end;
        if (!is_refusal(last))
            refused.reset();
        else if (!refused)
            refused = clock::now();
        else if (clock::now() - *refused > refusal_patience)
            return last;
        std::this_thread::sleep_for(between_tries);
    }
    return fmt::format("no handshake within {} s, the last try: {}", ready_patience.count(), last);
}

std::string typed(std::vector<std::string> const& words)
{
    return fmt::format("{}", fmt::join(words, " "));
}

} // namespace

start_failure::start_failure(std::string const& why, std::string const& log)
    : std::runtime_error{why + "\n" + tail_of(log)}, brief{why}
{
    if (std::string const line = telling_line(log); !line.empty())
        brief += ": " + line;
}

net::address loopback(unsigned port)
{
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(static_cast<std::uint16_t>(port));
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    net::address made;
    *reinterpret_cast<sockaddr_in*>(&made.storage) = in;
    made.size = sizeof in;
    return made;
}

server start(
    preset const& of, fs::path const& program, setting use, tls::context_spec const& client,
    std::unique_ptr<cpu_ration> ration, workshop& in, interruption& stop)
{
    tls::context const knocks{client};
    for (int tried = 1;; ++tried) {
        use.port = free_port();
        fs::path const folder = in.own_folder(std::string{of.name});
        use.folder = folder.string();
        use.config = (folder / of.config_name).string();
        template_values const values = values_for(use);
        std::string config;
        if (!of.config_name.empty()) {
            config = fill_template(of.config, of.config_name, values);
            std::ofstream file{use.config, std::ios::binary};
            file << config << std::flush;
            if (!file)
                throw start_failure{fmt::format("{}: cannot be written", use.config)};
        }
        std::vector<std::string> words{program.string()};
        for (std::string const& argument : of.arguments)
            words.push_back(fill_template(argument, of.name, values));
        for (std::string& word : words)
            if (word.ends_with('\n'))
                word.pop_back(); // A template has lines.
        int const joins = ration ? ration->joins() : -1;
        child process{{words, use.cores, folder / "log", stop.before(), joins}};
        net::address const at = loopback(use.port);
        std::string const why = wait_until_ready(process, at, knocks, stop);
        if (why.empty())
            return {std::move(ration), std::move(process), at, typed(words), std::move(config)};
        process.stop();
        std::string const said = process.said();
        if (tried == ports_tried_max || !port_was_taken(said))
            throw start_failure{why, said};
    }
}

tls::context_spec client_for(scenario const& what)
{
    using version = tls::protocol_version;
    tls::context_spec spec = client_defaults();
    bool const old = what.tls == "1.2";
    spec.version_min = spec.version_max = old ? version::tls_1_2 : version::tls_1_3;
    spec.groups = what.groups;
    spec.server_name = "localhost";
    // In TLS 1.2 the groups are also the curves that a certificate may be on; the servers, which
    // have the scenario's alone, choose none of them for the key exchange.
    if (old && what.key == "ecdsa-p256")
        spec.groups += ":P-256";
    if (old)
        spec.ciphers = what.ciphers.empty()
                           ? "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256"
                           : what.ciphers;
    else
        spec.ciphersuites =
            what.ciphersuites.empty() ? "TLS_AES_128_GCM_SHA256" : what.ciphersuites;
    // Not every library offers this one by itself.
    if (what.key == "ed25519")
        spec.signature_algorithms = "ed25519";
    return spec;
}

server start_for(
    scenario const& what, preset const& of, fs::path const& program, seat const& on, workshop& in,
    interruption& stop)
{
    setting use;
    use.upstream = on.upstream;
    fs::path const pem = in.certificate(what.key);
    use.pem = pem.string();
    use.groups = what.groups;
    use.tls = what.tls;
    use.ciphers = what.ciphers;
    use.session_ids = what.session_ids;
    use.workers = on.workers;
    use.cores = on.cores;
    tls::context_spec client = client_for(what);
    client.verify = tls::peer_verification::required;
    client.verify_authorities = read_file(fs::path{pem}.replace_extension(".crt").string());
    client.verify_origin = "the certificate";
    std::unique_ptr<cpu_ration> ration;
    if (what.server_cpu)
        ration = std::make_unique<cpu_ration>(*what.server_cpu);
    return start(of, program, std::move(use), client, std::move(ration), in, stop);
}

std::string version_of(preset const& of, fs::path const& program, workshop& in, interruption& stop)
{
    try {
        std::string said = run_to_end(
            {{program.string(), of.version}, {}, in.folder() / "version.log", stop.before()});
        // Some begin with an empty line, or with what they are about to do.
        for (std::string_view const word : {"stunnel ", "version"})
            if (std::size_t const at = said.find(word); at != std::string::npos) {
                std::size_t const begin = said.rfind('\n', at);
                said.erase(0, begin == std::string::npos ? 0 : begin + 1);
                break;
            }
        if (said.starts_with("cleat"))
            std::ranges::replace(said, '\n', ' ');
        said.erase(std::min(said.find('\n'), said.size()));
        return said;
    } catch (std::runtime_error const& e) {
        return fmt::format("unknown: {}", e.what());
    }
}

origin start_origin(
    fs::path const& programs, std::vector<int> const& cores, workshop& in, interruption& stop)
{
    fs::path const program = programs / "perf-origin";
    if (!fs::exists(program))
        throw std::runtime_error{fmt::format(
            "{} is missing, the server behind the servers: build it (scripts/build release "
            "perf-origin), or name the folder where it is with --binaries",
            program.string())};
    fs::path const log = in.own_folder("origin") / "log";
    child process{{{program.string()}, cores, log, stop.before()}};
    auto const until = clock::now() + ready_patience;
    while (clock::now() < until && !process.ended()) {
        if (stop.asked())
            throw interrupted{};
        std::string const said = process.said();
        std::size_t const colon = said.rfind(':');
        unsigned port = 0;
        if (said.starts_with("ready ") && said.ends_with('\n') && colon != std::string::npos &&
            std::from_chars(said.data() + colon + 1, said.data() + said.size(), port).ec ==
                std::errc{})
            return {std::move(process), port};
        std::this_thread::sleep_for(between_tries);
    }
    process.stop();
    throw start_failure{fmt::format("{} does not start", program.string()), process.said()};
}

} // namespace cleat::bench
