#include <cleat/tls/certificates/certificate_description.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/store/unserved.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace cleat::tls {
namespace {

std::string_view cure_for(key_type type, context_spec const& spec)
{
    if (spec.version_max == protocol_version::tls_1_3)
        return "or allow its signature algorithm";
    if (is_ml_dsa(type))
        return "or allow TLSv1.3: ML-DSA is not in TLSv1.2";
    if (type == key_type::rsa)
        return "or add a suite for RSA to ciphers, such as ECDHE-RSA-AES128-GCM-SHA256";
    return "or add a suite for ECDSA to ciphers, such as ECDHE-ECDSA-AES128-GCM-SHA256";
}

} // namespace

void refuse_unserved(
    certificate_set const& certificates, candidates const& unusable, context_spec const& spec,
    std::function<std::string(certificate_set::number)> const& origin)
{
    candidates const all = certificates.examples();
    auto const is_unusable = [&](candidate const& each) {
        return unusable.find(each.type) != nullptr;
    };
    if (all.empty() || !std::ranges::all_of(all, is_unusable))
        return;
    candidates const& defaults = certificates.defaults();
    candidate const& first = defaults.empty() ? all.front() : defaults.front();
    throw spec_error{fmt::format(
        "{}: no client can be served: with the certificate's {} key no handshake is possible under "
        "the protocol versions, ciphers and groups that are set, and there is no certificate with "
        "another type of key; add one, {}",
        origin(first.number), key_name(first.type), cure_for(first.type, spec))};
}

} // namespace cleat::tls
