// One SSL, driven through a BIO that is attached to the caller's wire during each call.
//
// SSL_get_error is wrong when the library's queue has an older error. So each call clears the queue
// first, and `outcome_of` drains it after a failure.

#include <cleat/core/assert.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/tls/alert.hpp>
#include <cleat/tls/backend.hpp>
#include <cleat/tls/certificates/certificate_description.hpp>
#include <cleat/tls/certificates/certificate_names.hpp>
#include <cleat/tls/certificates/certificate_use.hpp>
#include <cleat/tls/certificates/verification.hpp>
#include <cleat/tls/certificates/verify_hook.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/engine.hpp>
#include <cleat/tls/fingerprint/ja4.hpp>
#include <cleat/tls/gather.hpp>
#include <cleat/tls/hello/long_hello.hpp>
#include <cleat/tls/hello/offers.hpp>
#include <cleat/tls/openssl_error.hpp>
#include <cleat/tls/own_alert.hpp>
#include <cleat/tls/plaintext_peer.hpp>
#include <cleat/tls/session_keeper.hpp>
#include <cleat/tls/span_bio.hpp>
#include <cleat/tls/store/certificate_table.hpp>
#include <cleat/tls/ticket_watch.hpp>

#include <algorithm>
#include <new>
#include <optional>
#include <string>
#include <utility>

namespace cleat::tls {

namespace {

// An alert from the peer is reason 1000 + its number, in every library.
constexpr int alert_reason_offset = 1000;

error_code meaning_of(SSL* ssl, library_failure const& failure) noexcept
{
    if (failure.out_of_memory)
        return make_error_code(boost::system::errc::not_enough_memory);
    if (backend::refused_name(ssl))
        return error::unknown_name;
    return backend::error_of(failure.code);
}

// A library refuses some malformed messages with an alert only: its error queue is empty.
bool is_refused_by_alert(error_code why, failure_info const& failure) noexcept
{
    return why == error::library && failure.reason.empty() && failure.own_alert >= 0 &&
           failure.own_alert != SSL_AD_INTERNAL_ERROR;
}

void describe_by_alert(failure_info& failure) noexcept
{
    try {
        failure.reason = alert_name(failure.own_alert);
    } catch (std::bad_alloc const&) { // The error suffices.
    }
}

// A client's offers are only in the bytes of the call that fails: the library has no ClientHello
// any more. A ClientHello that came in parts has none.
void describe_offers(
    failure_info& failure, std::span<std::byte const> records, error_code why, SSL* server) noexcept
{
    try {
        failure.offers = offers_in(records, why, server);
    } catch (std::bad_alloc const&) { // The error suffices.
    }
}

} // namespace

error_code name_fault(error_code why, failure_info const& failure) noexcept
{
    if (why != error::bad_certificate)
        return why;
    switch (failure.certificate) {
    case certificate_fault::expired:
        return error::certificate_expired;
    case certificate_fault::not_yet_valid:
        return error::certificate_not_yet_valid;
    case certificate_fault::unknown_authority:
        return error::unknown_authority;
    case certificate_fault::wrong_name:
        return error::wrong_name;
    case certificate_fault::revoked:
        return error::certificate_revoked;
    case certificate_fault::none:
    case certificate_fault::other:
        break;
    }
    return why;
}

engine::engine(context const& settings)
{
    ssl_ptr ssl{SSL_new(settings.native_handle())};
    bio_ptr bio = new_span_bio();
    if (ssl == nullptr || bio == nullptr)
        throw std::bad_alloc{};
    SSL_set_bio(ssl.get(), bio.get(), bio.get()); // Takes the one reference for both directions.
    static_cast<void>(bio.release());
    backend::prepare(ssl.get());
    if (!settings.unusable_reason().empty()) {
        failure_ = std::make_unique<failure_info>();
        failure_->reason = settings.unusable_reason();
        failure_->unusable_context = true;
    } else if (settings.role() == role::server)
        request_ = settings.prepare_server(ssl.get());
    else
        settings.prepare_client(ssl.get());
    if (keeps_sessions(settings.native_handle())) {
        sessions_ = std::make_unique<session_keeper>();
        sessions_->use = settings.sessions();
        set_keeper(ssl.get(), sessions_.get());
    }
    ssl_ = ssl.release();
    counted_.reset(settings.counted_in());
    if (counted_ != nullptr)
        ++counted_->engines;
}

engine::engine(engine&& other) noexcept
    : counted_{std::move(other.counted_)}
    , ssl_{std::exchange(other.ssl_, nullptr)}
    , failure_{std::move(other.failure_)}
    , sessions_{std::move(other.sessions_)}
    , request_{std::move(other.request_)}
    , fragment_max_{other.fragment_max_}
    , signing_scheme_{other.signing_scheme_}
    , ticket_{other.ticket_}
    , established_{other.established_}
    , close_sent_{other.close_sent_}
    , holds_tickets_{other.holds_tickets_}
    , early_{other.early_}
{
}

engine& engine::operator=(engine&& other) noexcept
{
    if (this != &other) {
        free();
        ssl_ = std::exchange(other.ssl_, nullptr);
        failure_ = std::move(other.failure_);
        sessions_ = std::move(other.sessions_);
        request_ = std::move(other.request_);
        fragment_max_ = other.fragment_max_;
        signing_scheme_ = other.signing_scheme_;
        ticket_ = other.ticket_;
        established_ = other.established_;
        close_sent_ = other.close_sent_;
        holds_tickets_ = other.holds_tickets_;
        early_ = other.early_;
        counted_ = std::move(other.counted_); // Last, as in the destructor.
    }
    return *this;
}

engine::~engine()
{
    free();
}

void engine::uncount::operator()(engine_count* count) const noexcept
{
    if (--count->engines == 0)
        count->on_none_left(*count);
}

void engine::free() noexcept
{
    // OpenSSL does not resume a session whose connection ended without close_notify: a rule of TLS
    // 1.0 (RFC 2246, section 7.2.1) that TLS 1.1 has dropped (RFC 4346, section 7.2.1).
    if (sessions_ != nullptr && ssl_ != nullptr)
        SSL_set_shutdown(ssl_, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(ssl_);
}

// The step for a call of the library that has returned `value`.
step engine::outcome_of(wire const& w, int value, std::size_t bytes) noexcept
{
    int const why = SSL_get_error(ssl_, value);
    switch (why) {
    case SSL_ERROR_NONE:
        return {want::nothing, bytes, {}};
    case SSL_ERROR_WANT_READ:
        // The BIO never reports FIN: OpenSSL 3 would take it for fatal, and refuse to write the
        // answer to a client that has closed its half in this way.
        if (w.in_ended && w.in.empty())
            return {want::nothing, bytes, error::truncated};
        return {want::input, bytes, {}};
    case SSL_ERROR_WANT_WRITE:
        return {want::output, bytes, {}};
    case SSL_ERROR_ZERO_RETURN:
        return {want::nothing, bytes, error::closed};
    default:
        if (backend::is_wait_for_session(ssl_, why))
            return {want::session, bytes, {}};
        if (backend::is_wait_for_certificate(why))
            return {want::certificate, bytes, {}};
        break;
    }

    library_failure const found = drain_errors();

    try {
        failure_ = std::make_unique<failure_info>();
        failure_->reason = found.reason;
    } catch (std::bad_alloc const&) {
        return {want::nothing, bytes, make_error_code(boost::system::errc::not_enough_memory)};
    }
    if (int const reason = ERR_GET_REASON(found.code); ERR_GET_LIB(found.code) == ERR_LIB_SSL &&
                                                       reason > alert_reason_offset &&
                                                       reason < alert_reason_offset + 256) {
        failure_->peer_alert = reason - alert_reason_offset;
        return {want::nothing, bytes, error::peer_alert};
    }
    return {want::nothing, bytes, meaning_of(ssl_, found)};
}

step engine::handshake(wire& w) noexcept
{
    if (failure_ != nullptr && failure_->unusable_context)
        return {want::nothing, 0, error::unusable_context};
    if (is_long_hello(w.in) && !has_received() && SSL_is_server(ssl_) == 1)
        return refuse_long_hello(w, failure_);
    std::span<std::byte const> const given = w.in;
    std::span<std::byte> const room = w.out;
    attached const call{SSL_get_rbio(ssl_), w};
    clear_errors();
    begin_sessions();
    own_alert const sent{w};
    refused_certificate refused;
    ticket_watch const watch{ticket_};
    int value = backend::do_handshake(ssl_, signing_scheme_);
    if (value != 1 && early_)
        value = backend::continue_after_rejection(ssl_, value);
    if (value == 1) {
        established_ = true;
        holds_tickets_ = backend::keeps_tickets() && ends_with_tickets();
        fragment_max_ = static_cast<std::uint16_t>(backend::fragment_max(ssl_));
        return {};
    }
    step s = outcome_of(w, value, 0);
    if (s.error == error::not_tls && begins_like_proxy_header(given))
        s.error = error::proxy_header;
    if (s.error && sessions_ != nullptr)
        sessions_->failed();
    if (failure_ == nullptr)
        return s;
    failure_->own_alert = sent.number();
    describe_offers(*failure_, given, s.error, ssl_);
    if (request_ != nullptr && !request_->refusal.empty()) {
        s.error = error::certificate_unavailable;
        failure_->reason = std::move(request_->refusal);
        return s;
    }
    if (s.error == error::bad_certificate)
        refused.describe(ssl_, *failure_);
    if (is_refused_by_alert(s.error, *failure_)) {
        s.error = error::protocol_violation;
        describe_by_alert(*failure_);
    }
    if (s.error != error::protocol_violation)
        return s;
    failure_->peer_alert = plaintext_alert(given);
    if (failure_->peer_alert >= 0) {
        s.error = error::peer_alert;
        failure_->reason.clear(); // The library took the alert for a broken record.
        // Nothing answers a fatal alert (RFC 8446, section 6.2).
        failure_->own_alert = -1;
        w.out = room;
    }
    return s;
}

step engine::write_early(wire& w, std::span<std::span<std::byte const> const> pieces) noexcept
{
    gather source{pieces};
    begin_sessions();
    if (source.empty() || !backend::may_offer_early_data(ssl_))
        return {};
    attached const call{SSL_get_rbio(ssl_), w};
    clear_errors();
    if (int const value = backend::begin_early_data(ssl_); value != 1) {
        step const s = outcome_of(w, value, 0);
        return s.next == want::input ? step{}
                                     : s; // Not offered: the library waits for ServerHello.
    }
    early_ = true;
    std::size_t bytes = 0;
    while (!source.empty() && w.out.size() >= limits::record_max) {
        int const value = backend::write_early_data(ssl_, source.front(), bytes);
        if (value < 0)
            return outcome_of(w, value, bytes);
        if (value == 0)
            break; // The session's limit. The caller writes the rest after the handshake.
        source.pop(static_cast<std::size_t>(value));
        bytes += static_cast<std::size_t>(value);
    }
    return {want::nothing, bytes, {}};
}

step engine::read(wire& w, std::span<std::byte> plaintext) noexcept
{
    attached const call{SSL_get_rbio(ssl_), w};
    clear_errors();
    own_alert const sent{w};
    std::size_t bytes = 0;
    while (bytes < plaintext.size()) {
        std::size_t const room = std::min(plaintext.size() - bytes, limits::library_call_max);
        int const value = SSL_read(ssl_, plaintext.data() + bytes, static_cast<int>(room));
        if (sent.refused_renegotiation())
            return {want::nothing, bytes, error::renegotiation};
        if (value <= 0) {
            step const s = outcome_of(w, value, bytes);
            if (s.error && failure_ != nullptr)
                failure_->own_alert = sent.number();
            return s;
        }
        bytes += static_cast<std::size_t>(value);
        // One more SSL_read would only return WANT_READ, and cost a call for each wake-up.
        if (w.in.empty() && !w.in_ended && SSL_pending(ssl_) == 0)
            return {want::input, bytes, {}};
    }
    return {want::nothing, bytes, {}};
}

step engine::write(wire& w, std::span<std::span<std::byte const> const> pieces) noexcept
{
    gather source{pieces};
    if (source.empty())
        return {};
    if (close_sent_)
        return {want::nothing, 0, error::write_after_close};
    attached const call{SSL_get_rbio(ssl_), w};
    clear_errors();
    std::size_t bytes = 0;
    while (!source.empty()) {
        // The library would keep a record that does not fit, and the caller would have to offer the
        // same bytes again. Stopping before it leaves the next write free.
        std::size_t const room = write_capacity(w.out.size());
        if (room == 0)
            return {want::output, bytes, {}};
        std::span<std::byte const> const run =
            source.run(std::max<std::size_t>(room / limits::plaintext_record_max, 1));
        std::span<std::byte const> const record = run.first(std::min(run.size(), room));
        int const value = SSL_write(ssl_, record.data(), static_cast<int>(record.size()));
        if (value <= 0)
            return outcome_of(w, value, bytes);
        holds_tickets_ = false;
        source.pop(static_cast<std::size_t>(value));
        bytes += static_cast<std::size_t>(value);
    }
    return {want::nothing, bytes, {}};
}

std::size_t engine::write_capacity(std::size_t room) const noexcept
{
    return room / (fragment_max_ + limits::record_overhead_max) * fragment_max_;
}

step engine::send_tickets(wire& w) noexcept
{
    if (!std::exchange(holds_tickets_, false))
        return {};
    attached const call{SSL_get_rbio(ssl_), w};
    clear_errors();
    int const value = backend::send_tickets(ssl_);
    return value == 1 ? step{} : outcome_of(w, value, 0);
}

step engine::close(wire& w) noexcept
{
    if (close_sent_ || !established())
        return {}; // RFC 8446, section 6.1: close_notify belongs to an established connection.
    attached const call{SSL_get_rbio(ssl_), w};
    clear_errors();
    int const value = SSL_shutdown(ssl_);
    if (value < 0)
        return outcome_of(w, value, 0);
    close_sent_ = true;
    holds_tickets_ = false;
    return {};
}

step engine::fail(wire& w, fatal_alert alert) noexcept
{
    if (close_sent_ || !established())
        return {};
    attached const call{SSL_get_rbio(ssl_), w};
    clear_errors();
    int const value = backend::send_fatal_alert(ssl_, static_cast<std::uint8_t>(alert));
    if (value <= 0)
        return outcome_of(w, value, 0);
    close_sent_ = true;
    holds_tickets_ = false;
    return {};
}

namespace {

// Of a type that the library gives. The header of a handshake message has four bytes.
void on_first_hello(
    int is_write, int version, int type, void const* bytes, std::size_t size, SSL* ssl,
    void* argument) noexcept
{
    static_cast<void>(version);
    constexpr std::size_t header_size = 4;
    octets const message{static_cast<std::uint8_t const*>(bytes), size};
    if (is_write != 0 || type != SSL3_RT_HANDSHAKE || size < header_size ||
        message[0] != SSL3_MT_CLIENT_HELLO)
        return;
    backend::restore_message_callback(ssl);
    *static_cast<ja4_fingerprint*>(argument) = ja4_of(message.subspan(header_size));
}

} // namespace

void engine::fingerprint_client(ja4_fingerprint& out) noexcept
{
    SSL_set_msg_callback(ssl_, on_first_hello);
    SSL_set_msg_callback_arg(ssl_, &out);
}

bool engine::established() const noexcept
{
    // Not SSL_is_init_finished: to OpenSSL a KeyUpdate in progress is an unfinished handshake.
    return established_;
}

bool engine::ends_with_tickets() const noexcept
{
    return SSL_is_server(ssl_) != 0 && SSL_version(ssl_) == TLS1_3_VERSION;
}

bool engine::has_received() const noexcept
{
    return BIO_number_read(SSL_get_rbio(ssl_)) != 0;
}

std::uint64_t engine::bytes_sent() const noexcept
{
    return BIO_number_written(SSL_get_rbio(ssl_));
}

bool engine::has_shown_certificate() const noexcept
{
    if (SSL_is_server(ssl_) != 1 || SSL_session_reused(ssl_) != 0)
        return false;
    // A flight without a Certificate is a HelloRetryRequest or an alert, which are shorter. One
    // with it has a ServerHello, a certificate and a signature.
    constexpr std::uint64_t shortest_flight = 256;
    return established() || bytes_sent() >= shortest_flight;
}

bool engine::has_plaintext() const noexcept
{
    return SSL_pending(ssl_) > 0;
}

handshake_info engine::info() const noexcept
{
    handshake_info found;
    if (char const* const name = SSL_get_servername(ssl_, TLSEXT_NAMETYPE_host_name);
        name != nullptr)
        found.server_name = name;
    // A server chooses both at once. A client has those of the session that it offers before that.
    SSL_CIPHER const* const cipher = SSL_get_current_cipher(ssl_);
    if (cipher != nullptr && (established() || SSL_is_server(ssl_) != 0)) {
        found.cipher = SSL_CIPHER_get_name(cipher);
        found.version = SSL_get_version(ssl_);
    }
    if (!established())
        return found;
    found.group = backend::group_name(ssl_);
    found.signature_scheme = backend::signature_scheme(ssl_, signing_scheme_);
    unsigned char const* alpn = nullptr;
    unsigned alpn_size = 0;
    SSL_get0_alpn_selected(ssl_, &alpn, &alpn_size);
    found.alpn = {reinterpret_cast<char const*>(alpn), alpn_size};
    found.resumed = SSL_session_reused(ssl_) != 0;
    found.ticket = ticket_;
    found.peer_certificate = backend::has_peer_certificate(ssl_);
    if (early_)
        found.early =
            backend::early_data_accepted(ssl_) ? early_data::accepted : early_data::rejected;
    return found;
}

failure_info const& engine::failure() const noexcept
{
    static failure_info const none;
    return failure_ == nullptr ? none : *failure_;
}

namespace {

// As PP2_SUBTYPE_SSL_KEY_ALG has it: RSA2048, EC256.
std::string key_algorithm(std::optional<key_type> type, int bits)
{
    if (!type)
        return {};
    if (is_ml_dsa(*type))
        return std::string{key_name(*type)}; // The number is in the name.
    std::string const size = std::to_string(bits);
    switch (*type) {
    case key_type::rsa:
        return "RSA" + size;
    case key_type::ed25519:
        return "ED25519" + size;
    default:
        return "EC" + size;
    }
}

certificate_facts served_facts(int signature, std::optional<key_type> type, int bits)
{
    certificate_facts facts;
    if (char const* const name = OBJ_nid2sn(signature); name != nullptr)
        facts.signature = name;
    facts.key = key_algorithm(type, bits);
    return facts;
}

} // namespace

certificate_facts engine::own_certificate() const
{
    if (request_ != nullptr && request_->served != certificate_request::none) {
        certificate_summary const& served = request_->store->summary(request_->served);
        return served_facts(served.signature, served.type, served.key_bits);
    }
    // From the SSL_CTX: an established SSL may have freed its own copy.
    X509 const* const certificate = SSL_CTX_get0_certificate(SSL_get_SSL_CTX(ssl_));
    if (certificate == nullptr)
        return {};
    EVP_PKEY* const key = X509_get0_pubkey(certificate);
    return served_facts(
        X509_get_signature_nid(certificate),
        key == nullptr ? std::nullopt : backend::key_type_of(key),
        key == nullptr ? 0 : EVP_PKEY_bits(key));
}

std::string engine::own_certificate_origin() const
{
    if (SSL_session_reused(ssl_) != 0)
        return {};
    if (request_ != nullptr && request_->served != certificate_request::none)
        return request_->store->origin(request_->served);
    std::string const* const origin = origin_of(SSL_get_SSL_CTX(ssl_));
    return origin == nullptr ? std::string{} : *origin;
}

certificate_identity engine::peer_identity() const
{
    x509_ptr const peer = backend::peer_certificate(ssl_);
    return peer == nullptr ? certificate_identity{} : identity_of(peer.get());
}

std::string engine::peer_common_name() const
{
    return backend::peer_common_name(ssl_);
}

std::string engine::peer_trusted_pem() const
{
    return backend::peer_trusted_pem(ssl_);
}

SSL* engine::native_handle() const noexcept
{
    return ssl_;
}

} // namespace cleat::tls
