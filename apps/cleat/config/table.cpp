// The table itself, and the few setters that a row can call. It has more than 900 lines, most of
// them rows, because a table is read by searching: in two files there would be two places to look.

#include "config/route_settings.hpp"
#include "config/table.hpp"
#include "config/values.hpp"

#include <cleat/core/limits.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace cleat::app {
namespace {

template <class T>
as<T> type_of(setting<T> const&);
template <class T>
as<T> type_of(optional_setting<T> const&);

// An empty text means "not set", so it brings back what an untouched scope has.
template <auto Member, class Scope>
refusal store(Scope& scope, given const& v)
{
    using field = std::remove_reference_t<decltype(scope.*Member)>;
    using type = decltype(type_of(std::declval<field const&>()));
    if (v.text.empty() && v.row.kind != value_kind::boolean && v.row.kind != value_kind::number) {
        scope.*Member = Scope{}.*Member;
        return {};
    }
    auto value = read(type{}, v);
    if (!value)
        return std::move(value).error();
    scope.*Member = setting<std::remove_reference_t<decltype(*value)>>{*std::move(value), v.place};
    return {};
}

template <auto Member>
std::string shown(config const& c)
{
    return written(*(c.*Member));
}

pem_file make_pem_file(std::string_view path, location const& place)
{
    pem_file made;
    made.location = place;
    made.cert = {std::string{path}, place};
    return made;
}

template <class Scope>
refusal add_pem_file(Scope& scope, given const& v)
{
    if (v.text.empty()) // stud's sample file has pem-file = ""
        return {};
    scope.pem_files.push_back(make_pem_file(v.text, v.place));
    return {};
}

template <auto Member>
refusal add_to(config& c, given const& v)
{
    if (v.text.empty()) // As with any text, this brings back what an untouched scope has.
        (c.*Member).clear();
    else
        (c.*Member).push_back({std::string{v.text}, v.place});
    return {};
}

refusal add_server(upstream_config& upstream, given const& v)
{
    parsed<upstream_address> address = read(as<upstream_address>{}, v);
    if (!address)
        return address.error();
    upstream_server made;
    made.location = v.place;
    made.address = {*std::move(address), v.place};
    upstream.servers.push_back(std::move(made));
    return {};
}

// Each value adds one, and an empty text clears them.
template <auto Member, class Value>
refusal add_condition(route_config& route, given const& v)
{
    if (v.text.empty()) {
        (route.*Member).clear();
        return {};
    }
    parsed<Value> value = read(as<Value>{}, v);
    if (!value)
        return value.error();
    (route.*Member).push_back({*std::move(value), v.place});
    return {};
}

refusal refuse_route_text(frontend_config&, given const&)
{
    return bad_value{
        "a route is a block", "Write route = { sni = \"www.example.org\" upstream = \"app\" }."};
}

template <class Scope>
refusal refuse_allow_text(Scope&, given const& v)
{
    return bad_value{
        "a rule is a block",
        fmt::format("Write {} = {{ uri = \"spiffe://example.org/web\" }}.", v.row.name)};
}

template <certificate_part Part>
refusal add_allowed(allow_config& rule, given const& v)
{
    std::variant<allow_condition, condition_fault> made = read_condition(Part, v.text);
    if (condition_fault* const bad = std::get_if<condition_fault>(&made))
        return bad_value{std::move(bad->text), std::move(bad->cure)};
    rule.conditions.push_back(std::get<allow_condition>(std::move(made)));
    return {};
}

refusal add_allowed_network(allow_config& rule, given const& v)
{
    parsed<ip_prefix> const network = read(as<ip_prefix>{}, v);
    if (!network)
        return network.error();
    rule.conditions.push_back(address_condition(*network, v.text));
    return {};
}

refusal add_listener(config& c, given const& v)
{
    if (v.text.empty())
        return {};
    parsed<listen_address> const address = parse_listen_address(v.text, v.compat);
    if (!address)
        return address.error();
    frontend_config made;
    made.location = v.place;
    made.host = {address->where.host, v.place};
    made.port = {address->where.port, v.place};
    if (!address->certificate.empty())
        made.pem_files.push_back(make_pem_file(address->certificate, v.place));
    c.frontends.push_back(std::move(made));
    return {};
}

refusal set_host(frontend_config& l, given const& v)
{
    parsed<std::string> host = parse_host(v.text);
    if (!host)
        return host.error();
    l.host = {*std::move(host), v.place};
    return {};
}

refusal set_port(frontend_config& l, given const& v)
{
    parsed<std::uint16_t> const port = parse_port(v.text, 0);
    if (!port)
        return port.error();
    l.port = {*port, v.place};
    return {};
}

// hitch and stud gave one name to two things. The dialect decides, never a guess.
refusal set_write_proxy(config& c, given const& v)
{
    return v.compat == dialect::stud ? store<&config::write_proxy_v1>(c, v)
                                     : store<&config::write_proxy_v2>(c, v);
}

// The deprecated way to say log-level: it still takes effect.
refusal set_quiet(config& c, given const& v)
{
    parsed<bool> const quiet = read(as<bool>{}, v);
    if (!quiet)
        return quiet.error();
    c.log_level = {*quiet ? 0 : 1, v.place};
    return {};
}

// stud's daemon has no other log than syslog.
refusal set_daemon(config& c, given const& v)
{
    refusal bad = store<&config::daemon>(c, v);
    if (!bad && *c.daemon && v.compat == dialect::stud)
        c.syslog = {true, v.place};
    return bad;
}

// "auto" is the built-in list, with its licence to leave out what the TLS library lacks.
refusal set_ecdh_curve(config& c, given const& v)
{
    if (v.text == "auto") {
        c.ecdh_curve = config{}.ecdh_curve;
        return {};
    }
    return store<&config::ecdh_curve>(c, v);
}

// The same for a frontend.
refusal set_own_curve(frontend_config& l, given const& v)
{
    if (v.text != "auto")
        return store<&frontend_config::ecdh_curve>(l, v);
    l.ecdh_curve = setting<std::string>{*config{}.ecdh_curve, v.place};
    return {};
}

// As set_ecdh_curve. The built-in list is an empty text here.
refusal set_upstream_curve(upstream_config& c, given const& v)
{
    c.tls.groups = {v.text == "auto" ? std::string{} : std::string{v.text}, v.place};
    return {};
}

// Stores into a member of the block's TLS settings.
template <auto Member>
refusal store_tls(upstream_config& c, given const& v)
{
    return store<Member>(c.tls, v);
}

// The same of the backend.
template <auto Member>
refusal store_backend_tls(config& c, given const& v)
{
    return store<Member>(c.backend_tls, v);
}

template <auto Member>
std::string shown_backend_tls(config const& c)
{
    return written(*(c.backend_tls.*Member));
}

// Stores into those of the route's settings that a frontend has, too.
template <auto Member>
refusal store_in_route(route_config& route, given const& v)
{
    return store<Member>(settings_of(route).own, v);
}

// Stores what the upstream of the route gets about the client.
template <auto Member>
refusal store_header(route_config& route, given const& v)
{
    return store<Member>(settings_of(route), v);
}

refusal add_route_pem_file(route_config& route, given const& v)
{
    return add_pem_file(settings_of(route).own, v);
}

refusal set_route_curve(route_config& route, given const& v)
{
    return set_own_curve(settings_of(route).own, v);
}

constexpr places global_only{.global = true};
constexpr places global_and_flag{.global = true, .flag = true};
constexpr places global_and_frontend{.global = true, .frontend = true, .flag = true};
constexpr places global_route_and_flag{.global = true, .route = true, .flag = true};
constexpr places global_frontend_and_route{
    .global = true, .frontend = true, .route = true, .flag = true};
constexpr places everywhere{
    .global = true, .frontend = true, .pem_file = true, .route = true, .flag = true};
constexpr places frontend_only{.frontend = true};
constexpr places pem_file_only{.pem_file = true};
constexpr places upstream_only{.upstream = true};
constexpr places backend_and_upstream{.global = true, .upstream = true, .flag = true};
constexpr places server_only{.server = true};
constexpr places route_only{.route = true};
constexpr places allow_only{.allow = true};

constexpr std::int64_t day = 86'400;
constexpr std::int64_t connections_highest = 10'000'000;
constexpr std::string_view tickets_do_it =
    "Resumption works with tickets, the same for every worker: leave it out.";
constexpr std::string_view no_ocsp =
    "OCSP responses are not fetched: name a file with ocsp-resp-file, or leave it out.";
constexpr std::string_view use_tls_protos =
    "cleat speaks TLSv1.2 and TLSv1.3: leave it out, or choose with tls-protos.";

constexpr key_row rows[] = {
    // Where connections come from and go to.
    {.name = "frontend",
     .group = key_group::addresses,
     .where = global_and_flag,
     .kind = value_kind::text,
     .value = "[HOST]:PORT[+CERT]",
     .default_text = "[*]:8443",
     .help =
         "Listen here for TLS. The host * is every address of IPv4 and IPv6; port 0 is any free "
         "port, which the log names at log-level 2. CERT is a certificate for this address alone. "
         "Give frontend several times to listen on several addresses.",
     .note =
         "Port 65536, which stud and hitch take by mistake, is refused. Frontends on the command "
         "line are added to those of the file.",
     .short_flag = "-f",
     .repeatable = true,
     .block = true,
     .set_global = add_listener},
    {.name = "host",
     .group = key_group::addresses,
     .where = frontend_only,
     .kind = value_kind::text,
     .value = "HOST",
     .default_text = "*",
     .help = "The name or address to listen on.",
     .set_frontend = set_host},
    {.name = "port",
     .group = key_group::addresses,
     .where = frontend_only,
     .kind = value_kind::text,
     .value = "PORT",
     .default_text = "8443",
     .help = "The port to listen on; 0 is any free one.",
     .note = "hitch wants it quoted; here 443 and \"443\" are the same.",
     .set_frontend = set_port},
    {.name = "backend",
     .group = key_group::addresses,
     .where = global_and_flag,
     .kind = value_kind::text,
     .value = "[HOST]:PORT|/PATH|srv:NAME",
     .help = "Pass plaintext on to this address, to the UNIX socket at this path, or to the "
             "servers that the SRV records of a name have. A name is looked up again when its TTL "
             "is over.",
     .short_flag = "-b",
     .set_global = store<&config::backend>,
     .show = shown<&config::backend>},
    {.name = "upstream",
     .group = key_group::addresses,
     .where = {.global = true, .frontend = true, .route = true},
     .kind = value_kind::text,
     .value = "NAME",
     .default_text = "none: the backend",
     .help = "A block is a group of servers with a name. A name alone chooses the upstream of all "
             "frontends, of one frontend, or of one route. A server that does not accept costs no "
             "connection: the next server is tried, as long as backend-connect-timeout lasts.",
     .repeatable = true,
     .block = true,
     .set_global = store<&config::upstream>,
     .set_frontend = store<&frontend_config::upstream>,
     .set_route = store<&route_config::upstream>,
     .show = shown<&config::upstream>},
    {.name = "name",
     .group = key_group::addresses,
     .where = {.frontend = true, .upstream = true},
     .kind = value_kind::text,
     .value = "NAME",
     .default_text = "none: every upstream block needs one",
     .help = "The name of the upstream, for frontends, the log and cleat explain. In a frontend, "
             "where Varnish's files have it, it has no effect.",
     .frontend_cure = "The log names a frontend by its address: leave it out.",
     .set_upstream = store<&upstream_config::name>},
    {.name = "server",
     .group = key_group::addresses,
     .where = upstream_only,
     .kind = value_kind::text,
     .value = "[HOST]:PORT|/PATH|srv:NAME",
     .default_text = "none: every upstream block needs one",
     .help =
         "A server of the upstream, of at most 64. In a block it can have a weight and a "
         "limit of connections, or be a backup. A name is looked up again when its TTL is over. "
         "With srv: the SRV records of the name are up to 8 servers, with their ports, weights "
         "and priorities.",
     .repeatable = true,
     .block = true,
     .set_upstream = add_server},
    {.name = "allow-from",
     .group = key_group::addresses,
     .where = global_and_frontend,
     .kind = value_kind::text,
     .value = "LIST",
     .default_text = "none: every client may connect",
     .help = "Let in only clients whose address is in this list: prefixes such as 192.0.2.0/24, "
             "addresses, and files behind an @ with a prefix on each line, with commas between "
             "them; or off. Any other client's connection is closed before TLS. Behind proxy-from "
             "the client is the one of the PROXY header.",
     .note = "New. A frontend's list replaces the global one.",
     .set_global = store<&config::allow_from>,
     .set_frontend = store<&frontend_config::allow_from>,
     .show = shown<&config::allow_from>},
    {.name = "deny-from",
     .group = key_group::addresses,
     .where = global_and_frontend,
     .kind = value_kind::text,
     .value = "LIST",
     .default_text = "none: every client may connect",
     .help = "Close the connections of clients whose address is in this list, before TLS, even if "
             "allow-from has it too. The list is written as that of allow-from.",
     .note = "New. A frontend's list replaces the global one.",
     .set_global = store<&config::deny_from>,
     .set_frontend = store<&frontend_config::deny_from>,
     .show = shown<&config::deny_from>},
    {.name = "balance",
     .group = key_group::addresses,
     .where = upstream_only,
     .kind = value_kind::word,
     .value = "first|round-robin|least-connections|client-hash",
     .default_text = "round-robin",
     .help = "How connections are spread over the servers, in the proportion of their weights: by "
             "turns; to the server that has the fewest; or by the client's address, so that a "
             "client stays with its server. With first all go to the first server that serves. "
             "Each worker counts its own connections.",
     .set_upstream = store<&upstream_config::balance>},
    {.name = "eject-after",
     .group = key_group::addresses,
     .where = upstream_only,
     .kind = value_kind::number,
     .value = "NUM",
     .default_text = "3",
     .help = "After this many failed connects in a row a worker leaves the server out. 0 is never.",
     .lowest = 0,
     .highest = 1000,
     .set_upstream = store<&upstream_config::eject_after>},
    {.name = "eject-time",
     .group = key_group::addresses,
     .where = upstream_only,
     .kind = value_kind::number,
     .value = "SECS",
     .default_text = "10",
     .help = "How long a server is left out. Then one connection tries it: if it fails too, the "
             "server is left out for twice the time, up to eight times this. Where every server "
             "is left out, all are tried.",
     .lowest = 1,
     .highest = 3600,
     .set_upstream = store<&upstream_config::eject_time>},
    {.name = "slow-start",
     .group = key_group::addresses,
     .where = upstream_only,
     .kind = value_kind::number,
     .value = "SECS",
     .default_text = "0",
     .help = "A server that comes back gets its share of the connections little by little: its "
             "weight rises from 0 within this time. 0 is at once.",
     .lowest = 0,
     .highest = 3600,
     .set_upstream = store<&upstream_config::slow_start>},
    {.name = "check",
     .group = key_group::addresses,
     .where = upstream_only,
     .kind = value_kind::word,
     .value = "off|on|tcp|tls",
     .default_text = "off",
     .help = "Check each server all the time, on a thread of its own. A tcp check connects to it. "
             "A tls check also makes a handshake, with the upstream's settings of TLS, and "
             "verifies the server's certificate. With on it is tls where tls = on, and else tcp. "
             "Both can go on with check-send and check-expect. A server whose checks fail gets "
             "connections only when no other is left.",
     .set_upstream = store<&upstream_config::check>},
    {.name = "check-interval",
     .group = key_group::addresses,
     .where = upstream_only,
     .kind = value_kind::number,
     .value = "SECS",
     .default_text = "2",
     .help = "From the beginning of a check to the beginning of the server's next one.",
     .lowest = 1,
     .highest = 3600,
     .set_upstream = store<&upstream_config::check_interval>},
    {.name = "check-timeout",
     .group = key_group::addresses,
     .where = upstream_only,
     .kind = value_kind::number,
     .value = "SECS",
     .default_text = "1",
     .help = "A check without a result within this time fails. It is at most check-interval. Each "
             "address of a server has this time.",
     .lowest = 1,
     .highest = 3600,
     .set_upstream = store<&upstream_config::check_timeout>},
    {.name = "check-rise",
     .group = key_group::addresses,
     .where = upstream_only,
     .kind = value_kind::number,
     .value = "NUM",
     .default_text = "1",
     .help = "A server is back in service after this many checks in a row have passed.",
     .lowest = 1,
     .highest = 1000,
     .set_upstream = store<&upstream_config::check_rise>},
    {.name = "check-fall",
     .group = key_group::addresses,
     .where = upstream_only,
     .kind = value_kind::number,
     .value = "NUM",
     .default_text = "2",
     .help = "A server is out of service after this many checks in a row have failed.",
     .lowest = 1,
     .highest = 1000,
     .set_upstream = store<&upstream_config::check_fall>},
    {.name = "check-send",
     .group = key_group::addresses,
     .where = upstream_only,
     .kind = value_kind::text,
     .value = "TEXT",
     .default_text = "none: a check sends nothing",
     .help = "A check sends this text once it is connected, inside TLS where it speaks TLS. \\r, "
             "\\n, \\t, \\\\ and \\xHH stand for bytes. The header of write-proxy-v2 and its "
             "like comes before it.",
     .set_upstream = store<&upstream_config::check_send>},
    {.name = "check-expect",
     .group = key_group::addresses,
     .where = upstream_only,
     .kind = value_kind::text,
     .value = "TEXT",
     .default_text = "none: a connection is enough",
     .help = "A check passes when the first 4096 bytes of the server's answer contain this text, "
             "which is written as that of check-send. It finds a server that is frozen or hangs: "
             "its kernel still accepts connections.",
     .set_upstream = store<&upstream_config::check_expect>},
    {.name = "check-alpn",
     .group = key_group::addresses,
     .where = upstream_only,
     .kind = value_kind::text,
     .value = "LIST",
     .default_text = "the protocols of tls-alpn",
     .help = "The protocols that a check with TLS offers by ALPN, the preferred first. Set it "
             "where check-send is written for only one of several: http/1.1 where connections "
             "speak h2, too.",
     .set_upstream = store<&upstream_config::check_alpn>},
    {.name = "preconnect",
     .group = key_group::addresses,
     .where = upstream_only,
     .kind = value_kind::number,
     .value = "NUM",
     .default_text = "0",
     .help = "Each worker keeps this many connections to each server ready before clients need "
             "them, with TLS where the upstream has it. Use it for protocols in which the client "
             "speaks first. They count against max-connections of the server. 0 is none.",
     .lowest = 0,
     .highest = limits::preconnect_max,
     .set_upstream = store<&upstream_config::preconnect>},
    {.name = "preconnect-time",
     .group = key_group::addresses,
     .where = upstream_only,
     .kind = value_kind::number,
     .value = "SECS",
     .default_text = "10",
     .help = "A connection that was ready for this long is replaced. Choose less than the time "
             "after which the server closes a connection that sends nothing.",
     .lowest = 1,
     .highest = 3600,
     .set_upstream = store<&upstream_config::preconnect_time>},
    {.name = "upstream-source",
     .group = key_group::addresses,
     .where = {.global = true, .upstream = true, .flag = true},
     .kind = value_kind::text,
     .value = "LIST",
     .default_text = "none: the kernel chooses",
     .help = "Addresses of this machine, with commas between them, that connections to upstreams "
             "come from by turns; or off. Each of them has ports of its own: about 28,000 "
             "connections to one address of a server. IPv6 servers get connections from the IPv6 "
             "addresses of the list, if there are any, and IPv4 servers from the others. An "
             "upstream block's list replaces the global one.",
     .note = "New.",
     .set_global = store<&config::upstream_source>,
     .set_upstream = store<&upstream_config::source>,
     .show = shown<&config::upstream_source>},
    {.name = "address",
     .group = key_group::addresses,
     .where = server_only,
     .kind = value_kind::text,
     .value = "[HOST]:PORT|/PATH|srv:NAME",
     .default_text = "none: every server block needs one",
     .help =
         "The address of the server, the path of its UNIX socket (/PATH or unix:/PATH), or a name "
         "with SRV records.",
     .set_server = store<&upstream_server::address>},
    {.name = "weight",
     .group = key_group::addresses,
     .where = server_only,
     .kind = value_kind::number,
     .value = "NUM",
     .default_text = "1",
     .help = "The server's share of the connections, compared with the others'.",
     .lowest = 1,
     .highest = 1000,
     .set_server = store<&upstream_server::weight>},
    {.name = "backup",
     .group = key_group::addresses,
     .where = server_only,
     .kind = value_kind::boolean,
     .default_text = "off",
     .help = "The server gets connections only while no other server serves.",
     .set_server = store<&upstream_server::backup>},
    {.name = "tls-verify",
     .group = key_group::addresses,
     .where = backend_and_upstream,
     .kind = value_kind::boolean,
     .help = "Verify the certificate of a server with tls = on: an authority of tls-ca has signed "
             "it, it is valid now, and it is for tls-name. With off anybody on the network path "
             "to the server can read and change the traffic. This and the other keys from tls-ca "
             "to tls-proxy-header hold for the servers of the block; outside of blocks they hold "
             "for the backend with client = on.",
     .note = "hitch and stud verify no server with --client, as cleat with tls-verify = off.",
     .set_global = store_backend_tls<&upstream_tls_config::verify>,
     .set_upstream = store_tls<&upstream_tls_config::verify>,
     .show = shown_backend_tls<&upstream_tls_config::verify>},
    {.name = "tls-ca",
     .group = key_group::addresses,
     .where = backend_and_upstream,
     .kind = value_kind::text,
     .value = "FILE",
     .default_text = "the system's authorities",
     .help =
         "The certificates, in PEM, of the authorities that may sign the servers' "
         "certificates. The system's are those of the file that SSL_CERT_FILE names, or else of "
         "the distribution's usual file.",
     .set_global = store_backend_tls<&upstream_tls_config::ca>,
     .set_upstream = store_tls<&upstream_tls_config::ca>,
     .show = shown_backend_tls<&upstream_tls_config::ca>},
    {.name = "tls-name",
     .group = key_group::addresses,
     .where = {.global = true, .upstream = true, .server = true, .flag = true},
     .kind = value_kind::text,
     .value = "NAME",
     .default_text = "the host of the server's address",
     .help = "The name, or the IP address, that the server's certificate must have. A name is sent "
             "as SNI, too.",
     .set_global = store_backend_tls<&upstream_tls_config::name>,
     .set_upstream = store_tls<&upstream_tls_config::name>,
     .set_server = store<&upstream_server::tls_name>,
     .show = shown_backend_tls<&upstream_tls_config::name>},
    {.name = "tls-alpn",
     .group = key_group::addresses,
     .where = backend_and_upstream,
     .kind = value_kind::text,
     .value = "LIST|client",
     .default_text = "none",
     .help = "The protocol to offer to the servers by ALPN, or several, the preferred first: the "
             "server chooses then, and clients do not learn which. With client it is the one that "
             "the client and cleat have agreed on. A server that does not agree to it does not "
             "get this client; only http/1.1 needs no agreement.",
     .set_global = store_backend_tls<&upstream_tls_config::alpn>,
     .set_upstream = store_tls<&upstream_tls_config::alpn>,
     .show = shown_backend_tls<&upstream_tls_config::alpn>},
    {.name = "tls-cert",
     .group = key_group::addresses,
     .where = backend_and_upstream,
     .kind = value_kind::text,
     .value = "FILE",
     .default_text = "none",
     .help = "cleat's own certificate, with its chain and its key, for servers that ask for one.",
     .set_global = store_backend_tls<&upstream_tls_config::cert>,
     .set_upstream = store_tls<&upstream_tls_config::cert>,
     .show = shown_backend_tls<&upstream_tls_config::cert>},
    {.name = "tls-key",
     .group = key_group::addresses,
     .where = backend_and_upstream,
     .kind = value_kind::text,
     .value = "FILE",
     .default_text = "none: the key is in tls-cert",
     .help = "The key of tls-cert.",
     .set_global = store_backend_tls<&upstream_tls_config::key>,
     .set_upstream = store_tls<&upstream_tls_config::key>,
     .show = shown_backend_tls<&upstream_tls_config::key>},
    {.name = "tls-proxy-header",
     .group = key_group::addresses,
     .where = backend_and_upstream,
     .kind = value_kind::word,
     .value = "before|inside",
     .help =
         "Where a server with tls = on gets the header of write-proxy-v2 and its like: in clear "
         "before the ClientHello, as HAProxy's send-proxy-v2-ssl, nginx and Envoy send it, or "
         "as the first bytes inside TLS.",
     .set_global = store_backend_tls<&upstream_tls_config::proxy_header>,
     .set_upstream = store_tls<&upstream_tls_config::proxy_header>,
     .show = shown_backend_tls<&upstream_tls_config::proxy_header>},
    {.name = "route",
     .group = key_group::addresses,
     .where = frontend_only,
     .kind = value_kind::word,
     .value = "{ upstream = NAME ... }",
     .default_text = "none: all clients go to the frontend's upstream",
     .help = "The upstream of the clients that meet all conditions of the block: sni, alpn, "
             "client-address and client-certificate. The first route that takes a client is used; "
             "clients that no route takes go to the frontend's upstream. It is an error where "
             "earlier routes take all clients of a route. A route can have settings of its own "
             "for its clients: certificates, versions and suites, client verification, the PROXY "
             "header, max-connections and the limits of one client. The settings of TLS and the "
             "limits are needed before the client shows a certificate: they are those of the first "
             "route without client-certificate that takes the client.",
     .repeatable = true,
     .set_frontend = refuse_route_text},
    {.name = "sni",
     .group = key_group::addresses,
     .where = route_only,
     .kind = value_kind::text,
     .value = "NAME|*.NAME|none",
     .default_text = "any name, and none",
     .help = "The name that the client asks for. A * stands for one label, as in certificates; "
             "none is a client that sends no name. Give it several times for several names.",
     .repeatable = true,
     .set_route = add_condition<&route_config::sni, server_name_pattern>},
    {.name = "alpn",
     .group = key_group::addresses,
     .where = route_only,
     .kind = value_kind::text,
     .value = "LIST",
     .default_text = "any protocol, and none",
     .help = "The protocol that client and cleat agree on, one of alpn-protos, or several with "
             "commas between them. With passthrough: one that the client offers.",
     .set_route = store<&route_config::alpn>},
    {.name = "client-certificate",
     .group = key_group::addresses,
     .where = route_only,
     .kind = value_kind::word,
     .value = "{ uri = URI ... }",
     .default_text = "any certificate, and none",
     .help = "A rule that the client's certificate meets, written as client-allow. Give it several "
             "times for several rules, of which one must hold. Where such a route may take a "
             "client, TLS ends here, and no passthrough behind it takes that client.",
     .repeatable = true,
     .block = true,
     .set_route = refuse_allow_text<route_config>},
    {.name = "client-address",
     .group = key_group::addresses,
     .where = route_only,
     .kind = value_kind::text,
     .value = "PREFIX",
     .default_text = "any address",
     .help = "The client's address begins like this: 192.0.2.0/24, 2001:db8::/32, or one address. "
             "With proxy-proxy it is the one in the PROXY header, and proxy-from must name the "
             "load balancers. Give it several times for several prefixes.",
     .repeatable = true,
     .set_route = add_condition<&route_config::client_address, ip_prefix>},
    {.name = "passthrough",
     .group = key_group::addresses,
     .where = route_only,
     .kind = value_kind::boolean,
     .default_text = "off",
     .help = "The upstream ends TLS: cleat reads the ClientHello, and forwards it with all bytes "
             "after it. Certificates and versions of the frontend do not matter to such a client. "
             "A frontend with such a route reads every client's ClientHello before TLS begins.",
     .set_route = store<&route_config::passthrough>},
    {.name = "backend-refresh",
     .group = key_group::addresses,
     .where = global_and_flag,
     .kind = value_kind::number,
     .value = "SECS",
     .help = "The time between two lookups of the backend's name, whatever its TTL is. With 0 the "
             "TTL decides.",
     .note = "With 0 hitch looks the name up once.",
     .short_flag = "-R",
     .other_names = "backendrefresh",
     .lowest = 0,
     .highest = 86400,
     .set_global = store<&config::backend_refresh>,
     .show = shown<&config::backend_refresh>},
    {.name = "dns-servers",
     .group = key_group::addresses,
     .where = global_and_flag,
     .kind = value_kind::text,
     .value = "LIST",
     .default_text = "none: those of /etc/resolv.conf",
     .help = "The servers of DNS that are asked for the names of backend and servers: addresses "
             "with commas between them, each with a port behind it where that is not 53. They are "
             "asked in their order. /etc/hosts and the search domains of /etc/resolv.conf come "
             "first, as without dns-servers.",
     .note = "New.",
     .set_global = store<&config::dns_servers>,
     .show = shown<&config::dns_servers>},
    {.name = "resolve-at-start",
     .group = key_group::addresses,
     .where = global_and_flag,
     .kind = value_kind::word,
     .value = "required|optional",
     .help = "Whether a start, or a reload, needs the names of backend and servers to be found. "
             "With optional a server whose name is not found has no address yet: it gets no "
             "client, and serves once DNS has an address.",
     .note = "New. With required it is an error.",
     .set_global = store<&config::first_lookup>,
     .show = shown<&config::first_lookup>},
    {.name = "dns-min-ttl",
     .group = key_group::addresses,
     .where = global_and_flag,
     .kind = value_kind::number,
     .value = "SECS",
     .help = "A name is looked up again when its TTL is over, and not earlier than this.",
     .note = "New.",
     .lowest = 1,
     .highest = 86400,
     .set_global = store<&config::dns_min_ttl>,
     .show = shown<&config::dns_min_ttl>},
    {.name = "dns-max-ttl",
     .group = key_group::addresses,
     .where = global_and_flag,
     .kind = value_kind::number,
     .value = "SECS",
     .help = "A name is looked up again after this time at the latest, also where its TTL is "
             "longer.",
     .note = "New.",
     .lowest = 1,
     .highest = 86400,
     .set_global = store<&config::dns_max_ttl>,
     .show = shown<&config::dns_max_ttl>},
    {.name = "client",
     .group = key_group::addresses,
     .where = global_and_frontend,
     .kind = value_kind::boolean,
     .help = "Take plaintext from clients and pass TLS on, instead of the other way round. In a "
             "frontend it is for this frontend, whose upstreams must have tls = on. At the top it "
             "is for all frontends without a client of their own, and the backend speaks TLS: "
             "tls-verify, tls-ca and their like then hold for it.",
     .note = "hitch and stud have the flag only, and verify no server; here servers are verified, "
             "unless tls-verify is off. stunnel has client = yes in a service.",
     .set_global = store<&config::client>,
     .set_frontend = store<&frontend_config::client>,
     .show = shown<&config::client>},

    // Certificates.
    {.name = "pem-file",
     .group = key_group::certificates,
     .where = {.global = true, .frontend = true, .route = true, .flag = true},
     .kind = value_kind::text,
     .value = "FILE",
     .default_text = "none: one certificate is needed, from here or from pem-dir",
     .help = "A certificate, its chain and its private key in one PEM file. Give it once for each "
             "certificate: SNI chooses among them, and the last one serves where no name fits. "
             "The clients of a route with certificates of its own get those alone.",
     .note =
         "Certificates of different key types for the same name serve side by side, where hitch "
         "takes the last: a client gets the first that it can verify of ML-DSA (TLS 1.3; with "
         "AWS-LC, or OpenSSL from 3.5 on), ECDSA, Ed25519 and RSA. Files named on the command line "
         "come after those of the file.",
     .repeatable = true,
     .block = true,
     .set_global = add_pem_file<config>,
     .set_frontend = add_pem_file<frontend_config>,
     .set_route = add_route_pem_file},
    {.name = "cert",
     .group = key_group::certificates,
     .where = pem_file_only,
     .kind = value_kind::text,
     .value = "FILE",
     .default_text = "none: every pem-file block needs one",
     .help = "The certificate and its chain.",
     .set_pem_file = store<&pem_file::cert>},
    {.name = "private-key",
     .group = key_group::certificates,
     .where = pem_file_only,
     .kind = value_kind::text,
     .value = "FILE",
     .default_text = "the file of cert",
     .help = "The private key, where it has a file of its own.",
     .set_pem_file = store<&pem_file::private_key>},
    {.name = "pem-dir",
     .group = key_group::certificates,
     .where = global_and_flag,
     .kind = value_kind::text,
     .value = "DIR",
     .default_text = "none",
     .help = "Load every file of this directory as a pem-file, in the order of their names; of "
             "several directories in the order in which they are given. Without a pem-file the "
             "first file of all serves where no name fits. Files whose names begin with a dot do "
             "not count.",
     .note = "hitch takes the last one only.",
     .repeatable = true,
     .set_global = add_to<&config::pem_dirs>},
    {.name = "pem-dir-glob",
     .group = key_group::certificates,
     .where = global_and_flag,
     .kind = value_kind::text,
     .value = "GLOB",
     .default_text = "none: every file",
     .help = "Which files of pem-dir count: *.pem, for example.",
     .set_global = store<&config::pem_dir_glob>,
     .show = shown<&config::pem_dir_glob>},
    {.name = "pem-dir-recursive",
     .group = key_group::certificates,
     .where = global_and_flag,
     .kind = value_kind::boolean,
     .help = "The files in the subfolders of pem-dir count, too, at any depth; folders whose names "
             "begin with a dot, and links to folders, do not.",
     .set_global = store<&config::pem_dir_recursive>,
     .show = shown<&config::pem_dir_recursive>},
    {.name = "pem-dir-skip-broken",
     .group = key_group::certificates,
     .where = global_and_flag,
     .kind = value_kind::boolean,
     .help = "A reload goes on without the files of pem-dir that cannot be used: it names them in "
             "warnings, and counts them. A certificate that such a file had before stays known, "
             "and is served by workers that have it loaded. Such a file is still an error at a "
             "start, as the default certificate, and at a reload that changes which folders and "
             "files are named.",
     .set_global = store<&config::pem_dir_skip_broken>,
     .show = shown<&config::pem_dir_skip_broken>},
    {.name = "certificate-cache",
     .group = key_group::certificates,
     .where = global_and_flag,
     .kind = value_kind::number,
     .value = "NUM",
     .help =
         "How many certificates a worker keeps in memory, each with its key. Up to this number, "
         "where a certificate counts for each frontend that serves it, all are loaded at the "
         "start. With more, cleat checks every file at the start and keeps its names; a worker "
         "loads the certificate and its key when a client first asks for it, and drops the least "
         "recently used.",
     .lowest = 1,
     .highest = 1'000'000,
     .set_global = store<&config::certificate_cache>,
     .show = shown<&config::certificate_cache>},
    {.name = "certificate-index",
     .group = key_group::certificates,
     .where = global_and_flag,
     .kind = value_kind::text,
     .value = "FILE",
     .default_text = "none: a start reads every certificate",
     .help = "A file in which cleat remembers names and ends of certificates, where there are more "
             "than certificate-cache. A later start reads only the certificates that have changed. "
             "cleat makes the file, and writes it after a start, after many changes and at its "
             "end; the user that it runs as must be able to write the folder. No key is in it. A "
             "file that is damaged, or that another user may have written, is not used.",
     .set_global = store<&config::certificate_index>,
     .show = shown<&config::certificate_index>},
    {.name = "acme-challenges",
     .group = key_group::certificates,
     .where = global_and_flag,
     .kind = value_kind::text,
     .value = "DIR",
     .default_text = "none: clients that ask for acme-tls/1 are served as others are",
     .help =
         "Answer ACME's tls-alpn-01 challenges (RFC 8737) on every frontend, from certificates "
         "that a hook of the ACME client puts into this directory: NAME.crt.pem and "
         "NAME.key.pem, or NAME.pem with both. A file is read when an authority asks for it; no "
         "reload is needed. A passthrough route that takes the client comes first.",
     .set_global = store<&config::acme_challenges>,
     .show = shown<&config::acme_challenges>},
    {.name = "match-global-certs",
     .group = key_group::certificates,
     .where = frontend_only,
     .kind = value_kind::boolean,
     .default_text = "on where a frontend has no certificate of its own, else off",
     .help = "Offer the global certificates on this frontend too.",
     .set_frontend = store<&frontend_config::match_global_certs>},
    {.name = "sni-nomatch-abort",
     .group = key_group::certificates,
     .where = global_and_frontend,
     .kind = value_kind::boolean,
     .help =
         "Refuse a handshake whose SNI names a server that no certificate fits, instead of serving "
         "the default certificate.",
     .set_global = store<&config::sni_nomatch_abort>,
     .set_frontend = store<&frontend_config::sni_nomatch_abort>,
     .show = shown<&config::sni_nomatch_abort>},
    {.name = "client-verify",
     .group = key_group::certificates,
     .where = everywhere,
     .kind = value_kind::word,
     .value = "none|optional|required",
     .help =
         "Whether clients show a certificate. With optional, a client may have none, but not a "
         "bad one. In a pem-file it is for the clients that get this certificate; without it the "
         "frontend's holds. Certificates with a name in common need the same. With more "
         "certificates than certificate-cache, a pem-file cannot have another one.",
     .set_global = store<&config::client_verify>,
     .set_frontend = store<&frontend_config::client_verify>,
     .set_pem_file = store<&pem_file::client_verify>,
     .set_route = store_in_route<&frontend_config::client_verify>,
     .show = shown<&config::client_verify>},
    {.name = "client-verify-ca",
     .group = key_group::certificates,
     .where = everywhere,
     .kind = value_kind::text,
     .value = "FILE",
     .default_text = "none: client-verify needs one",
     .help = "The certificates, in PEM, of the authorities that may sign clients' certificates.",
     .set_global = store<&config::client_verify_ca>,
     .set_frontend = store<&frontend_config::client_verify_ca>,
     .set_pem_file = store<&pem_file::client_verify_ca>,
     .set_route = store_in_route<&frontend_config::client_verify_ca>,
     .show = shown<&config::client_verify_ca>},
    {.name = "client-verify-sigalgs",
     .group = key_group::certificates,
     .where = global_frontend_and_route,
     .kind = value_kind::text,
     .value = "LIST",
     .default_text = "the sound ones that the TLS library verifies",
     .help = "The signature schemes that clients are asked for, the preferred first, in the names "
             "of RFC 8446 with colons between them: ecdsa_secp256r1_sha256:rsa_pss_rsae_sha256. "
             "Each version of TLS gets those that are for it: TLS 1.2 no ML-DSA, TLS 1.3 no SHA-1. "
             "The default has no SHA-1 at all; rsa_pkcs1_sha1 is for old clients of TLS 1.2.",
     .note = "New. The list is for the signatures of clients' certificates, too, so leave "
             "rsa_pkcs1_sha256 in where their authority signs with it.",
     .set_global = store<&config::client_verify_sigalgs>,
     .set_frontend = store<&frontend_config::client_verify_sigalgs>,
     .set_route = store_in_route<&frontend_config::client_verify_sigalgs>,
     .show = shown<&config::client_verify_sigalgs>},
    {.name = "client-verify-depth",
     .group = key_group::certificates,
     .where = global_frontend_and_route,
     .kind = value_kind::number,
     .value = "NUM",
     .help = "The most certificates that may stand between a client's and an authority's: 0 is "
             "none.",
     .note = "New.",
     .lowest = 0,
     .highest = 100,
     .set_global = store<&config::client_verify_depth>,
     .set_frontend = store<&frontend_config::client_verify_depth>,
     .set_route = store_in_route<&frontend_config::client_verify_depth>,
     .show = shown<&config::client_verify_depth>},
    {.name = "client-verify-crl",
     .group = key_group::certificates,
     .where = global_frontend_and_route,
     .kind = value_kind::text,
     .value = "FILE|DIR",
     .default_text = "none",
     .help = "The CRLs, in PEM or DER, of the authorities of clients' certificates: a file, or a "
             "folder of such files. Each authority of a client's chain needs one, and a client "
             "whose certificate is on it is refused. reload-on-change watches them. Sessions that "
             "were made before a CRL changed do not resume.",
     .note = "New.",
     .set_global = store<&config::client_verify_crl>,
     .set_frontend = store<&frontend_config::client_verify_crl>,
     .set_route = store_in_route<&frontend_config::client_verify_crl>,
     .show = shown<&config::client_verify_crl>},
    {.name = "client-verify-crl-stale",
     .group = key_group::certificates,
     .where = global_frontend_and_route,
     .kind = value_kind::word,
     .value = "refuse|accept",
     .help = "The clients of an authority whose CRL is stale, because its nextUpdate has passed: "
             "refuse them, or accept those that the old CRL does not list. A start and a reload "
             "warn of such a CRL in both cases.",
     .note = "New.",
     .set_global = store<&config::client_verify_crl_stale>,
     .set_frontend = store<&frontend_config::client_verify_crl_stale>,
     .set_route = store_in_route<&frontend_config::client_verify_crl_stale>,
     .show = shown<&config::client_verify_crl_stale>},
    {.name = "client-allow",
     .group = key_group::certificates,
     .where = {.global = true, .frontend = true, .route = true},
     .kind = value_kind::word,
     .value = "{ uri = URI ... }",
     .default_text = "none: every certificate that verifies is good",
     .help = "A rule for the certificates of clients: cn, dns, uri, email, ip, issuer, "
             "spki-sha256 and eku. A certificate must meet each key that the block has; of "
             "several values of one key, one is enough. A client whose certificate meets no rule "
             "is refused after the handshake, by the alert access_denied, and the log says what "
             "the nearest rule asks for. A client without a certificate, which client-verify = "
             "optional lets in, needs no rule.",
     .note = "New. A frontend's rules, from blocks and file, replace the global ones.",
     .repeatable = true,
     .block = true,
     .set_global = refuse_allow_text<config>,
     .set_frontend = refuse_allow_text<frontend_config>,
     .set_route = refuse_allow_text<route_config>},
    {.name = "client-allow-file",
     .group = key_group::certificates,
     .where = global_frontend_and_route,
     .kind = value_kind::text,
     .value = "FILE",
     .default_text = "none",
     .help = "A file with more client-allow blocks, and nothing else. reload-on-change watches it. "
             "An empty file lets no certificate in.",
     .note = "New.",
     .set_global = store<&config::client_allow_file>,
     .set_frontend = store<&frontend_config::client_allow_file>,
     .set_route = store_in_route<&frontend_config::client_allow_file>,
     .show = shown<&config::client_allow_file>},
    {.name = "cn",
     .group = key_group::certificates,
     .where = allow_only,
     .kind = value_kind::text,
     .value = "NAME",
     .default_text = "any",
     .help = "The common name in the certificate's subject, the last one where there are several.",
     .repeatable = true,
     .set_allow = add_allowed<certificate_part::common_name>},
    {.name = "dns",
     .group = key_group::certificates,
     .where = allow_only,
     .kind = value_kind::text,
     .value = "NAME|*.NAME",
     .default_text = "any",
     .help = "A DNS name in the certificate's SAN. A * stands for one label.",
     .repeatable = true,
     .set_allow = add_allowed<certificate_part::dns_name>},
    {.name = "uri",
     .group = key_group::certificates,
     .where = allow_only,
     .kind = value_kind::text,
     .value = "URI|URI/*",
     .default_text = "any",
     .help = "A URI in the certificate's SAN, byte for byte; with /* at the end, any URI under it: "
             "spiffe://example.org/* is a trust domain. For spiffe: the certificate must be an "
             "X.509-SVID: one URI, in the form of a SPIFFE ID, and no authority's.",
     .repeatable = true,
     .set_allow = add_allowed<certificate_part::uri>},
    {.name = "email",
     .group = key_group::certificates,
     .where = allow_only,
     .kind = value_kind::text,
     .value = "ADDRESS|@DOMAIN",
     .default_text = "any",
     .help = "An e-mail address in the certificate's SAN, or any address of a domain.",
     .repeatable = true,
     .set_allow = add_allowed<certificate_part::email>},
    {.name = "ip",
     .group = key_group::certificates,
     .where = allow_only,
     .kind = value_kind::text,
     .value = "PREFIX",
     .default_text = "any",
     .help = "An IP address in the certificate's SAN, or any of a network such as 192.0.2.0/24. It "
             "is not compared with the address that the client comes from.",
     .repeatable = true,
     .set_allow = add_allowed_network},
    {.name = "issuer",
     .group = key_group::certificates,
     .where = allow_only,
     .kind = value_kind::text,
     .value = "NAME",
     .default_text = "any",
     .help = "The whole name of the certificate's issuer, as RFC 2253 and the log write it: "
             "\"CN=Example CA,O=Example\".",
     .repeatable = true,
     .set_allow = add_allowed<certificate_part::issuer>},
    {.name = "spki-sha256",
     .group = key_group::certificates,
     .where = allow_only,
     .kind = value_kind::text,
     .value = "HASH",
     .default_text = "any",
     .help = "The SHA-256 of the certificate's public key (SubjectPublicKeyInfo in DER): 64 "
             "hexadecimal digits, or base64 in double quotes. It stays the same when the "
             "certificate is renewed for the same key.",
     .repeatable = true,
     .set_allow = add_allowed<certificate_part::public_key>},
    {.name = "eku",
     .group = key_group::certificates,
     .where = allow_only,
     .kind = value_kind::text,
     .value = "PURPOSE",
     .default_text = "any",
     .help = "A purpose in the certificate's extended key usage: clientAuth, serverAuth, "
             "codeSigning, emailProtection or an OID. Also without a rule a certificate that has "
             "an extended key usage needs clientAuth there.",
     .repeatable = true,
     .set_allow = add_allowed<certificate_part::purpose>},
    {.name = "ocsp-resp-file",
     .group = key_group::certificates,
     .where = pem_file_only,
     .kind = value_kind::text,
     .value = "FILE",
     .default_text = "none",
     .help =
         "Staple this OCSP response, a file in DER, to clients that ask for one. cleat sends it "
         "until its nextUpdate, and reads the file again at a reload. It does not verify the "
         "signature. With more certificates than certificate-cache, the file is read again when "
         "the certificate is loaded; if it cannot be used by then, the certificate is sent without "
         "it.",
     .note = "A response for another certificate is an error. A stale one is a warning, and is not "
             "sent.",
     .set_pem_file = store<&pem_file::ocsp_resp_file>},
    {.name = "certificate-compression",
     .group = key_group::certificates,
     .where = global_frontend_and_route,
     .kind = value_kind::words,
     .value = "LIST",
     .names = "brotli zlib off",
     .help = "Compress certificates for clients that can decompress them, with TLS 1.3 (RFC 8879): "
             "brotli, zlib or both, the preferred one first; or off. Chromium takes brotli, and "
             "Safari zlib. A worker compresses a certificate once, when a client first gets it. "
             "OpenSSL can do it from 3.2 on, with the algorithms that it was built with; any other "
             "is an error.",
     .note = "New.",
     .set_global = store<&config::certificate_compression>,
     .set_frontend = store<&frontend_config::certificate_compression>,
     .set_route = store_in_route<&frontend_config::certificate_compression>,
     .show = shown<&config::certificate_compression>},
    {.name = "ocsp-dir",
     .group = key_group::certificates,
     .where = global_and_flag,
     .kind = value_kind::text,
     .value = "DIR",
     .default_text = "none",
     .help = "Where fetched OCSP responses are kept.",
     .short_flag = "-o",
     .status = key_status::no_effect,
     .cure = no_ocsp},
    {.name = "ocsp-verify-staple",
     .group = key_group::certificates,
     .where = {.global = true, .pem_file = true},
     .kind = value_kind::boolean,
     .default_text = "off",
     .help = "Verify OCSP responses before they are stapled.",
     .status = key_status::no_effect,
     .cure = no_ocsp},
    {.name = "ocsp-connect-tmo",
     .group = key_group::certificates,
     .where = global_only,
     .kind = value_kind::number,
     .value = "SECS",
     .default_text = "none",
     .help = "Deadline to connect to an OCSP responder.",
     .status = key_status::no_effect,
     .cure = no_ocsp},
    {.name = "ocsp-resp-tmo",
     .group = key_group::certificates,
     .where = global_only,
     .kind = value_kind::number,
     .value = "SECS",
     .default_text = "none",
     .help = "Deadline for an OCSP responder's answer.",
     .status = key_status::no_effect,
     .cure = no_ocsp},
    {.name = "ocsp-refresh-interval",
     .group = key_group::certificates,
     .where = global_only,
     .kind = value_kind::number,
     .value = "SECS",
     .default_text = "none",
     .help = "How often an OCSP response is fetched again.",
     .status = key_status::no_effect,
     .cure = no_ocsp},

    // TLS.
    {.name = "tls-protos",
     .group = key_group::tls,
     .where = {.global = true, .frontend = true, .upstream = true, .route = true, .flag = true},
     .kind = value_kind::words,
     .value = "LIST",
     .names = "TLSv1.2 TLSv1.3",
     .help = "The versions of TLS to speak: TLSv1.2, TLSv1.3 or both. In an upstream block: with "
             "its servers, where both is the default.",
     .note = "SSLv3, TLSv1.0 and TLSv1.1 are not offered: they are a warning beside TLSv1.2 or "
             "TLSv1.3, and else an error. As in hitch, tls or ssl beside tls-protos is an error.",
     .remark = old_tls_versions,
     .set_global = store<&config::tls_protos>,
     .set_frontend = store<&frontend_config::tls_protos>,
     .set_upstream = store_tls<&upstream_tls_config::protos>,
     .set_route = store_in_route<&frontend_config::tls_protos>,
     .show = shown<&config::tls_protos>},
    {.name = "ciphers",
     .group = key_group::tls,
     .where = global_frontend_and_route,
     .kind = value_kind::text,
     .value = "LIST",
     .help = "Cipher suites for TLS 1.2, the preferred first, as ciphers(1) writes them.",
     .note = "hitch's default also lets suites in that have no forward secrecy or no AEAD.",
     .short_flag = "-c",
     .set_global = store<&config::ciphers>,
     .set_frontend = store<&frontend_config::ciphers>,
     .set_route = store_in_route<&frontend_config::ciphers>,
     .show = shown<&config::ciphers>},
    {.name = "ciphersuites",
     .group = key_group::tls,
     .where = global_frontend_and_route,
     .kind = value_kind::text,
     .value = "LIST",
     .default_text = "the TLS library's",
     .help =
         "Cipher suites for TLS 1.3, the preferred first. With AWS-LC and BoringSSL the client's "
         "order decides among them.",
     .set_global = store<&config::ciphersuites>,
     .set_frontend = store<&frontend_config::ciphersuites>,
     .set_route = store_in_route<&frontend_config::ciphersuites>,
     .show = shown<&config::ciphersuites>},
    {.name = "prefer-server-ciphers",
     .group = key_group::tls,
     .where = global_frontend_and_route,
     .kind = value_kind::boolean,
     .help = "Choose the cipher suite by our order, not by the client's. In TLS 1.3 this is for "
             "OpenSSL: AWS-LC and BoringSSL heed the client's order there.",
     .short_flag = "-O",
     .set_global = store<&config::prefer_server_ciphers>,
     .set_frontend = store<&frontend_config::prefer_server_ciphers>,
     .set_route = store_in_route<&frontend_config::prefer_server_ciphers>,
     .show = shown<&config::prefer_server_ciphers>},
    {.name = "ecdh-curve",
     .group = key_group::tls,
     .where = {.global = true, .frontend = true, .upstream = true, .route = true, .flag = true},
     .kind = value_kind::text,
     .value = "LIST|auto",
     .help =
         "Groups for the key exchange, in the order of preference; where a client prefers another "
         "order, the client decides. The default, also called auto, leaves out X25519MLKEM768 "
         "where the TLS library does not have it; in a list of your own an unknown group is an "
         "error. In an upstream block: with its servers, where auto is the default.",
     .note = "hitch's auto is whatever OpenSSL prefers.",
     .set_global = set_ecdh_curve,
     .set_frontend = set_own_curve,
     .set_upstream = set_upstream_curve,
     .set_route = set_route_curve,
     .show = shown<&config::ecdh_curve>},
    {.name = "alpn-protos",
     .group = key_group::tls,
     .where = global_and_flag,
     .kind = value_kind::text,
     .value = "LIST",
     .default_text = "none",
     .help = "Application protocols that the backend speaks, the preferred first: h2,http/1.1.",
     .note = "ALPN only: NPN is gone.",
     .set_global = store<&config::alpn_protos>,
     .show = shown<&config::alpn_protos>},
    {.name = "ticket-secret",
     .group = key_group::tls,
     .where = global_and_flag,
     .kind = value_kind::text,
     .value = "FILE",
     .default_text = "none: a random one, which reloads keep and a restart loses",
     .help = "A file with the secret that the keys of session tickets are derived from. Sessions "
             "resume after a restart, and on every cleat with the same secret and settings. Each "
             "line has a secret: 32 bytes in hexadecimal digits or base64, as `cleat ticket-secret "
             "new` prints one. The first seals tickets, and all open them: add a new one at the "
             "end, on every machine, before it moves to the front. reload-on-change watches the "
             "file.",
     .note = "New.",
     .set_global = store<&config::ticket_secret>,
     .show = shown<&config::ticket_secret>},
    {.name = "ticket-epoch",
     .group = key_group::tls,
     .where = global_and_flag,
     .kind = value_kind::number,
     .value = "SECS",
     .help = "How long a key of session tickets seals, before the next is derived from the "
             "secret. The clocks of machines with the same secret may differ by as much.",
     .note = "New.",
     .lowest = 60,
     .highest = 7 * day,
     .set_global = store<&config::ticket_epoch>,
     .show = shown<&config::ticket_epoch>},
    {.name = "ticket-lifetime",
     .group = key_group::tls,
     .where = global_and_flag,
     .kind = value_kind::number,
     .value = "SECS",
     .help = "How long a client can resume a session with its ticket: from 1 to 48 times the "
             "ticket-epoch.",
     .note = "New.",
     .lowest = 60,
     .highest = 7 * day,
     .set_global = store<&config::ticket_lifetime>,
     .show = shown<&config::ticket_lifetime>},
    {.name = "ticket-ratchet",
     .group = key_group::tls,
     .where = global_and_flag,
     .kind = value_kind::boolean,
     .help = "Forget the keys of session tickets: each epoch's are derived from those of the epoch "
             "before, by a function with no way back, and what is older than ticket-lifetime and "
             "two epochs is overwritten in memory and in ticket-secret, which cleat rewrites at "
             "the end of each ticket-epoch. Its lines are then states, as `cleat ticket-secret new "
             "--ratchet` prints one. A machine that joins later needs the present file of another "
             "one. reload-on-change does not watch the file.",
     .note = "New.",
     .set_global = store<&config::ticket_ratchet>,
     .show = shown<&config::ticket_ratchet>},
    {.name = "tickets",
     .group = key_group::tls,
     .where = global_and_flag,
     .kind = value_kind::number,
     .value = "NUM",
     .help =
         "How many session tickets a client of TLS 1.3 gets with a full handshake. Each is for one "
         "connection: a browser that opens several at once can use several. In TLS 1.2, where a "
         "client uses one again and again, it is one at most. 0: cleat gives no tickets, and takes "
         "none. With OpenSSL a client that asks for fewer gets fewer (RFC 9149).",
     .note = "New.",
     .lowest = 0,
     .highest = limits::tickets_max,
     .set_global = store<&config::tickets>,
     .show = shown<&config::tickets>},
    {.name = "tickets-resumed",
     .group = key_group::tls,
     .where = global_and_flag,
     .kind = value_kind::number,
     .value = "NUM",
     .help =
         "How many session tickets a client gets with a handshake that resumes a session. With 0 "
         "a client cannot resume a resumed session again; in TLS 1.2 it keeps the ticket that it "
         "has. OpenSSL sends 1 at most.",
     .note = "New.",
     .lowest = 0,
     .highest = limits::tickets_max,
     .set_global = store<&config::tickets_resumed>,
     .show = shown<&config::tickets_resumed>},
    {.name = "session-cache",
     .group = key_group::tls,
     .where = global_and_flag,
     .kind = value_kind::number,
     .value = "NUM",
     .help =
         "How many sessions each worker keeps for clients of TLS 1.2 that take no tickets, and "
         "resume by the session's ID, on whatever worker: libcurl and Bouncy Castle do so. A "
         "session takes 350 bytes, more where the client has shown a certificate. All of them "
         "together take at most this number of KiB; beyond that the oldest are dropped. A session "
         "lives for ticket-lifetime, resumes under the same settings as a ticket does, and is "
         "lost at a restart. 0: no session resumes by its ID.",
     .note = "hitch's is shared by its processes, and 0 by default.",
     .short_flag = "-C",
     .other_names = "shared-cache",
     .lowest = 0,
     .highest = 10'000'000,
     .set_global = store<&config::session_cache>,
     .show = shown<&config::session_cache>},
    {.name = "tls",
     .group = key_group::tls,
     .where = {.global = true, .frontend = true, .upstream = true, .flag = true},
     .kind = value_kind::boolean,
     .default_text = "none; off in an upstream block",
     .help = "In an upstream block: on means that the servers speak TLS. Elsewhere, where it has "
             "no effect, it is stud's choice of TLSv1.0 and later.",
     .status = key_status::no_effect,
     .cure =
         "cleat speaks TLSv1.2 and TLSv1.3: leave it out, or choose with tls-protos. A frontend "
         "takes plaintext with client = on.",
     .set_upstream = store_tls<&upstream_tls_config::enabled>},
    {.name = "ssl",
     .group = key_group::tls,
     .where = global_and_frontend,
     .kind = value_kind::boolean,
     .default_text = "none",
     .help = "stud's choice of SSLv3 and later.",
     .status = key_status::no_effect,
     .cure = use_tls_protos},
    {.name = "dhparam",
     .group = key_group::tls,
     .where = {.global = true, .frontend = true, .pem_file = true},
     .kind = value_kind::text,
     .value = "FILE",
     .default_text = "none",
     .help = "Parameters for finite-field Diffie-Hellman, in Varnish's files.",
     .status = key_status::no_effect,
     .cure = "Keys are exchanged over elliptic curves: leave it out, or see ecdh-curve."},
    {.name = "ssl-engine",
     .group = key_group::tls,
     .where = global_and_flag,
     .kind = value_kind::text,
     .value = "NAME",
     .default_text = "none",
     .help = "OpenSSL's engine for accelerator cards.",
     .short_flag = "-e",
     .status = key_status::no_effect,
     .cure = "TLS libraries dropped engines: leave it out."},
    {.name = "shared-cache-listen",
     .group = key_group::tls,
     .where = global_and_flag,
     .kind = value_kind::text,
     .value = "HOST,PORT",
     .default_text = "none",
     .help = "The address where updates of a shared session cache arrive.",
     .short_flag = "-U",
     .status = key_status::no_effect,
     .cure = tickets_do_it},
    {.name = "shared-cache-peer",
     .group = key_group::tls,
     .where = global_and_flag,
     .kind = value_kind::text,
     .value = "HOST,PORT",
     .default_text = "none",
     .help = "The address where updates of a shared session cache go.",
     .short_flag = "-P",
     .repeatable = true,
     .status = key_status::no_effect,
     .cure = tickets_do_it},
    {.name = "shared-cache-if",
     .group = key_group::tls,
     .where = global_and_flag,
     .kind = value_kind::text,
     .value = "IFACE[,TTL]",
     .default_text = "none",
     .help = "The interface for updates of a shared session cache.",
     .short_flag = "-M",
     .status = key_status::no_effect,
     .cure = tickets_do_it},

    // How the client is announced to the upstream.
    {.name = "write-proxy-v2",
     .group = key_group::upstream_facts,
     .where = global_route_and_flag,
     .kind = value_kind::boolean,
     .help = "Begin each connection to the backend with a PROXY header of version 2: the client's "
             "address, the protocol that ALPN agreed, the name that SNI asked for, and the facts "
             "of TLS.",
     .set_global = store<&config::write_proxy_v2>,
     .set_route = store_header<&route_settings::write_proxy_v2>,
     .show = shown<&config::write_proxy_v2>},
    {.name = "write-proxy-v1",
     .group = key_group::upstream_facts,
     .where = global_route_and_flag,
     .kind = value_kind::boolean,
     .help = "Begin each connection to the backend with a PROXY header of version 1, one line of "
             "text: addresses only.",
     .set_global = store<&config::write_proxy_v1>,
     .set_route = store_header<&route_settings::write_proxy_v1>,
     .show = shown<&config::write_proxy_v1>},
    {.name = "write-proxy",
     .group = key_group::upstream_facts,
     .where = global_and_flag,
     .kind = value_kind::boolean,
     .default_text = "off",
     .help = "The same as write-proxy-v2; with --compat=stud, the same as write-proxy-v1.",
     .note = "In stud this name means version 1, in hitch version 2.",
     .set_global = set_write_proxy},
    {.name = "write-ip",
     .group = key_group::upstream_facts,
     .where = global_route_and_flag,
     .kind = value_kind::boolean,
     .help = "Begin each connection to the backend with the client's address alone: one byte of "
             "address family (2 for IPv4, 10 for IPv6), then 4 or 16 bytes in network order.",
     .note = "Byte for byte what stud and hitch send.",
     .set_global = store<&config::write_ip>,
     .set_route = store_header<&route_settings::write_ip>,
     .show = shown<&config::write_ip>},
    {.name = "proxy-proxy",
     .group = key_group::upstream_facts,
     .where = global_route_and_flag,
     .kind = value_kind::boolean,
     .help = "Expect a PROXY header of version 1 or 2 before the client's TLS, and pass it on "
             "unchanged.",
     .set_global = store<&config::proxy_proxy>,
     .set_route = store_header<&route_settings::proxy_proxy>,
     .show = shown<&config::proxy_proxy>},
    {.name = "proxy-from",
     .group = key_group::upstream_facts,
     .where = global_and_frontend,
     .kind = value_kind::text,
     .value = "LIST",
     .default_text = "none: no PROXY header is expected, but with proxy-proxy from every peer",
     .help = "Load balancers that send a PROXY header of version 1 or 2 before the client's TLS: a "
             "list as that of allow-from. The connections of any other peer are closed. The "
             "header's client is then the client: for the logs, client-hash, allow-from and "
             "deny-from, and for the header of write-proxy-v1 or write-proxy-v2.",
     .note = "New. A frontend's list replaces the global one.",
     .set_global = store<&config::proxy_from>,
     .set_frontend = store<&frontend_config::proxy_from>,
     .show = shown<&config::proxy_from>},
    {.name = "proxy-inbound-tlvs",
     .group = key_group::upstream_facts,
     .where = global_route_and_flag,
     .kind = value_kind::word,
     .value = "keep|drop",
     .help =
         "The TLVs in the header of proxy-from, where write-proxy-v2 sends one, too: keep passes "
         "them on, and drop does not. ALPN, AUTHORITY, SSL, CRC32C and NOOP are never passed "
         "on: the first three are about the balancer's TLS, and cleat writes its own.",
     .note = "New.",
     .set_global = store<&config::proxy_inbound_tlvs>,
     .set_route = store_header<&route_settings::proxy_inbound_tlvs>,
     .show = shown<&config::proxy_inbound_tlvs>},
    {.name = "proxy-checksum",
     .group = key_group::upstream_facts,
     .where = global_route_and_flag,
     .kind = value_kind::boolean,
     .help = "Put a checksum, CRC32C, into the header of write-proxy-v2. The checksum of a header "
             "that a load balancer sends is always checked.",
     .note = "New.",
     .set_global = store<&config::proxy_checksum>,
     .set_route = store_header<&route_settings::proxy_checksum>,
     .show = shown<&config::proxy_checksum>},
    {.name = "proxy-tlv",
     .group = key_group::upstream_facts,
     .where = global_route_and_flag,
     .kind = value_kind::boolean,
     .help =
         "Put the facts of TLS into the header of write-proxy-v2: version, cipher suite, group, "
         "signatures, and the client's certificate. The protocol that ALPN agreed is there in any "
         "case.",
     .set_global = store<&config::proxy_tlv>,
     .set_route = store_header<&route_settings::proxy_tlv>,
     .show = shown<&config::proxy_tlv>},
    {.name = "proxy-authority",
     .group = key_group::upstream_facts,
     .where = global_route_and_flag,
     .kind = value_kind::boolean,
     .help = "Put the name that SNI asked for into the header of write-proxy-v2.",
     .set_global = store<&config::proxy_authority>,
     .set_route = store_header<&route_settings::proxy_authority>,
     .show = shown<&config::proxy_authority>},
    {.name = "proxy-client-cert",
     .group = key_group::upstream_facts,
     .where = global_route_and_flag,
     .kind = value_kind::boolean,
     .help =
         "Put the client's whole certificate, in PEM with the label TRUSTED CERTIFICATE, into the "
         "header of write-proxy-v2: a TLV of type 0xE0. A certificate longer than 32 KiB is left "
         "out.",
     .note = "The type is hitch's: the PROXY protocol does not define it. Without write-proxy-v2 "
             "or client-verify it is an error.",
     .set_global = store<&config::proxy_client_cert>,
     .set_route = store_header<&route_settings::proxy_client_cert>,
     .show = shown<&config::proxy_client_cert>},

    // Load and deadlines.
    {.name = "workers",
     .group = key_group::load,
     .where = global_and_flag,
     .kind = value_kind::word,
     .value = "NUM|auto",
     .help = "Threads that serve, each with everything it needs; auto is one for each core.",
     .note = "stud and hitch start processes.",
     .short_flag = "-n",
     .lowest = 1,
     .highest = limits::workers_max,
     .set_global = store<&config::workers>,
     .show = shown<&config::workers>},
    {.name = "backlog",
     .group = key_group::load,
     .where = global_and_flag,
     .kind = value_kind::number,
     .value = "NUM",
     .help = "Connections that may wait to be accepted, for each worker and frontend. The kernel's "
             "net.core.somaxconn is the ceiling.",
     .note = "100 in stud and hitch, which is too few for a burst of clients.",
     .short_flag = "-B",
     .lowest = 1,
     .highest = 65'535,
     .set_global = store<&config::backlog>,
     .show = shown<&config::backlog>},
    {.name = "handshake-budget",
     .group = key_group::load,
     .where = global_and_flag,
     .kind = value_kind::number,
     .value = "MICROSECONDS",
     .help = "Time for handshakes in each pass of a worker's event loop; then established "
             "connections are served again. A handshake that has begun is not interrupted: one "
             "RSA-2048 signature takes some 400 microseconds, one of ECDSA some 20.",
     .lowest = 1,
     .highest = limits::handshake_time_max.count(),
     .set_global = store<&config::handshake_budget>,
     .show = shown<&config::handshake_budget>},
    {.name = "handshake-shed",
     .group = key_group::load,
     .where = global_and_flag,
     .kind = value_kind::word,
     .value = "reset|alert",
     .help = "Answer to a client whose full handshake would come too late, because more come than "
             "a worker can serve. reset costs the least, and frees the connection at once: the "
             "client sees a connection that was reset. With alert the client gets the TLS alert "
             "internal_error, in plaintext, and then the connection's end: some clients and their "
             "logs tell that apart from a network's failure. It costs a send and a read more, and "
             "the kernel keeps the connection's port for up to a minute.",
     .set_global = store<&config::handshake_shed>,
     .show = shown<&config::handshake_shed>},
    {.name = "keepalive",
     .group = key_group::load,
     .where = global_and_flag,
     .kind = value_kind::number,
     .value = "SECS",
     .help = "How long a client is silent before TCP asks whether it is still there.",
     .short_flag = "-k",
     .lowest = 1,
     .highest = 32'767, // the kernel's own limit for TCP_KEEPIDLE
     .set_global = store<&config::keepalive>,
     .show = shown<&config::keepalive>},
    {.name = "ssl-handshake-timeout",
     .group = key_group::load,
     .where = global_and_flag,
     .kind = value_kind::number,
     .value = "SECS",
     .help = "How long a client may take to finish its handshake.",
     .note = "A client that sends nothing is closed about a second later, because the kernel "
             "waits that long for its first bytes before cleat gets the connection "
             "(TCP_DEFER_ACCEPT).",
     .lowest = 1,
     .highest = day,
     .set_global = store<&config::ssl_handshake_timeout>,
     .show = shown<&config::ssl_handshake_timeout>},
    {.name = "backend-connect-timeout",
     .group = key_group::load,
     .where = global_and_flag,
     .kind = value_kind::number,
     .value = "SECS",
     .help =
         "How long the backend may take to accept. Where its name has several addresses, each has "
         "a part of that time.",
     .lowest = 1,
     .highest = day,
     .set_global = store<&config::backend_connect_timeout>,
     .show = shown<&config::backend_connect_timeout>},
    {.name = "idle-timeout",
     .group = key_group::load,
     .where = global_and_flag,
     .kind = value_kind::number,
     .value = "SECS",
     .help = "End a connection on which no byte has moved either way for this long; 0 is never.",
     .note = "New in cleat. stud and hitch wait for ever, and so does the default.",
     .lowest = 0,
     .highest = 30 * day,
     .set_global = store<&config::idle_timeout>,
     .show = shown<&config::idle_timeout>},
    {.name = "drain-delay",
     .group = key_group::load,
     .where = global_and_flag,
     .kind = value_kind::number,
     .value = "SECS",
     .help = "After SIGTERM or POST /drain, how long new connections are still accepted while "
             "/readyz of the admin server says that cleat is not ready: time for a load balancer "
             "to send them elsewhere. shutdown-timeout begins after that. A second SIGTERM ends "
             "the delay. Nothing is reloaded in that time, and both times together must be shorter "
             "than systemd's TimeoutStopSec.",
     .note = "New in cleat. Longer than a balancer takes to see it: interval times failures.",
     .lowest = 0,
     .highest = day,
     .set_global = store<&config::drain_delay>,
     .show = shown<&config::drain_delay>},
    {.name = "shutdown-timeout",
     .group = key_group::load,
     .where = global_and_flag,
     .kind = value_kind::number,
     .value = "SECS",
     .help = "After SIGTERM and drain-delay, how long connections may take to finish before they "
             "are ended; 0 is at once.",
     .note = "New in cleat. stud and hitch end at once. How many connections were finished is "
             "logged at log-level 2; that some were cut off is a warning, at any level above 0.",
     .lowest = 0,
     .highest = day,
     .set_global = store<&config::shutdown_timeout>,
     .show = shown<&config::shutdown_timeout>},
    {.name = "recv-bufsize",
     .group = key_group::load,
     .where = global_and_flag,
     .kind = value_kind::number,
     .value = "BYTES",
     .help = "The kernel's receive buffer of a client's socket (SO_RCVBUF); -1 or 0 lets it adapt.",
     .lowest = -1,
     .highest = 1 << 30,
     .set_global = store<&config::recv_bufsize>,
     .show = shown<&config::recv_bufsize>},
    {.name = "send-bufsize",
     .group = key_group::load,
     .where = global_and_flag,
     .kind = value_kind::number,
     .value = "BYTES",
     .help = "The kernel's send buffer of a client's socket (SO_SNDBUF); -1 or 0 lets it adapt.",
     .lowest = -1,
     .highest = 1 << 30,
     .set_global = store<&config::send_bufsize>,
     .show = shown<&config::send_bufsize>},
    {.name = "tcp-fastopen",
     .group = key_group::load,
     .where = global_and_flag,
     .kind = value_kind::boolean,
     .help =
         "Take a ClientHello with a client's first packet (RFC 7413). The kernel does that where "
         "its net.ipv4.tcp_fastopen has the bit 2; else this is an error.",
     .note = "hitch does not look at the kernel's setting.",
     .other_names = "enable-tcp-fastopen",
     .set_global = store<&config::tcp_fastopen>,
     .show = shown<&config::tcp_fastopen>},
    {.name = "max-memory",
     .group = key_group::load,
     .where = global_and_flag,
     .kind = value_kind::word,
     .value = "SIZE|auto|off",
     .help =
         "The most memory that may be in use, such as 512M: a number with K, M or G. As it comes "
         "near, buffers become small, unfinished handshakes end, new connections are refused with "
         "a reset, and then those end whose receiver takes nothing. Where the control group has a "
         "limit of memory, all that the kernel charges the group for counts, except page cache "
         "that it can take back; otherwise this process alone, without the buffers of its sockets. "
         "auto is 90 percent of the control group's limit, and an error where there is none.",
     .note = "New.",
     .set_global = store<&config::max_memory>,
     .show = shown<&config::max_memory>},
    {.name = "max-connections",
     .group = key_group::load,
     .where = {.global = true, .frontend = true, .server = true, .route = true, .flag = true},
     .kind = value_kind::number,
     .value = "NUM",
     .help =
         "Connections that may be open at a time, in equal parts for the workers; 0 is any "
         "number. At the top they are those of all clients, in a frontend block those of the "
         "frontend. One more is refused with a reset, before TLS; in a route block, which has its "
         "own, after the ClientHello. In a server block they are those to the server: others go "
         "to the next server, and where every one is full they wait in line, as long as "
         "backend-connect-timeout lasts.",
     .note = "New.",
     .lowest = 0,
     .highest = connections_highest,
     .set_global = store<&config::max_connections>,
     .set_frontend = store<&frontend_config::max_connections>,
     .set_server = store<&upstream_server::max_connections>,
     .set_route = store_in_route<&frontend_config::max_connections>,
     .show = shown<&config::max_connections>},
    {.name = "client-max-connections",
     .group = key_group::load,
     .where = global_frontend_and_route,
     .kind = value_kind::number,
     .value = "NUM",
     .help = "Connections that one client may have open at a time. A client is an address of IPv4 "
             "or a /64 of IPv6: see client-prefix-ipv4 and client-prefix-ipv6; behind proxy-from "
             "it is the one of the PROXY header. One more is refused with a reset, before TLS. At "
             "the top it is for all frontends together. A frontend block with this, "
             "client-handshake-rate or client-handshake-burst counts its clients apart from all "
             "others, by its own values and, for those that it leaves out, the values at the top. "
             "In a route block it is asked beside the frontend's, after the ClientHello. 0 is no "
             "limit.",
     .note = "New.",
     .lowest = 0,
     .highest = connections_highest,
     .set_global = store<&config::client_max_connections>,
     .set_frontend = store<&frontend_config::client_max_connections>,
     .set_route = store_in_route<&frontend_config::client_max_connections>,
     .show = shown<&config::client_max_connections>},
    {.name = "client-handshake-rate",
     .group = key_group::load,
     .where = global_frontend_and_route,
     .kind = value_kind::number,
     .value = "NUM",
     .help = "Handshakes that one client may begin in a second. Each connection counts as one when "
             "it is accepted, a passthrough too. One more is refused with a reset, before any work "
             "for TLS. In a frontend block it replaces the one at the top, as "
             "client-max-connections does. In a route block it is asked beside the frontend's, "
             "after the ClientHello and before any public-key operation. 0 is no limit.",
     .note = "New.",
     .lowest = 0,
     .highest = 1'000'000,
     .set_global = store<&config::client_handshake_rate>,
     .set_frontend = store<&frontend_config::client_handshake_rate>,
     .set_route = store_in_route<&frontend_config::client_handshake_rate>,
     .show = shown<&config::client_handshake_rate>},
    {.name = "client-handshake-burst",
     .group = key_group::load,
     .where = global_frontend_and_route,
     .kind = value_kind::number,
     .value = "NUM",
     .help = "Handshakes that one client may begin at once, after a pause, where "
             "client-handshake-rate is set; 0 is as many as in a second.",
     .note = "New.",
     .lowest = 0,
     .highest = 100'000,
     .set_global = store<&config::client_handshake_burst>,
     .set_frontend = store<&frontend_config::client_handshake_burst>,
     .set_route = store_in_route<&frontend_config::client_handshake_burst>,
     .show = shown<&config::client_handshake_burst>},
    {.name = "client-prefix-ipv4",
     .group = key_group::load,
     .where = global_and_flag,
     .kind = value_kind::number,
     .value = "BITS",
     .help = "The leading bits of an IPv4 address that identify a client, for its limits: with 24 "
             "a whole /24 is one client.",
     .note = "New.",
     .lowest = 1,
     .highest = 32,
     .set_global = store<&config::client_prefix_ipv4>,
     .show = shown<&config::client_prefix_ipv4>},
    {.name = "client-prefix-ipv6",
     .group = key_group::load,
     .where = global_and_flag,
     .kind = value_kind::number,
     .value = "BITS",
     .help = "The leading bits of an IPv6 address that identify a client, for its limits. A "
             "network's hosts choose the last 64 themselves.",
     .note = "New.",
     .lowest = 1,
     .highest = 128,
     .set_global = store<&config::client_prefix_ipv6>,
     .show = shown<&config::client_prefix_ipv6>},
    {.name = "client-table-size",
     .group = key_group::load,
     .where = global_and_flag,
     .kind = value_kind::number,
     .value = "NUM",
     .help = "Clients that each worker can count at a time, for client-max-connections and "
             "client-handshake-rate, at 18 bytes each. Clients without a place share the limits "
             "of one: with twice as many places as there are clients, one client in a hundred.",
     .note = "New.",
     .lowest = 1,
     .highest = limits::client_table_max,
     .set_global = store<&config::client_table_size>,
     .show = shown<&config::client_table_size>},
    {.name = "ring-slots",
     .group = key_group::load,
     .where = global_only,
     .kind = value_kind::number,
     .value = "NUM",
     .default_text = "none",
     .help = "Slots in hitch's buffers.",
     .status = key_status::no_effect,
     .cure = "A connection has no buffers of its own here: leave it out."},
    {.name = "ring-data-len",
     .group = key_group::load,
     .where = global_only,
     .kind = value_kind::number,
     .value = "BYTES",
     .default_text = "none",
     .help = "Bytes in a slot of hitch's buffers.",
     .status = key_status::no_effect,
     .cure = "A connection has no buffers of its own here: leave it out."},

    // Process.
    {.name = "user",
     .group = key_group::process,
     .where = global_and_flag,
     .kind = value_kind::text,
     .value = "USER",
     .default_text = "none: the user who starts cleat",
     .help = "Become this user once the ports are open and the keys are read. A small process "
             "stays root, and opens what a reload needs.",
     .short_flag = "-u",
     .set_global = store<&config::user>,
     .show = shown<&config::user>},
    {.name = "group",
     .group = key_group::process,
     .where = global_and_flag,
     .kind = value_kind::text,
     .value = "GROUP",
     .default_text = "the user's own",
     .help = "Become this group.",
     .short_flag = "-g",
     .set_global = store<&config::group>,
     .show = shown<&config::group>},
    {.name = "chroot",
     .group = key_group::process,
     .where = global_and_flag,
     .kind = value_kind::text,
     .value = "DIR",
     .default_text = "none",
     .help =
         "Make this directory the root of the file system once the ports are open and the "
         "certificates read. It needs a start as root. Everything that is opened later is inside: "
         "the socket of admin, at a reload the configuration and its files, the log when it is "
         "opened "
         "again, the files for looking up names. Write absolute paths.",
     .note = "A reload sees the same paths inside the directory, as hitch's does. No process stays "
             "root, so a reload has the rights of user.",
     .short_flag = "-r",
     .set_global = store<&config::chroot>,
     .show = shown<&config::chroot>},
    {.name = "daemon",
     .group = key_group::process,
     .where = global_and_flag,
     .kind = value_kind::boolean,
     .help =
         "Go into the background once everything is ready to serve. Without log-filename the log "
         "goes to syslog, with a warning unless syslog is on; where no log daemon listens, "
         "nothing is logged.",
     .note = "With --compat=stud it turns syslog on.",
     .set_global = set_daemon,
     .show = shown<&config::daemon>},
    {.name = "pidfile",
     .group = key_group::process,
     .where = global_and_flag,
     .kind = value_kind::text,
     .value = "FILE",
     .default_text = "none",
     .help = "Write the process id here. A symbolic link, a file with other content, or the pid "
             "file of a running cleat is an error.",
     .note = "hitch has it on the command line only.",
     .short_flag = "-p",
     .set_global = store<&config::pidfile>,
     .show = shown<&config::pidfile>},
    {.name = "reload-on-change",
     .group = key_group::process,
     .where = global_and_flag,
     .kind = value_kind::boolean,
     .help = "Reload when a file changes that the configuration names, or the configuration file "
             "itself. A renewal may take several writes: files that cannot be used yet are tried "
             "again for ten seconds.",
     .set_global = store<&config::reload_on_change>,
     .show = shown<&config::reload_on_change>},

    {.name = "sandbox",
     .group = key_group::process,
     .where = global_and_flag,
     .kind = value_kind::words,
     .value = "LIST",
     .names = "auto landlock seccomp off",
     .help =
         "The limits that cleat takes upon itself once it serves. landlock: it reads the system's "
         "configuration and the folders of the files that it was started with, writes its log, "
         "pid file, index, sockets and ratchet, and executes nothing. ports: it listens and "
         "connects by TCP at the ports of the start only. seccomp: it makes the system calls that "
         "it needs, and no others. auto is landlock where the kernel has it; off is nothing. A "
         "part that is named but not available is an error.",
     .note = "New in cleat. A reload that needs more is refused; see sandbox-read. Started as root "
             "with user, a reload may bind other ports: the process that opens root's files does.",
     .set_global = store<&config::sandbox>,
     .show = shown<&config::sandbox>},
    {.name = "sandbox-read",
     .group = key_group::process,
     .where = global_and_flag,
     .kind = value_kind::text,
     .value = "DIR",
     .default_text = "none",
     .help = "A folder of files that a later reload may name, although the start names none of "
             "it. It is an absolute path, and must be there at the start.",
     .note = "New in cleat.",
     .repeatable = true,
     .set_global = add_to<&config::sandbox_read>},
    {.name = "sandbox-write",
     .group = key_group::process,
     .where = global_and_flag,
     .kind = value_kind::text,
     .value = "DIR",
     .default_text = "none",
     .help =
         "A folder where a later reload may put log-filename, access-log or the socket of admin. "
         "It is an absolute path, and must be there at the start. Logs may also be put into the "
         "folders of $LOGS_DIRECTORY, which systemd sets for a unit with LogsDirectory=.",
     .note = "New in cleat.",
     .repeatable = true,
     .set_global = add_to<&config::sandbox_write>},
    {.name = "core-dumps",
     .group = key_group::process,
     .where = global_and_flag,
     .kind = value_kind::boolean,
     .help = "Let the kernel write core dumps, and debuggers of the same user read cleat's memory: "
             "the private keys, the secrets of tickets and plaintext are in both. No part of the "
             "memory is left out of a dump, so keep dumps as you keep keys.",
     .note = "New in cleat.",
     .set_global = store<&config::core_dumps>,
     .show = shown<&config::core_dumps>},
    {.name = "lock-memory",
     .group = key_group::process,
     .where = global_and_flag,
     .kind = value_kind::boolean,
     .help = "Keep all of cleat's memory, private keys among it, out of swap. It needs a start as "
             "root, or no limit on locked memory (ulimit -l). Memory of closed connections then "
             "stays with cleat, for later ones.",
     .note = "New in cleat.",
     .set_global = store<&config::lock_memory>,
     .show = shown<&config::lock_memory>},

    // The admin server.
    {.name = "admin",
     .group = key_group::admin,
     .where = global_and_flag,
     .kind = value_kind::text,
     .value = "[HOST]:PORT|/PATH",
     .default_text = "none: there is no admin server",
     .help =
         "Serve a status page, metrics, health and commands over HTTP at this address, or on the "
         "UNIX socket at this absolute path (also written unix:/PATH), which only root and the "
         "user of cleat can use (mode 0600). HOST is a number; port 0 is any free port, which the "
         "log names at log-level 2. Any local user can send commands to a port. GET: / (the page), "
         "/metrics, /status.json, /configuration, /healthz, /readyz. POST: /reload, /drain, "
         "/log-level, /server.",
     .set_global = store<&config::admin>,
     .show = shown<&config::admin>},
    {.name = "admin-allow-remote",
     .group = key_group::admin,
     .where = global_and_flag,
     .kind = value_kind::boolean,
     .help = "The address of admin may be one that other machines reach. There is no password: "
             "a client that reaches it can read everything and end cleat.",
     .set_global = store<&config::admin_allow_remote>,
     .show = shown<&config::admin_allow_remote>},
    {.name = "certificate-metrics",
     .group = key_group::admin,
     .where = global_and_flag,
     .kind = value_kind::number,
     .value = "NUM",
     .help = "/metrics has the end of this many certificates by name: of those that end first. "
             "cleat searches for them at a start, after a reload and each hour.",
     .lowest = 0,
     .highest = limits::certificate_metrics_max,
     .set_global = store<&config::certificate_metrics>,
     .show = shown<&config::certificate_metrics>},

    // Log.
    {.name = "log-level",
     .group = key_group::log,
     .where = global_and_flag,
     .kind = value_kind::number,
     .value = "NUM",
     .help = "0 is silence, 1 warnings and errors, 2 every event.",
     .short_flag = "-L",
     .lowest = 0,
     .highest = 2,
     .set_global = store<&config::log_level>,
     .show = shown<&config::log_level>},
    {.name = "log-burst",
     .group = key_group::log,
     .where = global_and_flag,
     .kind = value_kind::number,
     .value = "NUM",
     .help = "Each worker logs at most this many failed connections a minute for each reason, and "
             "then one line with the number of the others. 0 is no limit.",
     .lowest = 0,
     .highest = 1'000'000,
     .set_global = store<&config::log_burst>,
     .show = shown<&config::log_burst>},
    {.name = "log-filename",
     .group = key_group::log,
     .where = global_and_flag,
     .kind = value_kind::text,
     .value = "FILE",
     .default_text = "none: stderr",
     .help =
         "Add the log to this file; /dev/stdout and /dev/stderr are possible. cleat gives a file "
         "that it makes to user, so that cleat can open it again after a rotation; a file that "
         "exists keeps its owner. A symbolic link, or a file with another hard link, is an error: "
         "a user who can write the folder could point it at any file.",
     .short_flag = "-l",
     .set_global = store<&config::log_filename>,
     .show = shown<&config::log_filename>},
    {.name = "syslog",
     .group = key_group::log,
     .where = global_and_flag,
     .kind = value_kind::boolean,
     .help = "Send the log to syslog instead of stderr; with log-filename, to both. Without a log "
             "daemon on /dev/log, this is a warning beside log-filename, and else an error.",
     .short_flag = "-s",
     .set_global = store<&config::syslog>,
     .show = shown<&config::syslog>},
    {.name = "syslog-facility",
     .group = key_group::log,
     .where = global_and_flag,
     .kind = value_kind::word,
     .value = "NAME",
     .names = "auth authpriv cron daemon ftp local0 local1 local2 local3 local4 local5 local6 "
              "local7 lpr mail news user uucp",
     .help = "auth, authpriv, cron, daemon, ftp, local0 to local7, lpr, mail, news, user or uucp; "
             "for the log and the access log.",
     .note = "auth means authpriv, as in stud and hitch.",
     .set_global = store<&config::syslog_facility>,
     .show = shown<&config::syslog_facility>},
    {.name = "access-log",
     .group = key_group::log,
     .where = global_and_flag,
     .kind = value_kind::text,
     .value = "FILE|stdout|syslog|off",
     .help = "Write a line for each connection when it has ended: to this file, which is opened "
             "again by SIGUSR1 and when it has been renamed, to standard output, or to syslog. The "
             "file is a path with a slash, and another one than log-filename's, whose rules hold "
             "for it.",
     .set_global = store<&config::access_log>,
     .show = shown<&config::access_log>},
    {.name = "access-log-format",
     .group = key_group::log,
     .where = global_and_flag,
     .kind = value_kind::word,
     .value = "logfmt|json",
     .help = "logfmt is key=value pairs; json is an object for each line.",
     .set_global = store<&config::access_log_format>,
     .show = shown<&config::access_log_format>},
    {.name = "quiet",
     .group = key_group::log,
     .where = global_and_flag,
     .kind = value_kind::boolean,
     .default_text = "off",
     .help = "The old way to say log-level: on is 0, off is 1.",
     .short_flag = "-q",
     .set_global = set_quiet},
};

// A key that does nothing is no mistake where its value asks for nothing: stud's and hitch's sample
// files have many such lines.
bool asks_for_nothing(given const& v)
{
    switch (v.row.kind) {
    case value_kind::boolean: {
        parsed<bool> const on = read(as<bool>{}, v);
        return on && !*on;
    }
    case value_kind::number:
        return v.text == "0";
    case value_kind::word:
    case value_kind::text:
    case value_kind::words:
        return v.text.empty();
    }
    return false;
}

template <class Scope>
void apply_in(
    Scope& scope, refusal (*set)(Scope&, given const&), given const& v,
    std::vector<problem>& problems)
{
    auto const report = [&](problem::severity grade, std::string text, std::string cure) {
        problems.push_back({grade, v.place, std::string{v.key}, std::move(text), std::move(cure)});
    };
    auto const warn_unless_nothing = [&](std::string_view cure) {
        if (!asks_for_nothing(v))
            report(problem::severity::warning, "this has no effect", std::string{cure});
    };
    // A key without effect may still have one in some block: `tls` has, in that of an upstream.
    key_status const status = set == nullptr ? v.row.status : key_status::supported;
    switch (status) {
    case key_status::supported:
        if (set == nullptr)
            return warn_unless_nothing(v.row.frontend_cure);
        if (refusal bad = set(scope, v))
            report(problem::severity::error, std::move(bad->text), std::move(bad->cure));
        else if (refusal partly = v.row.remark ? v.row.remark(v) : refusal{})
            report(problem::severity::warning, std::move(partly->text), std::move(partly->cure));
        return;
    case key_status::no_effect:
        return warn_unless_nothing(v.row.cure);
    }
}

// Edits (insert, delete, replace, swap of neighbours) from one word to the other.
std::size_t edit_distance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j)
        last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            std::size_t const replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before_last[j - 2] + 1);
        }
        std::swap(before_last, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

bool is_other_name(key_row const& row, std::string_view name)
{
    std::string_view rest = row.other_names;
    while (!rest.empty()) {
        std::size_t const end = std::min(rest.find(','), rest.size());
        if (rest.substr(0, end) == name)
            return true;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return false;
}

} // namespace

std::span<key_row const> config_table() noexcept
{
    return rows;
}

key_row const* find_key(std::string_view name) noexcept
{
    auto const* const found = std::ranges::find_if(
        rows, [&](key_row const& row) { return row.name == name || is_other_name(row, name); });
    return found == std::end(rows) ? nullptr : found;
}

std::string default_of(key_row const& row)
{
    return row.default_text.empty() && row.show ? row.show(config{})
                                                : std::string{row.default_text};
}

void apply(config& scope, given const& value, std::vector<problem>& problems)
{
    apply_in(scope, value.row.set_global, value, problems);
}

void apply(frontend_config& scope, given const& value, std::vector<problem>& problems)
{
    apply_in(scope, value.row.set_frontend, value, problems);
}

void apply(pem_file& scope, given const& value, std::vector<problem>& problems)
{
    apply_in(scope, value.row.set_pem_file, value, problems);
}

void apply(upstream_config& scope, given const& value, std::vector<problem>& problems)
{
    apply_in(scope, value.row.set_upstream, value, problems);
}

void apply(upstream_server& scope, given const& value, std::vector<problem>& problems)
{
    apply_in(scope, value.row.set_server, value, problems);
}

void apply(route_config& scope, given const& value, std::vector<problem>& problems)
{
    apply_in(scope, value.row.set_route, value, problems);
}

void apply(allow_config& scope, given const& value, std::vector<problem>& problems)
{
    apply_in(scope, value.row.set_allow, value, problems);
}

void apply(allow_list& scope, given const& value, std::vector<problem>& problems)
{
    apply_in(scope, &refuse_allow_text<allow_list>, value, problems);
}

std::string_view nearest(std::string_view word, std::span<std::string_view const> candidates)
{
    constexpr std::size_t word_bytes_max = 64; // no key is so long
    if (word.size() > word_bytes_max)
        return {};
    std::string_view best;
    std::size_t best_distance =
        word.size() / 3 + 2; // exclusive: a third of the letters may be wrong, and one
    for (std::string_view const candidate : candidates) {
        std::size_t const distance = edit_distance(word, candidate);
        if (distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

} // namespace cleat::app
