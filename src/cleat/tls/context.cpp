#include <cleat/core/assert.hpp>
#include <cleat/tls/backend.hpp>
#include <cleat/tls/certificates/certificate.hpp>
#include <cleat/tls/certificates/certificate_choice.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/context_settings.hpp>
#include <cleat/tls/openssl_error.hpp>
#include <cleat/tls/ticket_keys.hpp>
#include <cleat/tls/warm_up.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>

namespace cleat::tls {

/// state's members are destroyed from last to first: the SSL_CTX come after the members that they
/// point to.
struct context::state
{
    explicit state(context_spec const& spec);

    void build_server(context_spec const& spec);
    void build_client(context_spec const& spec);
    ssl_ctx_ptr make_ctx(context_spec const& spec, certificate const& identity);

    tls::role role;
    std::vector<std::string> warnings;
    std::string server_name; // Client role: the SNI; empty for an address.
    backend::library_state library;
    context_settings settings;
    std::optional<ticket_keys> tickets;
    std::optional<certificate_choice> choice;
    backend::hello_chooser chooser;
    std::vector<ssl_ctx_ptr>
        contexts; // One for each certificate of a server, or the client's only one.
    SSL_CTX* initial = nullptr;
};

namespace {

SSL_CTX* choose_certificate(void const* argument, backend::client_hello const& hello) noexcept
{
    return static_cast<certificate_choice const*>(argument)->choose(hello);
}

void use(SSL_CTX* ctx, certificate const& identity)
{
    bool done = SSL_CTX_use_certificate(ctx, identity.leaf.get()) == 1;
    for (x509_ptr const& each : identity.chain)
        done = done && SSL_CTX_add1_chain_cert(ctx, each.get()) == 1;
    if (!done || SSL_CTX_use_PrivateKey(ctx, identity.key.get()) != 1)
        throw spec_error{fmt::format(
            "{}: {} refuses the certificate: {}; have one issued with a 2048-bit RSA or a P-256 "
            "key and a "
            "SHA-256 signature",
            identity.origin, library_version(), drain_errors().reason)};
}

} // namespace

context::state::state(context_spec const& spec) : role{spec.role}, settings{library, spec, warnings}
{
    if (role == role::server)
        build_server(spec);
    else
        build_client(spec);
}

void context::state::build_server(context_spec const& spec)
{
    if (spec.certificates.empty())
        throw spec_error{
            "a server needs a certificate: name a PEM file with its chain and key (pem-file)"};
    if (spec.tickets != nullptr)
        tickets.emplace(library, *spec.tickets, spec.ticket_rotation);
    choice.emplace(certificate_choice::rules{
        spec.version_min == protocol_version::tls_1_2,
        spec.version_max == protocol_version::tls_1_3, spec.refuse_unknown_names});

    std::chrono::system_clock::time_point const now = std::chrono::system_clock::now();
    std::vector<key_type> warmed;
    for (certificate_source const& source : spec.certificates) {
        certificate const read = read_certificate(library, source, now, warnings);
        contexts.push_back(make_ctx(spec, read));
        SSL_CTX* const ctx = contexts.back().get();
        choice->add(read, ctx, warnings);
        // Once for each kind of key, not for each of perhaps a thousand certificates.
        if (std::ranges::find(warmed, read.type) == warmed.end()) {
            warm_server(library, ctx, spec, settings.groups(), read.type, read.origin, warnings);
            warmed.push_back(read.type);
        }
    }
    initial = choice->initial();
    chooser = {choose_certificate, &*choice};
    if (choice->is_needed())
        backend::on_client_hello(initial, &chooser);
}

ssl_ctx_ptr context::state::make_ctx(context_spec const& spec, certificate const& identity)
{
    ssl_ctx_ptr ctx = settings.new_ctx(library, spec, tickets ? &*tickets : nullptr);
    use(ctx.get(), identity);
    return ctx;
}

void context::state::build_client(context_spec const& spec)
{
    if (!is_ip_address(spec.server_name))
        server_name = spec.server_name;
    contexts.push_back(settings.new_ctx(library, spec, nullptr));
    initial = contexts.back().get();
    if (spec.certificates.size() > 1)
        throw spec_error{"a client shows one certificate: more than one is given"};
    for (certificate_source const& source : spec.certificates)
        use(initial, read_certificate(library, source, std::chrono::system_clock::now(), warnings));
    warm_client(initial);
}

namespace {

// Specs that each have one group of the spec's settings, with defaults elsewhere: a mistake in one
// group hides none in another.
std::vector<context_spec> settings_one_by_one(context_spec const& spec)
{
    context_spec base;
    base.role = spec.role;
    std::vector<context_spec> each(7, base);
    for (context_spec& one : each) { // The versions decide which lists of suites are used.
        one.version_min = spec.version_min;
        one.version_max = spec.version_max;
    }
    each[1].groups = spec.groups;
    each[2].ciphers = spec.ciphers;
    each[3].ciphersuites = spec.ciphersuites;
    each[4].alpn = spec.alpn;
    each[5].tickets = spec.tickets;
    each[5].ticket_rotation = spec.ticket_rotation;
    each[6].verify = spec.verify;
    each[6].verify_authorities = spec.verify_authorities;
    each[6].verify_system_authorities = spec.verify_system_authorities;
    each[6].verify_depth = spec.verify_depth;
    each[6].verify_origin = spec.verify_origin;
    return each;
}

class mistakes
{
public:
    // Runs a step of building a context, and keeps its error, once.
    template <class Step>
    void check(Step step)
    {
        try {
            clear_errors();
            step();
        } catch (std::runtime_error const& wrong) {
            if (std::ranges::find(found_, wrong.what()) == found_.end())
                found_.emplace_back(wrong.what());
        }
    }
    [[nodiscard]] std::vector<std::string> const& found() const noexcept { return found_; }

private:
    std::vector<std::string> found_;
};

} // namespace

std::vector<std::string> find_mistakes(context_spec const& spec)
{
    mistakes all;
    std::vector<std::string> warnings; // Not returned: context::warnings has them.
    backend::library_state const library;
    std::chrono::system_clock::time_point const now = std::chrono::system_clock::now();
    for (context_spec const& one : settings_one_by_one(spec))
        all.check([&] { static_cast<void>(context_settings{library, one, warnings}); });
    for (certificate_source const& source : spec.certificates)
        all.check([&] {
            ssl_ctx_ptr const ctx = library.new_ctx(spec.role == role::server);
            if (ctx != nullptr)
                use(ctx.get(), read_certificate(library, source, now, warnings));
        });
    // Mistakes that no piece shows alone: pieces that do not fit together, or none at all.
    if (all.found().empty())
        all.check([&] { static_cast<void>(context{spec}); });
    return all.found();
}

context::context(context_spec const& spec)
{
    clear_errors();
    try {
        state_ = std::make_unique<state>(spec);
    } catch (spec_error const&) {
        throw;
    } catch (std::runtime_error const& failure) {
        throw spec_error{failure.what()};
    }
}

context::context(context&&) noexcept = default;
context& context::operator=(context&&) noexcept = default;
context::~context() = default;

tls::role context::role() const noexcept
{
    return state_->role;
}

std::vector<std::string> const& context::warnings() const noexcept
{
    return state_->warnings;
}

ssl_ctx_st* context::native_handle() const noexcept
{
    return state_->initial;
}

void context::prepare_client(ssl_st* ssl) const
{
    CLEAT_ASSERT(state_->role == role::client);
    SSL_set_connect_state(ssl);
    std::string const& name = state_->server_name;
    if (!name.empty() && SSL_set_tlsext_host_name(ssl, name.c_str()) != 1)
        throw std::bad_alloc{};
}

} // namespace cleat::tls
