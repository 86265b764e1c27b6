// probe: what a TLS server chooses and offers, found out by connecting to it in many ways.

#pragma once

#include "text/json.hpp"

#include <cleat/tls/peer_facts.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::bench {

struct probe_options
{
    /// Of each connection, from the first packet to the end of its handshake.
    std::chrono::milliseconds timeout{5000};
    /// How long a connection is kept open for tickets after its handshake, where neither one nor an
    /// answer comes: some servers send theirs with their first bytes.
    std::chrono::milliseconds ticket_wait{1000};
    /// The name for SNI and for the certificate; empty: the host.
    std::string server_name;
    std::string authorities;        ///< PEM text; empty: the system's.
    std::string authorities_origin; ///< Where it came from, for error messages.
    unsigned rounds = 5;            ///< Full handshakes that are timed.
    unsigned resumptions = 4;       ///< Tried for each way to resume, one after the other.
};

/// chooser is who decides which of the shared cipher suites is used.
enum class chooser : std::uint8_t
{
    unknown, ///< Fewer than two suites are shared.
    server,
    client
};

/// probed_version is a version that the server offers.
struct probed_version
{
    tls::protocol_version version = tls::protocol_version::tls_1_2;
    std::vector<std::string> suites; ///< Accepted; in the server's order where it chooses.
    chooser order = chooser::unknown;
};

/// probed_certificate is a leaf and what came with it.
struct probed_certificate
{
    tls::shown_certificate leaf;
    std::size_t chain_length = 0; ///< Certificates sent, with the leaf.
    tls::trust trust;
};

/// probed_answer is what the server does about an SNI that is not the one it was probed with.
struct probed_answer
{
    enum class kind : std::uint8_t
    {
        unknown,   ///< It was not asked, or the connection failed otherwise.
        same,      ///< It shows the same certificate.
        different, ///< It shows another: `detail` is its subject.
        refused    ///< It ends the handshake: `detail` says how.
    };
    kind what = kind::unknown;
    std::string detail;
};

/// probed_resumption is one way to resume.
struct probed_resumption
{
    bool offered = false;            ///< The server gave a session of this way.
    std::size_t tickets = 0;         ///< With one full handshake.
    std::chrono::seconds lifetime{}; ///< The tickets' hint; zero: none given.
    unsigned tried = 0;
    unsigned resumed = 0; ///< Of those, the connections that were resumed.
    bool renews = false;  ///< A resumed connection brought a new session.
    /// TLS 1.3: a ticket that has been used is taken again; unset: not found out.
    std::optional<bool> twice;
};

/// probed_finding is a sentence of the verdict.
struct probed_finding
{
    bool good = true;
    std::string text;
};

/// probe_report is what was found. Where `error` is set, the server could not be probed, and the
/// rest is empty.
struct probe_report
{
    std::string target;     ///< HOST:PORT as it was asked for.
    std::string address;    ///< The one that was connected to: "192.0.2.1:443".
    std::string client;     ///< The TLS library that asked: "AWS-LC 5.12.0".
    std::string error;      ///< A sentence with the target and what to do; empty: it was probed.
    std::string incomplete; ///< Why some of it was not found out; empty where all was.

    // What a client with cleat's defaults gets.
    std::string version;
    std::string suite;
    std::string group;
    std::string signature_scheme; ///< Empty where the library does not tell.

    std::vector<probed_version> versions;  ///< Of those that cleat speaks, the latest first.
    std::vector<std::string> old_versions; ///< Accepted of "TLS 1.1", "TLS 1.0" and "SSL 3.0".
    std::vector<std::string> groups;       ///< Accepted.
    std::vector<std::string> other_groups; ///< Offered to it, and not accepted.
    std::optional<bool> post_quantum;      ///< Unset: this program's library has no such group.
    std::vector<std::string> alpn;         ///< Of h2 and http/1.1; the one it prefers first.
    std::vector<probed_certificate> certificates; ///< One of each kind of key; the default first.
    probed_answer without_sni;
    probed_answer unknown_sni;
    bool client_certificate_required = false; ///< As far as it says so: TLS 1.3 does.

    probed_resumption session_ids;    ///< TLS 1.2.
    probed_resumption old_tickets;    ///< TLS 1.2.
    probed_resumption recent_tickets; ///< TLS 1.3.

    // Medians, of the version that the server prefers; unset where there was none.
    std::optional<std::chrono::nanoseconds> tcp;
    std::optional<std::chrono::nanoseconds> tls_full;
    std::optional<std::chrono::nanoseconds> tls_resumed;

    std::chrono::system_clock::time_point when; ///< Of the probe: days left count from here.
    std::vector<probed_finding> verdict;

    /// any_weak: the verdict has something against it, or there is none.
    [[nodiscard]] bool any_weak() const noexcept;
    /// offers: `versions` has it.
    [[nodiscard]] probed_version const* offers(tls::protocol_version v) const noexcept;
};

/// probe connects to host:port a few dozen times, one connection after the other, and blocks until
/// it is done. What keeps it from probing is in probe_report::error; it throws tls::spec_error for
/// authorities that cannot be used, and std::bad_alloc.
[[nodiscard]] probe_report probe(
    std::string const& host, std::string const& port, probe_options const& options);

/// probe_target reads HOST, HOST:PORT, [V6]:PORT or https://HOST/ (port 443 where there is none)
/// and probes it. What is wrong with the text is in probe_report::error.
[[nodiscard]] probe_report probe_target(std::string const& text, probe_options const& options);

/// probed_failure is how far the first connection to a server came that cannot be probed.
struct probed_failure
{
    bool connected = false;  ///< TCP.
    std::string kind;        ///< As kind_of names failures: "refused", "timeout".
    int alert = -1;          ///< The server's (RFC 8446, section 6), or -1.
    std::string first_bytes; ///< Of what it sent.
};

/// sentence_on says what is wrong with a target, and what to do about it.
[[nodiscard]] std::string sentence_on(
    std::string_view target, std::chrono::milliseconds timeout, probed_failure const& failed);

/// judge is the verdict on what was found: first what is weak, and then what is good.
[[nodiscard]] std::vector<probed_finding> judge(probe_report const& of);

/// to_text is the report on one server, in several lines.
[[nodiscard]] std::string to_text(probe_report const& of);

/// to_line is the report on one of many servers: one line, with its end.
[[nodiscard]] std::string to_line(probe_report const& of);

[[nodiscard]] json::object to_json(probe_report const& of);

} // namespace cleat::bench
