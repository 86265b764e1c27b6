// The settings of one cleat, as plain structs: every key of the configuration with its default, and
// with the place where its value was written, so that a later error ("no such file") can name file
// and line. It has over 600 lines, because all keys are one table.

#pragma once

#include "admission/address_list.hpp"
#include "client_rules/allow_rule.hpp"
#include "config/address.hpp"
#include "route/route_table.hpp"

#include <cleat/core/limits.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::app {

/// location is where a value was written. A default-made location: nowhere, the value is built in.
struct location
{
    std::string source;  ///< A file's name as it was given, or a flag as it was typed: "--workers".
    unsigned line = 0;   ///< From 1; 0 for a flag.
    unsigned column = 0; ///< From 1, in bytes; 0 for a flag.

    [[nodiscard]] bool is_built_in() const noexcept { return source.empty(); }

    friend bool operator==(location const&, location const&) = default;
};

/// to_string writes "cleat.conf:12:5", "--workers" or "built-in default".
[[nodiscard]] std::string to_string(location const& place);

/// setting is a value with its location. It is used like a pointer to the value.
template <class T>
struct setting
{
    T value{};
    app::location location{};

    [[nodiscard]] T const& operator*() const noexcept { return value; }
    [[nodiscard]] T const* operator->() const noexcept { return &value; }
};

/// optional_setting is empty where an outer scope decides.
template <class T>
using optional_setting = std::optional<setting<T>>;

/// effective is the value in force: the inner scope's own, or else the outer one's.
template <class T>
[[nodiscard]] setting<T> const& effective(
    optional_setting<T> const& own, setting<T> const& outer) noexcept
{
    return own ? *own : outer;
}

/// problem is one thing for the operator to see: what is wrong, where, and what cures it.
struct problem
{
    enum class severity
    {
        warning,
        error
    };

    severity grade = severity::error;
    location where;
    std::string key;  ///< The key as it was written; empty when no single key is to blame.
    std::string text; ///< Without a full stop.
    std::string cure; ///< A sentence; may be empty.
    /// An error that leaves all other settings as they were written: these can be checked, too.
    bool rest_is_whole = false;
};

/// to_string writes a problem on one line: "cleat.conf:12:5: error: backlog: ... . Cure."
[[nodiscard]] std::string to_string(problem const& found);

/// has_errors is true when a problem is more than a warning.
[[nodiscard]] bool has_errors(std::vector<problem> const& problems) noexcept;

/// rest_is_whole is true when no problem has taken a value from the settings that could be read.
[[nodiscard]] bool rest_is_whole(std::vector<problem> const& problems) noexcept;

enum class client_verify
{
    none,     ///< No certificate is asked for.
    optional, ///< Asked for. A client may have none, but not a bad one.
    required, ///< Every client needs a certificate that verifies.
};

struct tls_versions
{
    bool tls_1_2 = true;
    bool tls_1_3 = true;

    friend bool operator==(tls_versions, tls_versions) = default;
};

/// compression is an algorithm for certificates (RFC 8879).
enum class compression
{
    brotli,
    zlib,
};

/// memory_bound is how much memory may be in use.
struct memory_bound
{
    std::uint64_t bytes = 0; ///< 0: there is no bound, or it is "auto".
    bool is_auto = false;    ///< A part of the control group's limit: limits::memory_auto_percent.

    [[nodiscard]] bool is_on() const noexcept { return is_auto || bytes != 0; }
};

/// worker_count is how many workers (threads) to run.
struct worker_count
{
    unsigned number = 1; ///< 0 is "auto": one for each core that this process may use.
};

/// syslog_facility is a facility's name and its number in <syslog.h>.
struct syslog_facility
{
    std::string name;
    int code = 0;
};

/// default_facility is "daemon".
[[nodiscard]] syslog_facility default_facility() noexcept;

/// access_log_format is how the access log's lines are written.
enum class access_log_format
{
    logfmt,
    json,
};

/// access_log_target is what access-log names.
enum class access_log_target
{
    off,
    standard_output,
    syslog,
    file,
};

/// announcement is what an upstream gets about the client before the client's first byte.
enum class announcement
{
    nothing,
    write_ip,       ///< The address family in one byte, then the address.
    write_proxy_v1, ///< A PROXY header, version 1.
    write_proxy_v2, ///< A PROXY header, version 2.
    proxy_proxy,    ///< The PROXY header that came before TLS, byte for byte.
};

/// inbound_tlvs is how cleat treats the TLVs of a PROXY header that came before TLS.
enum class inbound_tlvs
{
    keep, ///< They are passed on, but for those that cleat writes itself.
    drop,
};

/// shed_answer is what a client gets whose full handshake would come too late.
enum class shed_answer
{
    reset,
    alert, ///< And then a FIN.
};

/// landlock_use is whether Landlock limits files.
enum class landlock_use
{
    off,
    where_possible, ///< "auto": a kernel without it is no mistake.
    required,
};

/// sandbox_choice is the restrictions that cleat puts on itself once it serves.
struct sandbox_choice
{
    landlock_use landlock = landlock_use::where_possible;
    bool ports = false; ///< TCP at the ports of the start only. It needs Landlock.
    bool seccomp = false;

    [[nodiscard]] bool is_off() const noexcept { return landlock == landlock_use::off && !seccomp; }
};

/// balance is how the connections of an upstream are spread over its servers.
enum class balance
{
    first,             ///< The first server that serves.
    round_robin,       ///< By turns.
    least_connections, ///< The server with the fewest connections.
    client_hash,       ///< By the client's address.
};

/// check_kind is how the servers of an upstream are checked.
enum class check_kind
{
    off,
    on,  ///< As tls where the servers speak TLS, and else as tcp.
    tcp, ///< A check connects; check-send and check-expect can follow.
    tls, ///< A check connects and shakes hands; these can follow, inside TLS.
};

/// wire_text is bytes that were written as a text, with escapes.
struct wire_text
{
    std::string bytes;
};

/// dns_server_list is the servers of DNS that are asked.
struct dns_server_list
{
    std::vector<host_port> servers; ///< Empty: those of /etc/resolv.conf.
};

/// local_addresses is a list of this machine's addresses, as numbers.
struct local_addresses
{
    std::vector<std::string> numbers; ///< Empty: the kernel chooses.
};

/// upstream_protocols is what cleat offers to an upstream by ALPN.
struct upstream_protocols
{
    std::vector<std::string> fixed{}; ///< The first is preferred. Empty: no ALPN.
    bool as_client = false;           ///< The protocol that the client has agreed on.

    friend bool operator==(upstream_protocols const&, upstream_protocols const&) = default;
};

/// proxy_place is where a TLS upstream gets the PROXY header.
enum class proxy_place
{
    before_tls, ///< In clear, before the ClientHello.
    inside_tls, ///< The first bytes of the plaintext.
};

/// upstream_server is one `server` of an upstream.
struct upstream_server
{
    app::location location;
    setting<upstream_address> address;
    setting<int> weight{1};
    setting<bool> backup{false};
    setting<int> max_connections{0}; ///< Of all workers; 0: any number.
    setting<std::string> tls_name;   ///< Empty: the upstream's.
};

/// upstream_tls_config is how cleat speaks TLS to the servers of an upstream.
struct upstream_tls_config
{
    setting<bool> enabled{false};
    setting<bool> verify{true};
    setting<std::string> ca;   ///< Authorities, in PEM. Empty: the system's.
    setting<std::string> name; ///< Empty: the host of the server's address.
    setting<upstream_protocols> alpn;
    setting<std::string> cert; ///< Empty: cleat has no certificate.
    setting<std::string> key;  ///< Empty: the key is in `cert` too.
    setting<tls_versions> protos;
    setting<std::string> groups;       ///< Empty: the built-in list.
    setting<std::string> ciphers;      ///< Empty: the built-in list. The backend's only.
    setting<std::string> ciphersuites; ///< Empty: the TLS library's own. The backend's only.
    setting<proxy_place> proxy_header{proxy_place::before_tls};
};

/// upstream_config is one `upstream` block.
struct upstream_config
{
    app::location location;
    setting<std::string> name;
    std::vector<upstream_server> servers;
    setting<app::balance> balance{app::balance::round_robin};
    setting<int> eject_after{3}; ///< Failed connects in a row; 0: never.
    setting<std::chrono::seconds> eject_time{std::chrono::seconds{10}};
    setting<std::chrono::seconds> slow_start{std::chrono::seconds{0}}; ///< 0: at once.
    setting<check_kind> check{check_kind::off};
    setting<std::chrono::seconds> check_interval{std::chrono::seconds{2}};
    setting<std::chrono::seconds> check_timeout{std::chrono::seconds{1}}; ///< At most the interval.
    setting<int> check_rise{1};
    setting<int> check_fall{2};
    setting<wire_text> check_send;                ///< Empty: nothing. It needs check_expect.
    setting<wire_text> check_expect;              ///< Empty: a connection is enough.
    setting<std::vector<std::string>> check_alpn; ///< Empty: that of connections.
    setting<int> preconnect{0};                   ///< Of each worker and server; 0: none.
    setting<std::chrono::seconds> preconnect_time{std::chrono::seconds{10}};
    optional_setting<local_addresses> source;
    upstream_tls_config tls;
};

/// allow_config is one `client-allow`, or one `client-certificate` of a route.
struct allow_config
{
    app::location location;
    std::vector<allow_condition> conditions{};
};

struct route_settings;

/// route_config is one `route` of a frontend.
struct route_config
{
    app::location location;
    std::vector<setting<server_name_pattern>> sni;  ///< Empty: any name, or none.
    setting<std::vector<std::string>> alpn;         ///< Empty: any protocol, or none.
    std::vector<setting<ip_prefix>> client_address; ///< Empty: any.
    std::vector<allow_config> certificate_rules;    ///< Empty: any, or none.
    setting<std::string> upstream;                  ///< A name of `upstreams`.
    setting<bool> passthrough{false};               ///< The upstream ends TLS.
    /// Null: it has none of its own. The route's copies share them.
    std::shared_ptr<route_settings> settings{};
};

/// address_sources is a list of addresses as it was written: prefixes, and names of files that have
/// more.
struct address_sources
{
    std::string text;   ///< As it was written; empty: there is no list.
    prefixes written{}; ///< Those in the text itself.
    std::vector<std::string> files{};

    /// is_on is false for a list that is not set, and for "off".
    [[nodiscard]] bool is_on() const noexcept { return written.size() != 0 || !files.empty(); }
};

/// allow_list is what a client-allow-file has.
struct allow_list
{
    std::vector<allow_config> certificate_rules{};
};

/// stale_crls is how cleat treats clients when a CRL's nextUpdate has passed.
enum class stale_crls
{
    refuse,
    accept, ///< The old CRL counts.
};

/// first_lookup is how cleat treats a server whose name is not found at the start.
enum class first_lookup
{
    required, ///< It is an error.
    optional, ///< The server has no address until DNS has one.
};

/// pem_file is one certificate with its key.
struct pem_file
{
    app::location location;
    setting<std::string> cert;           ///< Leaf first, then its chain, in PEM.
    setting<std::string> private_key;    ///< Empty: the key is in `cert` too.
    setting<std::string> ocsp_resp_file; ///< In DER. Empty: none.
    optional_setting<app::client_verify> client_verify;
    optional_setting<std::string> client_verify_ca;
};

/// frontend_config is one `frontend`. Where a setting is empty, the global one of the same name
/// holds.
struct frontend_config
{
    app::location location;
    setting<std::string> host{"*"};
    setting<std::uint16_t> port{8443};      ///< As in hitch.
    optional_setting<std::string> upstream; ///< Of clients that no route takes.
    optional_setting<bool> client;          ///< Read it through takes_plaintext().
    std::vector<route_config> routes;
    std::vector<pem_file> pem_files;           ///< Its own; the last is its default.
    optional_setting<bool> match_global_certs; ///< Read it through uses_global_certs().
    optional_setting<app::client_verify> client_verify;
    optional_setting<std::string> client_verify_ca;
    optional_setting<std::string> client_verify_sigalgs;
    optional_setting<int> client_verify_depth;
    optional_setting<std::string> client_verify_crl;
    optional_setting<app::stale_crls> client_verify_crl_stale;
    std::vector<allow_config> certificate_rules; ///< With the next: they replace the global ones.
    optional_setting<std::string> client_allow_file;
    optional_setting<tls_versions> tls_protos;
    optional_setting<std::string> ciphers;
    optional_setting<std::string> ciphersuites;
    optional_setting<std::string> ecdh_curve;
    optional_setting<bool> prefer_server_ciphers;
    optional_setting<bool> sni_nomatch_abort;
    optional_setting<std::vector<compression>> certificate_compression;
    optional_setting<address_sources> allow_from;
    optional_setting<address_sources> deny_from;
    optional_setting<address_sources> proxy_from;
    setting<int> max_connections{0}; ///< Its own, beside the global limit. 0: there is none.
    // Read them through client_limits_of().
    optional_setting<int> client_max_connections;
    optional_setting<int> client_handshake_rate;
    optional_setting<int> client_handshake_burst;

    [[nodiscard]] host_port address() const { return {*host, *port}; }

    /// uses_global_certs is true when the global certificates serve here too. As in hitch, a
    /// frontend with certificates of its own leaves the global ones out unless it asks for them.
    [[nodiscard]] bool uses_global_certs() const noexcept
    {
        return match_global_certs ? **match_global_certs : pem_files.empty();
    }
};

/// route_settings is what a route sets for its clients. Where a setting is empty, the frontend's
/// or the global one holds.
struct route_settings
{
    /// Settings that a frontend has, too: certificates, TLS, client verification, limits.
    frontend_config own;
    optional_setting<bool> write_ip;
    optional_setting<bool> write_proxy_v1;
    optional_setting<bool> write_proxy_v2;
    optional_setting<bool> proxy_proxy;
    optional_setting<bool> proxy_tlv;
    optional_setting<bool> proxy_authority;
    optional_setting<bool> proxy_client_cert;
    optional_setting<bool> proxy_checksum;
    optional_setting<inbound_tlvs> proxy_inbound_tlvs;
};

using std::chrono::seconds;

/// config is everything that can be set. `config{}` has the defaults.
struct config
{
    std::string file; ///< The configuration file; "-" for standard input; empty: there is none.
    std::shared_ptr<std::string const> text; ///< Of that file, as it was read. Null: there is none.

    // Where connections come from and go to.
    std::vector<frontend_config> frontends; ///< Where it is empty, check() puts [*]:8443 here.
    setting<bool> client{false};            ///< The backend speaks TLS, and clients plaintext.
    setting<upstream_address> backend{host_port{"127.0.0.1", 8000}};
    upstream_tls_config backend_tls; ///< Read it through backend_block().
    std::vector<upstream_config> upstreams;
    setting<std::string> upstream;                ///< A name of `upstreams`. Empty: the backend.
    setting<seconds> backend_refresh{seconds{0}}; ///< 0: by the TTL.
    setting<dns_server_list> dns_servers;
    setting<app::first_lookup> first_lookup{app::first_lookup::required};
    setting<seconds> dns_min_ttl{seconds{1}};
    setting<seconds> dns_max_ttl{seconds{3600}};
    setting<local_addresses> upstream_source; ///< Where connections to upstreams come from.
    setting<address_sources> allow_from;      ///< Only these clients. Not set: all.
    setting<address_sources> deny_from;       ///< None of these clients, even if allowed.

    // Certificates.
    std::vector<pem_file> pem_files; ///< In order; the last is the default certificate.
    std::vector<setting<std::string>>
        pem_dirs;                      ///< Every file in each of them, in the order of their names.
    setting<std::string> pem_dir_glob; ///< Which names count, as fnmatch(3) has it. Empty: all.
    setting<bool> pem_dir_recursive{false};   ///< The files of their subfolders count, too.
    setting<bool> pem_dir_skip_broken{false}; ///< At a reload.
    setting<int> certificate_cache{1000};     ///< Certificates that each worker keeps in memory.
    setting<std::string> certificate_index;   ///< A file that remembers them. Empty: none.
    setting<bool> sni_nomatch_abort{false};
    setting<std::string> acme_challenges; ///< A folder of certificates. Empty: none.

    // TLS.
    setting<tls_versions> tls_protos;
    /// For TLS 1.2: forward secrecy and AEAD only.
    setting<std::string> ciphers{"ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
                                 "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
                                 "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"};
    setting<std::string> ciphersuites; ///< For TLS 1.3. Empty: the TLS library's own.
    /// The built-in value leaves out X25519MLKEM768 where the TLS library does not have it. In a
    /// value that was written (see location), a group that the library lacks is an error.
    setting<std::string> ecdh_curve{"X25519MLKEM768:X25519:P-256"};
    setting<bool> prefer_server_ciphers{false};
    setting<std::vector<compression>> certificate_compression; ///< The first is preferred.
    setting<std::vector<std::string>> alpn_protos; ///< The first is preferred. Empty: no ALPN.
    setting<std::string> ticket_secret; ///< A file of secrets, the first seals. Empty: random.
    setting<seconds> ticket_epoch{seconds{43'200}};
    setting<seconds> ticket_lifetime{
        seconds{43'200}};                ///< At most limits::ticket_epochs_max epochs.
    setting<bool> ticket_ratchet{false}; ///< ticket_secret has states of ratchets.
    setting<int> tickets{1};             ///< With a full handshake. 0: none, and none are opened.
    setting<int> tickets_resumed{1};     ///< With a resumed one.
    setting<int> session_cache{20'000};  ///< Sessions of a worker. 0: none is resumed by ID.
    setting<app::client_verify> client_verify{app::client_verify::none};
    setting<std::string> client_verify_ca; ///< A file of PEM certificates. Needed unless `none`.
    /// Schemes of the CertificateRequest. Empty: the sound ones that the TLS library has.
    setting<std::string> client_verify_sigalgs;
    setting<int> client_verify_depth{100};  ///< Certificates between a client's and an authority's.
    setting<std::string> client_verify_crl; ///< A file of CRLs, or a folder of such files.
    setting<app::stale_crls> client_verify_crl_stale{app::stale_crls::refuse};
    std::vector<allow_config>
        certificate_rules;                  ///< Rules for certificates. Empty: all that verify.
    setting<std::string> client_allow_file; ///< A file with more of them.

    // How the client is announced to the upstream.
    setting<announcement> announce{announcement::nothing}; ///< Made by check() from these four:
    setting<bool> write_ip{false};
    setting<bool> write_proxy_v1{false};
    setting<bool> write_proxy_v2{false};
    setting<bool> proxy_proxy{false};
    setting<bool> proxy_tlv{true};          ///< PROXY v2 carries the facts of TLS.
    setting<bool> proxy_authority{true};    ///< PROXY v2 carries the name that SNI asked for.
    setting<bool> proxy_client_cert{false}; ///< PROXY v2 carries the client's certificate.
    setting<bool> proxy_checksum{false};    ///< PROXY v2 carries its CRC32C.
    /// Peers that send a PROXY header before TLS; any other is refused. Not set: there are none, or
    /// with proxy-proxy all are.
    setting<address_sources> proxy_from;
    /// PROXY v2 carries the TLVs of the header that came.
    setting<inbound_tlvs> proxy_inbound_tlvs{inbound_tlvs::keep};

    // Load and deadlines.
    setting<worker_count> workers;
    /// For each worker's socket; the kernel's somaxconn is the ceiling.
    setting<int> backlog{4096};
    /// Microseconds for handshakes in each pass of a worker's event loop.
    setting<int> handshake_budget{limits::handshake_time.count()};
    setting<shed_answer> handshake_shed{shed_answer::reset};
    /// Silence before TCP's first keepalive probe to a client.
    setting<seconds> keepalive{seconds{3600}};
    setting<bool> tcp_fastopen{false};
    setting<memory_bound> max_memory; ///< Off.
    // Limits; 0: there is none. A client is a prefix of addresses.
    setting<int> max_connections{0};        ///< In all.
    setting<int> client_max_connections{0}; ///< At a time.
    setting<int> client_handshake_rate{0};  ///< A second.
    setting<int> client_handshake_burst{0}; ///< At once; 0: as many as in a second.
    setting<int> client_prefix_ipv4{32};
    setting<int> client_prefix_ipv6{64};
    setting<int> client_table_size{65'536}; ///< Clients that each worker has places for.
    /// Bytes, for clients' sockets; -1 or 0 leaves them to the kernel.
    setting<int> recv_bufsize{-1};
    setting<int> send_bufsize{-1};
    setting<seconds> ssl_handshake_timeout{seconds{30}};
    setting<seconds> backend_connect_timeout{seconds{30}};
    /// No byte either way for this time ends a connection; 0 is never.
    setting<seconds> idle_timeout{seconds{0}};
    /// Between SIGTERM, when /readyz turns, and the end of accepting.
    setting<seconds> drain_delay{seconds{0}};
    /// For connections to finish after that; 0 ends them at once.
    setting<seconds> shutdown_timeout{seconds{30}};

    // The admin server.
    setting<admin_address> admin;            ///< Unset: there is none.
    setting<bool> admin_allow_remote{false}; ///< An address that other machines reach is allowed.
    setting<int> certificate_metrics{0};     ///< So many certificates have a metric of their own.

    // Process and log.
    setting<std::string> user;   ///< Empty: keep the user that started cleat.
    setting<std::string> group;  ///< Empty: the user's own group.
    setting<std::string> chroot; ///< A folder, for after the start. Empty: none.
    setting<bool> daemon{false};
    setting<std::string> pidfile;
    setting<bool> reload_on_change{false};
    setting<sandbox_choice> sandbox;
    std::vector<setting<std::string>> sandbox_read;  ///< Folders that a reload may name.
    std::vector<setting<std::string>> sandbox_write; ///< The same, for logs and sockets.
    setting<bool> core_dumps{false};
    setting<bool> lock_memory{false};
    setting<int> log_level{1};         ///< 0 silence, 1 warnings, 2 every event.
    setting<int> log_burst{10};        ///< Lines a minute for each reason; 0 is no limit.
    setting<std::string> log_filename; ///< Empty: stderr.
    setting<bool> syslog{false};
    setting<app::syslog_facility> syslog_facility{default_facility()};
    setting<std::string> access_log{"off"}; ///< Read it through target_of_access_log.
    setting<app::access_log_format> access_log_format{app::access_log_format::logfmt};
};

/// backend_block is the backend as an upstream block without a name. It speaks TLS where `client`
/// is on at the top, with the versions, groups and suites that are set there.
[[nodiscard]] upstream_config backend_block(config const& settings);

/// takes_plaintext: the frontend's clients send plaintext, and its upstreams speak TLS.
[[nodiscard]] bool takes_plaintext(config const& settings, frontend_config const& frontend);

/// rules_of are the rules of these blocks.
[[nodiscard]] std::vector<allow_rule> rules_of(std::vector<allow_config> const& blocks);

/// rules_of are the conditions of a frontend's routes.
[[nodiscard]] std::vector<route_rule> rules_of(frontend_config const& frontend);

/// named_list is an address list of the configuration, with its key.
struct named_list
{
    std::string_view key;
    setting<address_sources> const* list;
};

/// address_lists_of are all of them, those of frontends too. The settings outlive it.
[[nodiscard]] std::vector<named_list> address_lists_of(config const& settings);

/// own_settings_of are the frontends, and what their routes set of what a frontend has, too. The
/// settings outlive it.
[[nodiscard]] std::vector<frontend_config const*> own_settings_of(config const& settings);

/// named_path is a file or folder of the configuration, with its key.
struct named_path
{
    std::string_view key;
    setting<std::string> const* path;
};

/// client_allow_files_of and client_crls_of are all paths of client-allow-file and
/// client-verify-crl, those of frontends and routes too, without empty ones. The settings outlive
/// them.
[[nodiscard]] std::vector<named_path> client_allow_files_of(config const& settings);
[[nodiscard]] std::vector<named_path> client_crls_of(config const& settings);

/// upstream_files_of are the files that TLS to upstreams needs, without those that are not set. The
/// settings outlive it.
[[nodiscard]] std::vector<named_path> upstream_files_of(config const& settings);

/// target_of_access_log is where the access log goes; a file is named by config::access_log.
[[nodiscard]] access_log_target target_of_access_log(config const& settings) noexcept;

} // namespace cleat::app
