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

/// state's members are destroyed from last to first: what the SSL_CTX point to is above them.
struct context::state
{
    explicit state(context_spec const& spec);

    void build_server(context_spec const& spec);
    void build_client(context_spec const& spec);
    ssl_ctx_ptr serve(context_spec const& spec, certificate const& with);

    tls::role role;
    std::vector<std::string> warnings;
    std::string server_name; // Client role: what SNI says; empty for an address.
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

SSL_CTX* choose_certificate(void const* with, backend::client_hello const& hello) noexcept
{
    return static_cast<certificate_choice const*>(with)->choose(hello);
}

void use(SSL_CTX* ctx, certificate const& with)
{
    bool done = SSL_CTX_use_certificate(ctx, with.leaf.get()) == 1;
    for (x509_ptr const& each : with.chain)
        done = done && SSL_CTX_add1_chain_cert(ctx, each.get()) == 1;
    if (!done || SSL_CTX_use_PrivateKey(ctx, with.key.get()) != 1)
        throw spec_error{fmt::format(
            "{}: {} refuses the certificate: {}; have one issued with a 2048-bit RSA or a P-256 "
            "key and a "
            "SHA-256 signature",
            with.origin, library_version(), drain_errors().reason)};
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
        contexts.push_back(serve(spec, read));
        SSL_CTX* const ctx = contexts.back().get();
        choice->add(read, ctx, warnings);
        // Once for each kind of key: a thousand certificates are not a thousand handshakes.
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

ssl_ctx_ptr context::state::serve(context_spec const& spec, certificate const& with)
{
    ssl_ctx_ptr ctx = settings.new_ctx(library, spec, tickets ? &*tickets : nullptr);
    use(ctx.get(), with);
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

// What is a setting alone, beside the default of everything else: a mistake in one hides no other.
std::vector<context_spec> settings_one_by_one(context_spec const& spec)
{
    context_spec base;
    base.role = spec.role;
    std::vector<context_spec> each(7, base);
    for (context_spec& one : each) { // Which lists of suites count follows from the versions.
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
    // Does a step of building a context, and keeps the error in which it ends, once.
    template <class Step>
    void look_at(Step step)
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
    std::vector<std::string> warnings; // The constructor's to tell.
    backend::library_state const library;
    std::chrono::system_clock::time_point const now = std::chrono::system_clock::now();
    for (context_spec const& one : settings_one_by_one(spec))
        all.look_at([&] { static_cast<void>(context_settings{library, one, warnings}); });
    for (certificate_source const& source : spec.certificates)
        all.look_at([&] {
            ssl_ctx_ptr const ctx = library.new_ctx(spec.role == role::server);
            if (ctx != nullptr)
                use(ctx.get(), read_certificate(library, source, now, warnings));
        });
    // What none of the pieces shows: they do not fit together, or there is none.
    if (all.found().empty())
        all.look_at([&] { static_cast<void>(context{spec}); });
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
        throw std::bad_alloc{}; // The constructor of another one has done it with success.
}

} // namespace cleat::tls
