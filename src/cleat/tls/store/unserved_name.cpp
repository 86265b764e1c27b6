#include <cleat/tls/certificates/certificate_description.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/store/unserved_name.hpp>

#include <fmt/format.h>

#include <optional>
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
    std::optional<unserved_name> const found = certificates.find_unserved(unusable);
    if (!found)
        return;
    std::string const clients = found->name.empty()
                                    ? std::string{"a client that names no server"}
                                    : fmt::format("a client that asks for {}", found->name);
    throw spec_error{fmt::format(
        "{}: {} cannot be served: with the certificate's {} key no handshake is possible under "
        "the protocol versions, ciphers and groups that are set, and no other certificate serves "
        "this client; use a certificate with another type of key, {}",
        origin(found->certificate), clients, key_name(found->type), cure_for(found->type, spec))};
}

} // namespace cleat::tls
