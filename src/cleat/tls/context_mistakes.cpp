// find_mistakes and is_same_policy: questions about a spec, of which no context has to be made.

#include <cleat/tls/backend.hpp>
#include <cleat/tls/certificates/certificate.hpp>
#include <cleat/tls/certificates/certificate_use.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/context_settings.hpp>
#include <cleat/tls/openssl_error.hpp>
#include <cleat/tls/store/certificate_collection.hpp>
#include <cleat/tls/store/certificate_set.hpp>
#include <cleat/tls/store/certificate_table.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace cleat::tls {
namespace {

// Specs that each have one group of the spec's settings, with defaults elsewhere: a mistake in one
// group hides none in another.
std::vector<context_spec> settings_one_by_one(context_spec const& spec)
{
    context_spec base;
    base.role = spec.role;
    std::vector<context_spec> each(9, base);
    for (context_spec& one : each) { // The versions decide which lists of suites are used.
        one.version_min = spec.version_min;
        one.version_max = spec.version_max;
    }
    each[1].groups = spec.groups;
    each[2].ciphers = spec.ciphers;
    each[3].ciphersuites = spec.ciphersuites;
    each[4].alpn = spec.alpn;
    each[5].tickets = spec.tickets;
    each[5].accepted_tickets = spec.accepted_tickets;
    each[5].ticket_ratchets = spec.ticket_ratchets;
    each[5].session_ids = spec.session_ids;
    each[5].sessions = spec.sessions;
    each[5].keep_sessions = spec.keep_sessions;
    each[5].ticket_rotation = spec.ticket_rotation;
    each[5].ticket_lifetime = spec.ticket_lifetime;
    each[5].ticket_counts = spec.ticket_counts;
    each[6].verify = spec.verify;
    each[6].verify_authorities = spec.verify_authorities;
    each[6].verify_system_authorities = spec.verify_system_authorities;
    each[6].verify_depth = spec.verify_depth;
    each[6].verify_schemes = spec.verify_schemes;
    each[6].verify_crls = spec.verify_crls;
    each[6].accept_stale_crls = spec.accept_stale_crls;
    each[6].verify_origin = spec.verify_origin;
    each[7].certificate_compressors = spec.certificate_compressors;
    each[8].refuse_unknown_names = spec.refuse_unknown_names;
    each[8].server_name = spec.server_name;
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

void check_settings(mistakes& all, backend::library_state const& library, context_spec const& spec)
{
    std::vector<std::string> warnings; // Not returned: context::warnings has them.
    for (context_spec const& one : settings_one_by_one(spec))
        all.check([&] { static_cast<void>(context_settings{library, one, warnings}); });
}

// Of a net::server's settings.
std::vector<std::string> find_mistakes_with_store(context_spec const& spec)
{
    std::vector<std::string> found = find_store_mistakes(spec);
    std::vector<std::string> in_files;
    std::shared_ptr<certificate_collection const> const certificates =
        read_collection(*spec.certificate_store, nullptr, in_files);
    found.insert(found.end(), in_files.begin(), in_files.end());
    certificate_table loaded{1};
    if (found.empty())
        return find_mistakes(spec, certificates->set, loaded);
    mistakes settings;
    check_settings(settings, loaded.library(), spec);
    found.insert(found.end(), settings.found().begin(), settings.found().end());
    return found;
}

} // namespace

bool is_same_policy(context_spec const& one, context_spec const& other)
{
    auto const fields = [](context_spec const& spec) {
        return std::tie(
            spec.role, spec.version_min, spec.version_max, spec.ciphers, spec.ciphersuites,
            spec.groups, spec.prefer_server_ciphers, spec.signature_algorithms, spec.alpn,
            spec.certificate_compressors, spec.refuse_unknown_names, spec.verify,
            spec.verify_authorities, spec.verify_origin, spec.verify_system_authorities,
            spec.verify_depth, spec.verify_crls, spec.accept_stale_crls, spec.verify_schemes,
            spec.server_name, spec.tickets, spec.accepted_tickets, spec.ticket_ratchets,
            spec.keep_sessions, spec.sessions, spec.want_tickets, spec.ticket_rotation,
            spec.ticket_lifetime, spec.ticket_counts, spec.session_ids, spec.session_scope);
    };
    return fields(one) == fields(other) && !one.verify_function && !other.verify_function;
}

std::vector<std::string> find_mistakes(context_spec const& spec)
{
    if (spec.certificate_store)
        return find_mistakes_with_store(spec);
    mistakes all;
    std::vector<std::string> warnings;
    backend::library_state const library;
    std::chrono::system_clock::time_point const now = std::chrono::system_clock::now();
    check_settings(all, library, spec);
    for (certificate_source const& source : spec.certificates)
        if (source.clients)
            all.check([&] {
                context_spec base;
                base.role = spec.role;
                static_cast<void>(
                    context_settings{library, spec_with(base, *source.clients), warnings});
            });
    for (certificate_source const& source : spec.certificates)
        all.check([&] {
            ssl_ctx_ptr const ctx = library.new_ctx(spec.role == role::server);
            if (ctx != nullptr)
                use_certificate(ctx.get(), read_certificate(library, source, now, warnings));
        });
    // Mistakes that no piece shows alone: pieces that do not fit together, or none at all.
    if (all.found().empty())
        all.check([&] { static_cast<void>(context{spec}); });
    return all.found();
}

std::vector<std::string> find_settings_mistakes(context_spec const& spec)
{
    mistakes all;
    check_settings(all, backend::library_state{}, spec);
    return all.found();
}

std::vector<std::string> find_mistakes(
    context_spec const& spec, certificate_set const& certificates, certificate_table& table)
{
    mistakes all;
    check_settings(all, table.library(), spec);
    if (all.found().empty())
        all.check([&] { static_cast<void>(context{spec, certificates, table}); });
    return all.found();
}

} // namespace cleat::tls
