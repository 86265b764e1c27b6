#include "client_verification.hpp"

#include <cleat/tls/store/certificate_store.hpp>

#include <utility>
#include <vector>

namespace cleat::app {
namespace {

tls::peer_verification verification_of(client_verify mode) noexcept
{
    switch (mode) {
    case client_verify::none:
        break;
    case client_verify::optional:
        return tls::peer_verification::optional;
    case client_verify::required:
        return tls::peer_verification::required;
    }
    return tls::peer_verification::none;
}

} // namespace

std::optional<tls::client_rule> client_verification::rule(
    setting<client_verify> const& mode, setting<std::string> const& authorities) const
{
    if (*mode == client_verify::none)
        return tls::client_rule{};
    if (authorities->empty())
        return std::nullopt;
    std::optional<std::string> text =
        files_.read_text(authorities.location, "client-verify-ca", *authorities);
    if (!text)
        return std::nullopt;
    return tls::client_rule{verification_of(*mode), *std::move(text), *authorities};
}

void client_verification::fill(tls::context_spec& spec) const
{
    std::optional<tls::client_rule> its = rule(mode(), authorities());
    if (!its)
        return;
    spec.verify = its->verify;
    spec.verify_authorities = std::move(its->authorities);
    spec.verify_origin = *authorities();
}

std::map<std::string, tls::client_rule> client_verification::own_rules() const
{
    std::map<std::string, tls::client_rule> found;
    auto const add = [&](std::vector<pem_file> const& pems) {
        for (pem_file const& pem : pems) {
            std::string const origin = tls::origin_of({*pem.cert, *pem.private_key});
            found.erase(origin);
            setting<client_verify> const& its = effective(pem.client_verify, mode());
            setting<std::string> const& ca = effective(pem.client_verify_ca, authorities());
            bool const is_same_mode = *its == *mode();
            if (is_same_mode && (*its == client_verify::none || *ca == *authorities()))
                continue;
            if (std::optional<tls::client_rule> own = rule(its, ca))
                found.emplace(origin, *std::move(own));
        }
    };
    if (frontend_.uses_global_certs())
        add(settings_.pem_files);
    add(frontend_.pem_files);
    return found;
}

} // namespace cleat::app
