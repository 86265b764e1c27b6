#include "connection/client_address.hpp"
#include "connection/connection_log.hpp"
#include "proxy/tlv_names.hpp"

#include <cleat/tls/alert.hpp>

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

namespace cleat::app {
namespace {

// Adds a text that takes memory to make. Where there is none, the line goes without it.
template <class Make>
void add_text(log_line& line, std::string_view key, Make make) noexcept
{
    try {
        line.add(key, make());
    } catch (std::bad_alloc const&) {
    }
}

// A client may choose long names, so call it last.
void add_certificate(log_line& line, tls::certificate_identity const& shown) noexcept
{
    line.add("subject", shown.subject)
        .add("fingerprint", shown.fingerprint)
        .add("issuer", shown.issuer)
        .add("serial", shown.serial);
}

void add_failure(log_line& line, tls::failure_info const& failure) noexcept
{
    if (failure.peer_alert >= 0)
        line.add("alert", tls::alert_name(failure.peer_alert));
    if (!failure.reason.empty())
        line.add("detail", failure.reason);
    if (!failure.refused.fingerprint.empty())
        add_certificate(line, failure.refused);
}

void add_offers(log_line& line, tls::client_offers const& offers) noexcept
{
    for (auto const& [key, list] :
         {std::pair{"offered_versions", &offers.versions},
          std::pair{"offered_ciphers", &offers.ciphers},
          std::pair{"offered_groups", &offers.groups}})
        if (!list->empty())
            line.add(key, *list);
}

// A handshake that fails like this is a port scanner's, or of a client that has changed its mind:
// nothing that the operator could mend.
bool is_strangers(error_code why, bool has_received) noexcept
{
    return why == error::not_tls || why == error::http_request || why == error::truncated ||
           is_reset(why) || (why == error::handshake_timeout && !has_received);
}

} // namespace

connection_log::connection_log(
    frontend_socket const& frontend, net::address const& peer,
    std::unique_ptr<inbound_header> const& proxy_header) noexcept
    : frontend_{frontend}
    , peer_{peer}
    , proxy_header_{proxy_header}
    , traffic_{
          .published = &frontend.service.connections(), .begun = frontend.service.worker().now()}
{
    service().on_connection(frontend_);
}

connection_log::~connection_log()
{
    if (!written_)
        write_closed();
    write_access();
    counts().until_closed.record(age());
    service().on_close(frontend_, reason_);
}

// With a PROXY header the peer is a load balancer, and the source is the balancer's client.
std::string connection_log::source() const
{
    bool const has_source = proxy_header_ != nullptr && proxy_header_->has_addresses();
    return has_source ? to_string(proxy_header_->source) : std::string{};
}

void connection_log::add_addresses(log_line& line) const noexcept
{
    line.add("frontend", frontend_.name);
    add_text(line, "peer", [&] { return net::to_string(peer_); });
    try {
        if (std::string const from = source(); !from.empty())
            line.add("source", from);
    } catch (std::bad_alloc const&) {
    }
    if (is_passthrough())
        line.add("passthrough", true);
}

// Without memory there is no example, only the count.
void connection_log::count_failure(
    failure_event event, std::size_t number, error_code why, tls::engine const* engine) noexcept
{
    if (!counts().examples.count(number, service().worker().now()))
        return;
    try {
        failure_example example = example_of(why, engine);
        example.event = event;
        counts().examples.keep(number, example);
    } catch (std::bad_alloc const&) {
    }
}

failure_example connection_log::example_of(error_code why, tls::engine const* engine) const
{
    failure_example made{.time = std::chrono::system_clock::now(), .frontend = frontend_.name};
    std::string const from = source();
    made.client = from.empty() ? net::to_string(peer_) : from;
    // cleat's own errors are named by the reason.
    if (why && why.category() != error_category())
        made.detail = why.message();
    if (is_passthrough())
        made.server_name = facts_->server_name;
    if (proxy_header_ != nullptr && !proxy_header_->fault.empty())
        made.detail = proxy_header_->fault;
    if (engine == nullptr)
        return made;
    tls::failure_info const& failure = engine->failure();
    made.server_name = engine->info().server_name;
    if (failure.peer_alert >= 0)
        made.alert = tls::alert_name(failure.peer_alert);
    if (!failure.reason.empty())
        made.detail = failure.reason;
    made.subject = failure.refused.subject;
    return made;
}

template <class Add>
void connection_log::write_refused(error_code why, tls::engine const* engine, Add add) noexcept
{
    reason_ = reason_for(phase::admission, why);
    write_access(why, engine);
    written_ = true;
    constexpr std::string_view event = "connection-refused";
    if (!wants(log_level::warning, event, why))
        return;
    log_line line = log().warning(event);
    add_addresses(line);
    line.add("reason", why);
    add(line);
}

void connection_log::refused(error_code why) noexcept
{
    if (why == error::handshake_shed)
        counts().shed.add(client_bytes(frontend_.plan.admission.get(), peer_, proxy_header_.get()));
    write_refused(why, nullptr, [](log_line&) {});
}

void connection_log::refused(
    error_code why, tls::engine const& engine, tls::client_certificate const& shown,
    std::string_view detail) noexcept
{
    write_refused(why, &engine, [&](log_line& line) {
        line.add("sni", engine.info().server_name);
        if (!detail.empty())
            line.add("detail", detail);
        try {
            add_certificate(line, engine.peer_identity());
        } catch (std::bad_alloc const&) {
            line.add("subject", shown.subject);
        }
    });
}

void connection_log::refused_by_route(
    error_code why, std::string_view server_name, std::string_view route,
    tls::engine const* engine) noexcept
{
    write_refused(why, engine, [&](log_line& line) {
        if (!frontend_.plan.takes_plaintext)
            line.add("sni", server_name);
        if (!route.empty())
            line.add("route", route);
    });
}

void connection_log::proxy_header_failed(error_code why) noexcept
{
    if (why == error::untrusted_proxy)
        return refused(why);
    reason_ = reason_for(phase::proxy_header, why);
    write_access(why);
    if (reason_ == close_reason::client_silent)
        return;
    written_ = true;
    count_failure(failure_event::proxy_header, failure_number(reason_), why);
    constexpr std::string_view event = "proxy-header-failed";
    if (!wants(log_level::warning, event, why))
        return;
    log_line line = log().warning(event);
    add_addresses(line);
    line.add("reason", why);
    if (proxy_header_ != nullptr && !proxy_header_->fault.empty())
        line.add("detail", proxy_header_->fault);
}

void connection_log::handshake_begins(tls::engine& engine)
{
    if (!service().access().is_on())
        return;
    facts_ = std::make_unique<client_facts>();
    engine.fingerprint_client(facts_->ja4);
}

void connection_log::handshake_failed(error_code why, tls::engine const& engine) noexcept
{
    reason_ = reason_for(engine.has_received() ? phase::handshake : phase::first_byte, why);
    write_access(why, &engine);
    // A health check that connects and closes is no failed handshake.
    if (reason_ == close_reason::client_silent)
        return;
    written_ = true;
    tls::failure_info const& failure = engine.failure();
    counts().failed(why, failure.peer_alert, failure.own_alert);
    count_failure(failure_event::handshake, failure_number(failure_kind_of(why)), why, &engine);
    write_handshake_failed(why, is_strangers(why, engine.has_received()), &engine);
}

void connection_log::hello_failed(error_code why, bool has_bytes) noexcept
{
    reason_ = reason_for(has_bytes ? phase::handshake : phase::first_byte, why);
    write_access(why);
    if (reason_ == close_reason::client_silent)
        return;
    written_ = true;
    counts().failed(why, -1);
    count_failure(failure_event::handshake, failure_number(failure_kind_of(why)), why);
    write_handshake_failed(why, is_strangers(why, has_bytes), nullptr);
}

void connection_log::challenge_refused(std::string_view server_name, std::string_view why) noexcept
{
    error_code const kind = error::certificate_unavailable;
    reason_ = close_reason::handshake_failed;
    write_access(kind);
    written_ = true;
    counts().failed(kind, -1);
    count_failure(failure_event::handshake, failure_number(failure_kind_of(kind)), kind);
    constexpr std::string_view event = "challenge-refused";
    if (!wants(log_level::warning, event, kind))
        return;
    log_line line = log().warning(event);
    add_addresses(line);
    line.add("sni", server_name);
    line.add("detail", why);
}

void connection_log::write_handshake_failed(
    error_code why, bool is_strangers, tls::engine const* engine) noexcept
{
    constexpr std::string_view event = "handshake-failed";
    log_level const level = is_strangers ? log_level::info : log_level::warning;
    if (!wants(level, event, why))
        return;
    log_line line = log().line(level, event);
    add_addresses(line);
    line.add("reason", why);
    if (engine == nullptr)
        return;
    if (std::string_view const name = engine->info().server_name; !name.empty())
        line.add("sni", name);
    if (engine->has_shown_certificate())
        add_text(line, "certificate", [&] { return engine->own_certificate_origin(); });
    add_failure(line, engine->failure());
    add_offers(line, engine->failure().offers);
}

void connection_log::passthrough_begins(
    std::string_view server_name, std::span<std::uint8_t const> client_hello)
{
    facts_ = std::make_unique<client_facts>(
        client_facts{.server_name = std::string{server_name}, .is_passthrough = true});
    established_ = service().worker().now();
    counts().traffic.add(traffic_count::passed_through);
    if (service().access().is_on())
        facts_->ja4 = tls::ja4_of(client_hello);
    if (!log().wants(log_level::info))
        return;
    log_line line = log().info("passthrough-begins");
    add_addresses(line);
    line.add("sni", server_name);
}

void connection_log::plaintext_begins() noexcept
{
    established_ = service().worker().now();
}

// The loop may have woken up before the answer was made, where the client's last bytes came with
// its first ones. The phases are those of the handshake, without a rest.
void connection_log::count_phases(handshake_phases const& phases) noexcept
{
    net::worker::clock::time_point const now = service().worker().now();
    established_ = std::max(now, phases.answer());
    bool const is_known = phases.answer() != net::worker::clock::time_point{};
    auto const hello = is_known ? phases.hello() : now;
    auto const answer = is_known ? phases.answer() : now;
    counts().until_hello.record(hello - traffic_.begun);
    counts().hello_to_answer.record(answer - hello);
    counts().answer_to_established.record(established_ - answer);
    counts().until_established.record(established_ - traffic_.begun);
}

void connection_log::handshake_done(tls::engine const& engine, handshake_phases const& phases)
{
    tls::handshake_info const info = engine.info();
    counts().established(info);
    count_phases(phases);
    if (!log().wants(log_level::info))
        return;
    log_line line = log().info("handshake-done");
    add_addresses(line);
    line.add("sni", info.server_name)
        .add("alpn", info.alpn)
        .add("version", info.version)
        .add("cipher", info.cipher)
        .add("group", info.group)
        .add("resumed", info.resumed);
    if (info.resumed)
        line.add("session_age_s", info.ticket.age);
}

void connection_log::upstream_handshake(
    error_code why, std::string_view server, tls::engine const& engine) noexcept
{
    // A server that does not accept is not one whose TLS has failed.
    if (!counts().upstream_handshake(why, engine) || !why)
        return;
    constexpr std::string_view event = "upstream-handshake-failed";
    if (!wants(log_level::warning, event, why))
        return;
    log_line line = log().warning(event);
    add_addresses(line);
    line.add("upstream", server).add("reason", why);
    add_failure(line, engine.failure());
}

void connection_log::connected(net::address const& upstream) noexcept
{
    connected_ = std::max(service().worker().now(), established_);
    upstream_ = &upstream;
    counts().until_connected.record(age());
}

void connection_log::connect_failed(
    error_code why, std::string_view server, tls::engine const* engine) noexcept
{
    reason_ = reason_for(phase::connect, why);
    server_ = server;
    write_access(why, engine);
    written_ = true;
    if (!is_good(reason_))
        count_failure(failure_event::connect, failure_number(reason_), why, engine);
    constexpr std::string_view event = "connect-failed";
    if (!wants(log_level::error, event, why))
        return;
    log_line line = log().error(event);
    add_addresses(line);
    line.add("upstream", server).add("reason", why);
}

void connection_log::ended(
    close_reason reason, error_code why, tls::engine const* engine,
    tls::failure_info const* upstream) noexcept
{
    reason_ = reason;
    if (engine != nullptr)
        counts().connection_alerts.add(engine->failure().peer_alert, engine->failure().own_alert);
    write_access(why, engine);
    write_closed(why, engine, upstream);
    written_ = true;
}

void connection_log::write_closed(
    error_code why, tls::engine const* engine, tls::failure_info const* upstream) noexcept
{
    bool const good = is_good(reason_);
    if (!good)
        count_failure(failure_event::relay, failure_number(reason_), why, engine);
    log_level const level = good ? log_level::info : log_level::warning;
    constexpr std::string_view event = "connection-closed";
    if (good ? !log().wants(level) : !wants(level, event, reason_))
        return;
    auto const lasted = std::chrono::duration_cast<std::chrono::milliseconds>(age());
    log_line line = log().line(level, event);
    add_addresses(line);
    line.add("reason", name_of(reason_))
        .add("up_bytes", traffic_.up)
        .add("down_bytes", traffic_.down)
        .add("duration_ms", lasted.count());
    if (why && !good)
        line.add("error", why);
    if (engine != nullptr)
        add_failure(line, engine->failure());
    if (upstream != nullptr)
        add_failure(line, *upstream);
}

// Without memory there is no line.
void connection_log::write_access(error_code why, tls::engine const* engine) noexcept
{
    if (!service().access().is_on() || std::exchange(access_written_, true))
        return;
    try {
        write(service().access(), service().worker().number(), make_entry(why, engine));
    } catch (std::bad_alloc const&) {
    }
}

access_entry connection_log::make_entry(error_code why, tls::engine const* engine) const
{
    using time_point = net::worker::clock::time_point;
    access_entry entry;
    entry.frontend = frontend_.name;
    entry.peer = net::to_string(peer_);
    entry.source = source();
    if (proxy_header_ != nullptr) {
        entry.unique_id = unique_id_of(*proxy_header_);
        entry.proxy_tlvs = tlv_names(proxy_header_->tlvs());
        entry.detail = proxy_header_->fault;
    }
    entry.up = traffic_.up;
    entry.down = traffic_.down;
    entry.lasted = age();
    entry.reason = reason_;
    entry.error = reason_ == close_reason::done ? error_code{} : why;
    if (engine != nullptr)
        add_facts(entry, *engine);
    entry.is_passthrough = is_passthrough();
    if (is_passthrough())
        entry.agreed.server_name = facts_->server_name;
    if (facts_ != nullptr)
        entry.ja4 = facts_->ja4.text();
    if (established_ != time_point{} && !is_passthrough() && !frontend_.plan.takes_plaintext)
        entry.handshake = established_ - traffic_.begun;
    if (connected_ != time_point{}) {
        entry.connect = connected_ - established_;
        entry.upstream = net::to_string(*upstream_);
    } else {
        entry.upstream = server_;
    }
    if (traffic_.first_down != time_point{})
        entry.first_byte = std::max(traffic_.first_down, connected_) - connected_;
    return entry;
}

void connection_log::add_facts(access_entry& entry, tls::engine const& engine) const
{
    tls::failure_info const& failure = engine.failure();
    entry.agreed = engine.info();
    entry.is_established = engine.established();
    if (engine.has_shown_certificate())
        entry.certificate = engine.own_certificate_origin();
    entry.client = entry.agreed.peer_certificate ? engine.peer_identity() : failure.refused;
    if (failure.peer_alert >= 0)
        entry.alert = tls::alert_name(failure.peer_alert);
    entry.detail = failure.reason;
}

} // namespace cleat::app
