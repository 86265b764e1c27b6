// probe_report: what a probe finds out about a TLS server.

#pragma once

#include "wire/registry.hpp"

#include <cleat/tls/peer_facts.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cleat::bench {

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
    wire::version version = wire::version::tls_1_2;
    /// Accepted; in the server's order if it chooses. OpenSSL's names, or IANA's where OpenSSL has
    /// none.
    std::vector<std::string> suites;
    chooser order = chooser::unknown;
};

/// probed_answer is one question about the server, and what it showed.
struct probed_answer
{
    std::string name;
    std::optional<bool> yes; ///< Unset: not tried, or not found out.
    std::string detail;      ///< Unset: why. Otherwise what was seen; may be empty.
};

/// feature_name has the names of the features that the verdict looks for.
namespace feature_name {
inline constexpr char fallback_signal[] = "fallback SCSV";
inline constexpr char secure_renegotiation[] = "renegotiation";
inline constexpr char client_renegotiation[] = "renegotiation by the client";
inline constexpr char extended_master_secret[] = "master secret";
inline constexpr char compression[] = "compression";
inline constexpr char staple[] = "OCSP staple";
} // namespace feature_name

/// probed_certificate is a leaf and its chain.
struct probed_certificate
{
    tls::shown_certificate leaf;
    std::size_t chain_length = 0; ///< Certificates sent, with the leaf.
    bool in_order = true;         ///< Each but the last is followed by its issuer.
    bool has_root = false;        ///< The last of several is self-signed: clients have it already.
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

/// probed_member is a server of the fleet, and whether it resumes sessions of the probed one.
struct probed_member
{
    std::string host; ///< As requested.
    std::string address;
    std::string error; ///< Why it could not be asked; then the rest is empty.
    std::vector<probed_answer> ways;
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

    std::vector<probed_version> versions;  ///< Accepted, the latest first.
    std::vector<std::string> groups;       ///< Those that the server accepts.
    std::vector<std::string> other_groups; ///< Not accepted, of those that clients offer today.
    std::optional<bool> post_quantum;      ///< Unset: not found out.
    std::vector<std::string> alpn;         ///< Accepted, the preferred one first.
    std::vector<probed_answer> features;
    std::vector<probed_answer> tolerance;         ///< `yes`: such a ClientHello is accepted.
    std::vector<probed_answer> vulnerabilities;   ///< `yes`: vulnerable.
    std::vector<probed_certificate> certificates; ///< One of each kind of key; the default first.
    sni_reaction without_sni;
    sni_reaction unknown_sni;
    bool client_certificate_required = false; ///< Known of TLS 1.3 only.

    probed_resumption session_ids;    ///< TLS 1.2.
    probed_resumption old_tickets;    ///< TLS 1.2.
    probed_resumption recent_tickets; ///< TLS 1.3.
    std::vector<probed_member> fleet;

    // Medians, with the version that the server prefers; unset: no handshake of this kind.
    std::optional<std::chrono::nanoseconds> tcp;
    std::optional<std::chrono::nanoseconds> tls_full;
    std::optional<std::chrono::nanoseconds> tls_resumed;

    std::chrono::system_clock::time_point when; ///< Of the probe: days left count from here.
    std::optional<unsigned> warn_days;          ///< Fewer days left are a weakness.
    std::vector<probed_finding> verdict;

    /// any_weak: the verdict has a weakness, or the server could not be probed.
    [[nodiscard]] bool any_weak() const noexcept;
    /// not_tried are the questions without an answer, each with its reason.
    [[nodiscard]] std::vector<probed_answer> not_tried() const;
    /// find_version in `versions`; null if the server does not offer it.
    [[nodiscard]] probed_version const* find_version(wire::version v) const noexcept;
};

} // namespace cleat::bench
