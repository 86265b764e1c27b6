#include <cleat/core/assert.hpp>
#include <cleat/tls/backend.hpp>
#include <cleat/tls/certificates/certificate.hpp>
#include <cleat/tls/certificates/certificate_choice.hpp>
#include <cleat/tls/certificates/certificate_use.hpp>
#include <cleat/tls/certificates/compressed_certificates.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/context_settings.hpp>
#include <cleat/tls/openssl_error.hpp>
#include <cleat/tls/session_id_hooks.hpp>
#include <cleat/tls/session_keeper.hpp>
#include <cleat/tls/span_bio.hpp>
#include <cleat/tls/store/certificate_loader.hpp>
#include <cleat/tls/store/certificate_set.hpp>
#include <cleat/tls/store/certificate_table.hpp>
#include <cleat/tls/store/unserved.hpp>
#include <cleat/tls/ticket_keys.hpp>
#include <cleat/tls/warm_up.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <forward_list>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace cleat::tls {

/// state's members are destroyed from last to first: the SSL_CTX come after the members that they
/// point to.
struct context::state
{
    explicit state(context_spec const& spec);
    state(context_spec const& spec, certificate_set const& certificates, certificate_table& loaded);
    state(tls::role wanted, std::string why_unusable);

    void begin_server(context_spec const& spec);
    void build_server(context_spec const& spec);
    void build_server_from(context_spec const& spec, certificate_set const& certificates);
    void build_client(context_spec const& spec);
    struct own_rule;
    own_rule const* rule_of(context_spec const& spec, certificate_source const& source);
    ssl_ctx_ptr new_ctx(context_spec const& spec, own_rule const* rule = nullptr);
    ssl_ctx_ptr make_ctx(
        context_spec const& spec, certificate const& identity, own_rule const* rule = nullptr);
    void warm(
        context_spec const& spec, SSL_CTX* ctx, certificate const& identity,
        certificate_set::number number);

    tls::role role;
    std::vector<std::string> warnings;
    std::vector<certificate_end> ends;
    std::string unusable_reason;
    std::optional<cache_use> sessions; // Client role.
    std::string server_name;           // Client role: the SNI; empty for an address.
    std::optional<backend::library_state> own_library;
    backend::library_state const& library; // Its own, or the table's.
    context_settings settings;
    std::forward_list<own_rule> own_rules; // Few: one for each client_rule.
    std::optional<ticket_keys> tickets;
    backend::ticket_plan ticket_plan; // Where there are tickets.
    session_id_plan ids;              // With context_spec::session_ids.
    std::optional<compressed_certificates> compressed;
    certificate_store own_store{{}}; // Of the spec. By their places in `contexts`.
    certificate_set own_certificates{own_store};
    std::optional<certificate_choice> choice; // Among them.
    candidates unusable; // An example of each type of key with which no handshake is possible.
    certificate_table* table = nullptr; // Null: no store.
    backend::hello_judge judge;
    std::forward_list<ocsp_response> staples; // `contexts` point to them.
    std::vector<ssl_ctx_ptr>
        contexts; // One for each certificate of the spec; or only one, for a store or a client.
    ssl_ctx_ptr empty; // Has the settings, and no certificate: those of a store are set on the SSL.
    SSL_CTX* initial = nullptr;

    static backend::hello_verdict choose_context(
        void const* argument, SSL* ssl, backend::client_hello const& hello) noexcept;
    static backend::hello_verdict choose_from_store(
        void const* argument, SSL* ssl, backend::client_hello const& hello) noexcept;
};

// Certificates with the same client_rule share the settings that are made of it.
struct context::state::own_rule
{
    client_rule rule;
    context_spec spec; // Without certificates.
    context_settings settings;
};

namespace {

// A client chooses by its ClientHello which of several certificates with a name it gets, and must
// not choose its rule by that.
class rules_by_name
{
public:
    void add(certificate const& read, void const* rule)
    {
        for (std::string const& name : read.names) {
            auto const [before, is_new] = seen_.try_emplace(name, read.origin, rule);
            if (!is_new && before->second.rule != rule)
                throw spec_error{fmt::format(
                    "{}: {} is in {}, too, which verifies clients by another rule. Give both the "
                    "same client-verify and client-verify-ca.",
                    read.origin, name, before->second.origin)};
        }
    }

private:
    struct holder
    {
        holder(std::string certificate, void const* its_rule)
            : origin{std::move(certificate)}, rule{its_rule}
        {
        }
        std::string origin;
        void const* rule;
    };
    std::map<std::string, holder> seen_;
};

certificate_end end_of(certificate const& read)
{
    std::int64_t const seconds =
        backend::posix_time(X509_get0_notAfter(read.leaf.get())).value_or(0);
    return {
        read.origin, std::chrono::sys_seconds{std::chrono::seconds{seconds}},
        lifetime_of(read.leaf.get())};
}

// False: there is no memory.
bool set_session_scope(
    SSL* ssl, context_settings const& settings, certificate const& served) noexcept
{
    try {
        std::array<std::uint8_t, 32> const scope = settings.session_scope(served.names);
        return SSL_set_session_id_context(ssl, scope.data(), scope.size()) == 1;
    } catch (std::bad_alloc const&) {
        return false;
    }
}

int request_index() noexcept
{
    static int const index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return index;
}

} // namespace

backend::hello_verdict context::state::choose_context(
    void const* argument, SSL* ssl, backend::client_hello const& hello) noexcept
{
    state const& self = *static_cast<state const*>(argument);
    certificate_choice::number const number = self.choice->choose(hello);
    if (number == certificate_choice::none)
        return backend::hello_verdict::refuse_name;
    SSL_CTX* const chosen = self.contexts[number].get();
    // SSL_set_SSL_CTX copies the certificate: skipped where the context is the same.
    bool const is_same = chosen == SSL_get_SSL_CTX(ssl);
    bool const done = is_same || SSL_set_SSL_CTX(ssl, chosen) != nullptr;
    // The SSL keeps the mode of its first SSL_CTX, and takes authorities and session ID context
    // from the new one.
    if (!is_same && !self.own_rules.empty())
        SSL_set_verify(ssl, SSL_CTX_get_verify_mode(chosen), SSL_CTX_get_verify_callback(chosen));
    return done ? backend::hello_verdict::go_on : backend::hello_verdict::fail;
}

backend::hello_verdict context::state::choose_from_store(
    void const* argument, SSL* ssl, backend::client_hello const& hello) noexcept
{
    state const& self = *static_cast<state const*>(argument);
    auto* const request = static_cast<certificate_request*>(SSL_get_ex_data(ssl, request_index()));
    CLEAT_ASSERT(request != nullptr);
    certificate_choice::number const number = request->choice->choose(hello);
    if (number == certificate_choice::none)
        return backend::hello_verdict::refuse_name;
    request->wanted = certificate_request::none;
    if (!request->refusal.empty())
        return backend::hello_verdict::fail;
    // The ClientHello after a HelloRetryRequest, which may not name another server.
    if (SSL_get_SSL_CTX(ssl) == self.empty.get())
        return backend::hello_verdict::go_on;
    request->served = number;
    if (number == request->choice->initial()) // The SSL_CTX has it.
        return backend::hello_verdict::go_on;
    // The table may have dropped already what was loaded for this connection.
    certificate_table::loaded const provided = std::exchange(request->provided, {});
    certificate const* const found =
        provided ? provided.get() : self.table->find(request->store->summary(number).digest);
    if (found == nullptr) {
        request->wanted = number;
        return backend::hello_verdict::wait;
    }
    // Not SSL_certs_clear: AWS-LC takes no certificate after it.
    bool const done = SSL_set_SSL_CTX(ssl, self.empty.get()) != nullptr &&
                      use_certificate(ssl, *found) && set_session_scope(ssl, self.settings, *found);
    if (found->staple)
        backend::staple(ssl, *found->staple);
    return done ? backend::hello_verdict::go_on : backend::hello_verdict::fail;
}

context::state::state(context_spec const& spec)
    : role{spec.role}
    , own_library{std::in_place}
    , library{*own_library}
    , settings{library, spec, warnings}
{
    if (spec.certificate_store)
        throw spec_error{
            "certificate_store: only a net::server can read certificates while it serves. Give "
            "this context its certificates in `certificates`."};
    if (role == role::server)
        build_server(spec);
    else
        build_client(spec);
}

context::state::state(
    context_spec const& spec, certificate_set const& certificates, certificate_table& loaded)
    : role{spec.role}, library{loaded.library()}, settings{library, spec, warnings}, table{&loaded}
{
    CLEAT_ASSERT(role == role::server);
    build_server_from(spec, certificates);
}

// It has an SSL_CTX only because an engine cannot be made without one: no handshake begins on it.
context::state::state(tls::role wanted, std::string why_unusable)
    : role{wanted}
    , unusable_reason{std::move(why_unusable)}
    , own_library{std::in_place}
    , library{*own_library}
    , settings{library, context_spec{}, warnings}
{
    contexts.push_back(settings.new_ctx(library, context_spec{}, nullptr));
    initial = contexts.back().get();
}

void context::state::begin_server(context_spec const& spec)
{
    if (has_tickets(spec))
        tickets.emplace(library, ticket_sources_of(spec), ticket_times_of(spec));
    ticket_plan.counts = spec.ticket_counts;
    ids.library = &library;
    if (!spec.certificate_compressors.empty())
        compressed.emplace(spec.certificate_compressors);
}

void context::state::build_server(context_spec const& spec)
{
    if (spec.certificates.empty())
        throw spec_error{
            "a server needs a certificate: name a PEM file with its chain and key (pem-file; in a "
            "program certificates, or use_certificate_chain_file and use_private_key_file)"};
    begin_server(spec);

    std::chrono::system_clock::time_point const now = std::chrono::system_clock::now();
    std::vector<std::string> origins;
    rules_by_name rules;
    for (certificate_source const& source : spec.certificates) {
        std::this_thread::yield(); // As in shake_hands: a reload's certificates may be many.
        certificate read = read_certificate(library, source, now, warnings);
        certificate_set::number const number =
            own_store.add({.summary = {.type = read.type}, .names = read.names});
        std::this_thread::yield();
        own_rule const* const rule = rule_of(spec, source);
        rules.add(read, rule);
        contexts.push_back(make_ctx(spec, read, rule));
        if (read.staple)
            backend::staple(contexts.back().get(), &staples.emplace_front(*std::move(read.staple)));
        origins.push_back(read.origin);
        ends.push_back(end_of(read));
        own_certificates.add(
            number, [&](std::string_view name, std::uint32_t replaced, std::uint32_t used) {
                warnings.push_back(shared_name_warning(origins[replaced], origins[used], name));
            });
        // Once for each type of key, not for each of perhaps a thousand certificates.
        if (own_certificates.examples().find(read.type)->number == number)
            warm(spec, contexts.back().get(), read, number);
    }
    for (std::size_t i = 0; i < contexts.size(); ++i)
        set_origin(contexts[i].get(), ends[i].origin); // They do not move any more.
    own_certificates.set_default(static_cast<certificate_set::number>(contexts.size() - 1));
    refuse_unserved(own_certificates, unusable, spec, [&](auto each) { return origins[each]; });
    choice.emplace(own_certificates, certificate_choice::rules_of(spec));
    initial = contexts[choice->initial()].get();
    ticket_plan.first = initial;
    choice->take_suites(initial); // The settings are the same for all of them.
    judge = {choose_context, this};
    if (choice->is_needed())
        backend::on_client_hello(initial, &judge);
}

void context::state::build_server_from(
    context_spec const& spec, certificate_set const& certificates)
{
    begin_server(spec);
    certificate_store const& store = certificates.store();
    candidate const preferred = certificates.defaults().front();
    certificate first = load_certificate(library, store, preferred.number);
    contexts.push_back(make_ctx(spec, first));
    initial = contexts.front().get();
    ticket_plan.first = initial;
    if (first.staple)
        backend::staple(initial, &staples.emplace_front(*std::move(first.staple)));
    warm(spec, initial, first, preferred.number);
    for (candidate const& each : certificates.examples()) {
        if (each.type == first.type)
            continue;
        try {
            certificate const example = load_certificate(library, store, each.number);
            warm(spec, make_ctx(spec, example).get(), example, each.number);
        } catch (load_error const& broken) { // A reload may have skipped it. It is only tried out.
            warnings.emplace_back(broken.what());
            clear_errors();
        }
    }
    refuse_unserved(certificates, unusable, spec, [&](auto each) { return store.origin(each); });
    empty = new_ctx(spec);
    backend::allow_staples(empty.get());
    judge = {choose_from_store, this};
    for (SSL_CTX* const each : {initial, empty.get()})
        backend::on_client_hello(each, &judge);
}

void context::state::warm(
    context_spec const& spec, SSL_CTX* ctx, certificate const& identity,
    certificate_set::number number)
{
    if (!warm_server(
            library, ctx, spec, settings.groups(), identity.type, identity.origin, warnings))
        unusable.put({number, identity.type});
}

// Null: the spec's own.
context::state::own_rule const* context::state::rule_of(
    context_spec const& spec, certificate_source const& source)
{
    if (!source.clients)
        return nullptr;
    for (own_rule const& each : own_rules)
        if (each.rule == *source.clients)
            return &each;
    context_spec const made = spec_with(spec, *source.clients);
    own_rules.push_front({*source.clients, made, context_settings{library, made, warnings}});
    return &own_rules.front();
}

ssl_ctx_ptr context::state::new_ctx(context_spec const& spec, own_rule const* rule)
{
    context_settings const& its = rule == nullptr ? settings : rule->settings;
    context_spec const& described = rule == nullptr ? spec : rule->spec;
    ssl_ctx_ptr ctx = its.new_ctx(library, described, tickets ? &*tickets : nullptr);
    if (tickets && !backend::plan_tickets(ctx.get(), &ticket_plan))
        throw std::bad_alloc{};
    if (spec.session_ids)
        keep_by_id(ctx.get(), &ids);
    if (compressed && !backend::compress_certificates(ctx.get(), &*compressed))
        throw spec_error{fmt::format(
            "certificate compression: {} refuses it: an algorithm is there twice, or RFC 8879 does "
            "not have it",
            library_version())};
    return ctx;
}

ssl_ctx_ptr context::state::make_ctx(
    context_spec const& spec, certificate const& identity, own_rule const* rule)
{
    ssl_ctx_ptr ctx = new_ctx(spec, rule);
    use_certificate(ctx.get(), identity);
    std::array<std::uint8_t, 32> const scope =
        (rule == nullptr ? settings : rule->settings).session_scope(identity.names);
    if (SSL_CTX_set_session_id_context(ctx.get(), scope.data(), scope.size()) != 1)
        throw std::bad_alloc{};
    return ctx;
}

void context::state::build_client(context_spec const& spec)
{
    if (!is_ip_address(spec.server_name))
        server_name = spec.server_name;
    if (spec.sessions != nullptr)
        sessions = cache_use{
            spec.sessions, fmt::format("{}", fmt::join(spec.alpn, ",")), settings.rules()};
    contexts.push_back(settings.new_ctx(library, spec, nullptr));
    initial = contexts.back().get();
    if (spec.certificates.size() > 1)
        throw spec_error{"a client shows one certificate: more than one is given"};
    for (certificate_source const& source : spec.certificates)
        use_certificate(
            initial, read_certificate(library, source, std::chrono::system_clock::now(), warnings));
    warm_client(initial);
}

namespace {

// An error of the library's own is a spec_error, too.
template <class Build>
auto built(Build build)
{
    clear_errors();
    prepare_span_bio();
    try {
        return build();
    } catch (spec_error const&) {
        throw;
    } catch (std::runtime_error const& failure) {
        throw spec_error{failure.what()};
    }
}

} // namespace

context::context(context_spec const& spec)
    : state_{built([&] { return std::make_shared<state>(spec); })}
{
}

context::context(
    context_spec const& spec, certificate_set const& certificates, certificate_table& table)
    : state_{built([&] { return std::make_shared<state>(spec, certificates, table); })}
{
    auto choice =
        std::make_unique<certificate_choice>(certificates, certificate_choice::rules_of(spec));
    choice->take_suites(state_->initial);
    choice_ = std::move(choice);
}

context::context(context const& like, certificate_set const& certificates)
    : state_{like.state_}
    , choice_{std::make_unique<certificate_choice>(*like.choice_, certificates)}
{
}

context::context(std::shared_ptr<state> made) noexcept : state_{std::move(made)} {}

context context::unusable(tls::role role, std::string why)
{
    CLEAT_ASSERT(!why.empty());
    return context{built([&] { return std::make_shared<state>(role, std::move(why)); })};
}

context::context(context&&) noexcept = default;
context& context::operator=(context&&) noexcept = default;
context::~context() = default;

tls::role context::role() const noexcept
{
    return state_->role;
}

std::string const& context::unusable_reason() const noexcept
{
    return state_->unusable_reason;
}

std::vector<std::string> const& context::warnings() const noexcept
{
    return state_->warnings;
}

candidates const& context::unusable_types() const noexcept
{
    return state_->unusable;
}

std::vector<certificate_end> const& context::certificate_ends() const noexcept
{
    return state_->ends;
}

std::vector<std::string> context::certificate_names(std::size_t place) const
{
    std::vector<std::string> names;
    state_->own_store.for_each_name(
        static_cast<certificate_store::number>(place),
        [&](std::string_view name) { names.emplace_back(name); });
    return names;
}

ssl_ctx_st* context::native_handle() const noexcept
{
    return state_->initial;
}

void context::drop_past_tickets() const noexcept
{
    if (state_->tickets)
        state_->tickets->drop_past();
}

void context::keep_sessions_in(session_id_cache& cache) noexcept
{
    state_->ids.cache = &cache;
}

void context::leave_thread() const noexcept
{
    state_->library.leave_thread();
}

void context::count_engines(engine_count& count) noexcept
{
    CLEAT_ASSERT(count.on_none_left != nullptr);
    count_ = &count;
}

engine_count* context::counted_in() const noexcept
{
    return count_;
}

cache_use const* context::sessions() const noexcept
{
    return state_->sessions ? &*state_->sessions : nullptr;
}

certificate_choice const* context::choice() const noexcept
{
    if (choice_ != nullptr)
        return choice_.get();
    return state_->choice ? &*state_->choice : nullptr;
}

void context::prepare_client(ssl_st* ssl) const
{
    CLEAT_ASSERT(state_->role == role::client);
    SSL_set_connect_state(ssl);
    std::string const& name = state_->server_name;
    if (!name.empty() && SSL_set_tlsext_host_name(ssl, name.c_str()) != 1)
        throw std::bad_alloc{};
}

std::unique_ptr<certificate_request> context::prepare_server(ssl_st* ssl) const
{
    CLEAT_ASSERT(state_->role == role::server);
    SSL_set_accept_state(ssl);
    if (state_->table == nullptr)
        return nullptr;
    auto request = std::make_unique<certificate_request>();
    request->choice = choice_.get();
    request->store = &choice_->certificates().store();
    if (SSL_set_ex_data(ssl, request_index(), request.get()) != 1)
        throw std::bad_alloc{};
    return request;
}

} // namespace cleat::tls
