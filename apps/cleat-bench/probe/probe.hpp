// probe: finds out what a TLS server chooses and offers, by many connections to it.

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
    /// The time that each connection has from its first packet to the end of its handshake.
    std::chrono::milliseconds timeout{5000};
    /// How long a connection is kept open for tickets after its handshake if neither a ticket nor a
    /// response comes: some servers send tickets with their first bytes.
    std::chrono::milliseconds ticket_wait{1000};
    /// The name for SNI and for the certificate; empty: the host.
    std::string server_name;
    std::string authorities;        ///< PEM text; empty: the system's.
    std::string authorities_origin; ///< Their file, for error messages.
    unsigned rounds = 5;            ///< Full handshakes that are timed.
    unsigned resumptions = 4;       ///< Attempts for each way to resume, one after the other.
};

/// chooser is the side whose order of cipher suites decides.
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
    std::vector<std::string> suites; ///< Accepted; in the server's order if it chooses.
    chooser order = chooser::unknown;
};

/// probed_certificate is a leaf and its chain.
struct probed_certificate
{
    tls::shown_certificate leaf;
    std::size_t chain_length = 0; ///< Certificates sent, with the leaf.
    tls::trust trust;
};

/// sni_reaction is what the server does with another SNI than the probe's.
struct sni_reaction
{
    enum class kind : std::uint8_t
    {
        unknown,   ///< Not tried, or the connection failed otherwise.
        same,      ///< It sends the same certificate.
        different, ///< It sends another: `detail` is its subject.
        refused    ///< It ends the handshake: `detail` is the failure.
    };
    kind reaction = kind::unknown;
    std::string detail;
};

/// probed_resumption is one way to resume.
struct probed_resumption
{
    bool offered = false;            ///< The server sent such a session.
    std::size_t tickets = 0;         ///< After one full handshake.
    std::chrono::seconds lifetime{}; ///< The tickets' hint; zero: none given.
    unsigned tried = 0;
    unsigned resumed = 0; ///< How many of the tried connections resumed.
    bool renews = false;  ///< A resumed connection got a new session.
    /// TLS 1.3: a used ticket is accepted again; unset: not found out.
    std::optional<bool> accepts_used_ticket;
};

/// probed_finding is a sentence of the verdict.
struct probed_finding
{
    bool good = true;
    std::string text;
};

/// probe_report is what was found. If `error` is set, the server could not be probed, and the rest
/// is empty.
struct probe_report
{
    std::string target;     ///< HOST:PORT as requested.
    std::string address;    ///< The one connected to: "192.0.2.1:443".
    std::string client;     ///< The client's TLS library: "AWS-LC 5.12.0".
    std::string error;      ///< A sentence with the target and the cure; empty: it was probed.
    std::string incomplete; ///< Why a part of the report is missing; empty: none is.

    // Negotiated with a client that has cleat's defaults.
    std::string version;
    std::string suite;
    std::string group;
    std::string signature_scheme; ///< Empty if the library does not report it.

    std::vector<probed_version> versions;  ///< Of those that cleat supports, the latest first.
    std::vector<std::string> old_versions; ///< Accepted of "TLS 1.1", "TLS 1.0" and "SSL 3.0".
    std::vector<std::string> groups;       ///< Those that the server accepts.
    std::vector<std::string> other_groups; ///< Those that were offered, and not accepted.
    std::optional<bool> post_quantum;      ///< Unset: this program's library has no such group.
    std::vector<std::string> alpn;         ///< Of h2 and http/1.1; the preferred one first.
    std::vector<probed_certificate> certificates; ///< One of each kind of key; the default first.
    sni_reaction without_sni;
    sni_reaction unknown_sni;
    bool client_certificate_required = false; ///< Known of TLS 1.3 only.

    probed_resumption session_ids;    ///< TLS 1.2.
    probed_resumption old_tickets;    ///< TLS 1.2.
    probed_resumption recent_tickets; ///< TLS 1.3.

    // Medians, with the version that the server prefers; unset: no handshake of this kind.
    std::optional<std::chrono::nanoseconds> tcp;
    std::optional<std::chrono::nanoseconds> tls_full;
    std::optional<std::chrono::nanoseconds> tls_resumed;

    std::chrono::system_clock::time_point when; ///< Of the probe: days left count from here.
    std::vector<probed_finding> verdict;

    /// any_weak: the verdict has a weakness, or the server could not be probed.
    [[nodiscard]] bool any_weak() const noexcept;
    /// find_version in `versions`; null if the server does not offer it.
    [[nodiscard]] probed_version const* find_version(tls::protocol_version v) const noexcept;
};

/// probe connects to host:port a few dozen times, one connection after the other, and blocks until
/// it is done. A server that cannot be probed is reported in probe_report::error. Throws
/// tls::spec_error for invalid authorities, and std::bad_alloc.
[[nodiscard]] probe_report probe(
    std::string const& host, std::string const& port, probe_options const& options);

/// probe_target parses HOST, HOST:PORT, [V6]:PORT or https://HOST/ (default port 443) and probes
/// it. An invalid text is reported in probe_report::error.
[[nodiscard]] probe_report probe_target(std::string const& text, probe_options const& options);

/// judge is the verdict on what was found: weaknesses first.
[[nodiscard]] std::vector<probed_finding> judge(probe_report const& report);

/// to_text is the report on one server, in several lines.
[[nodiscard]] std::string to_text(probe_report const& report);

/// to_line is the report on one of many servers: one line, with its newline.
[[nodiscard]] std::string to_line(probe_report const& report);

[[nodiscard]] json::object to_json(probe_report const& report);

} // namespace cleat::bench
