#include "snapshot/tls_plan_loading.hpp"
#include "upstream_tls/system_authorities.hpp"

#include <cleat/tls/backend.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/store/certificate_loader.hpp>
#include <cleat/tls/store/host_name.hpp>

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace cleat::app {
namespace {

class tls_plan_maker
{
public:
    tls_plan_maker(
        upstream_config const& upstream, certificate_files& files, problem_list& problems)
        : upstream_{upstream}, tls_{upstream.tls}, files_{files}, problems_{problems}
    {
    }

    std::optional<upstream_tls_plan> make()
    {
        upstream_tls_plan plan{
            .offers_clients_protocol = tls_.alpn->as_client, .proxy_header = *tls_.proxy_header};
        tls::context_spec& spec = plan.spec;
        using enum tls::protocol_version;
        spec.role = tls::role::client;
        spec.version_min = tls_.protos->tls_1_2 ? tls_1_2 : tls_1_3;
        spec.version_max = tls_.protos->tls_1_3 ? tls_1_3 : tls_1_2;
        spec.groups = tls_.groups->empty() ? "?" + *config{}.ecdh_curve : *tls_.groups;
        if (!tls_.ciphers->empty())
            spec.ciphers = *tls_.ciphers;
        spec.ciphersuites = *tls_.ciphersuites;
        spec.alpn = tls_.alpn->fixed;
        spec.keep_sessions = true;
        bool const has_authorities = add_authorities(spec);
        bool const has_certificate = add_certificate(plan);
        if (!has_authorities || !has_certificate)
            return {};
        report_mistakes(spec);
        return plan;
    }

private:
    // False: it has been reported that there are none.
    bool add_authorities(tls::context_spec& spec)
    {
        if (!*tls_.verify)
            return true;
        bool const is_system = tls_.ca->empty();
        location const& where = is_system ? upstream_.location : tls_.ca.location;
        spec.verify = tls::peer_verification::required;
        spec.verify_origin = is_system ? system_authorities() : *tls_.ca;
        if (spec.verify_origin.empty()) {
            problems_.error(
                where, "tls-ca", "this system has no file of authorities that it trusts",
                "Name a file with tls-ca, or install the package ca-certificates.");
            return false;
        }
        std::optional<tls::secret_text> const text =
            files_.read_text(where, "tls-ca", spec.verify_origin);
        if (text)
            spec.verify_authorities = text->view();
        return text.has_value();
    }

    bool add_certificate(upstream_tls_plan& plan)
    {
        if (tls_.cert->empty())
            return true;
        std::optional<tls::secret_text> const chain =
            files_.read_text(tls_.cert.location, "tls-cert", *tls_.cert);
        std::optional<tls::secret_text> const key =
            tls_.key->empty() ? chain : files_.read_text(tls_.key.location, "tls-key", *tls_.key);
        if (!chain || !key)
            return false;
        plan.spec.certificates.push_back({*chain, *key, *tls_.cert});
        plan.certificate =
            tls::source_digest(tls::backend::library_state{}, plan.spec.certificates.front());
        return true;
    }

    void report_mistakes(tls::context_spec const& spec)
    {
        try {
            tls::context const context{spec};
            for (std::string const& finding : context.warnings())
                problems_.warning(place_of(finding).first, place_of(finding).second, finding);
        } catch (tls::spec_error const&) {
            for (std::string const& finding : tls::find_mistakes(spec))
                problems_.error(place_of(finding).first, place_of(finding).second, finding, "");
        }
    }

    // A finding begins with the name of a setting of the spec, or of a file.
    [[nodiscard]] std::pair<location, std::string> place_of(std::string_view finding) const
    {
        if (finding.starts_with("groups: ") && !tls_.groups.location.is_built_in())
            return {tls_.groups.location, "ecdh-curve"};
        if (finding.starts_with("ciphers: ") && !tls_.ciphers.location.is_built_in())
            return {tls_.ciphers.location, "ciphers"};
        if (finding.starts_with("ciphersuites: ") && !tls_.ciphersuites.location.is_built_in())
            return {tls_.ciphersuites.location, "ciphersuites"};
        if (!tls_.cert->empty() && finding.starts_with(*tls_.cert))
            return {tls_.cert.location, "tls-cert"};
        if (!tls_.ca->empty() && finding.starts_with(*tls_.ca))
            return {tls_.ca.location, "tls-ca"};
        return {upstream_.location, upstream_.name->empty() ? "backend" : "upstream"};
    }

    upstream_config const& upstream_;
    upstream_tls_config const& tls_;
    certificate_files& files_;
    problem_list& problems_;
};

} // namespace

std::optional<upstream_tls_plan> load_tls_plan(
    upstream_config const& upstream, certificate_files& files, problem_list& problems)
{
    if (!*upstream.tls.enabled)
        return {};
    return tls_plan_maker{upstream, files, problems}.make();
}

std::string tls_name_of(upstream_config const& upstream, upstream_server const& server)
{
    if (!server.tls_name->empty())
        return *server.tls_name;
    if (!upstream.tls.name->empty())
        return *upstream.tls.name;
    host_port const* const tcp = std::get_if<host_port>(&*server.address);
    return std::string{tls::without_final_dot(tcp == nullptr ? std::string_view{} : tcp->host)};
}

} // namespace cleat::app
