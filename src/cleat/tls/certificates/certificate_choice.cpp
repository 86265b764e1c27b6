#include <cleat/tls/certificates/certificate_choice.hpp>

#include <algorithm>
#include <string_view>

namespace cleat::tls {

void certificate_choice::take_suites(SSL_CTX const* ctx)
{
    ecdsa_suites_.clear();
    auto const* const all = SSL_CTX_get_ciphers(ctx);
    auto const count = all == nullptr ? 0 : sk_SSL_CIPHER_num(all);
    for (auto i = decltype(count){0}; i < count; ++i) {
        SSL_CIPHER const* const each = sk_SSL_CIPHER_value(all, i);
        if (SSL_CIPHER_get_auth_nid(each) == NID_auth_ecdsa)
            ecdsa_suites_.push_back(static_cast<std::uint16_t>(SSL_CIPHER_get_protocol_id(each)));
    }
}

certificate_choice::rules certificate_choice::rules_of(context_spec const& spec) noexcept
{
    return {
        spec.version_min == protocol_version::tls_1_2,
        spec.version_max == protocol_version::tls_1_3, spec.refuse_unknown_names};
}

certificate_choice::selection certificate_choice::select(std::string_view name) const noexcept
{
    using enum selection::reason;
    if (name.empty())
        return {certificates_.defaults(), no_name};
    found_name const found = certificates_.lookup(name);
    if (found.match != name_match::none)
        return {found.candidates, found.match == name_match::exact ? exact_name : wildcard};
    if (rules_.refuse_unknown_names)
        return {{}, refused_name};
    return {certificates_.defaults(), unknown_name};
}

certificate_choice::number certificate_choice::choose(
    backend::client_hello const& hello) const noexcept
{
    selection const found = select(server_name_in(hello.body_of(extension::server_name)));
    if (found.candidates.size() <= 1) // The rest of the ClientHello is not read.
        return found.candidates.empty() ? none : found.candidates.front().number;
    return preferred(
               found.candidates,
               {hello.cipher_suites(), hello.body_of(extension::signature_algorithms),
                hello.body_of(extension::supported_groups),
                hello.body_of(extension::supported_versions)})
        .number;
}

std::optional<key_type> certificate_choice::type_for(
    std::string_view name, client_offer const& offer) const noexcept
{
    selection const found = select(name);
    if (found.candidates.empty())
        return {};
    return preferred(found.candidates, offer).type;
}

// The first that the client can use.
candidate const& certificate_choice::preferred(
    candidates const& found, client_offer const& offer) const noexcept
{
    if (found.size() == 1)
        return found.front();
    server_side const server{rules_.tls_1_3, rules_.tls_1_2, ecdsa_suites_};
    candidate const* const best = std::ranges::find_if(
        found, [&](candidate const& each) { return can_use(offer, server, each.type); });
    // Any, where there is none: the handshake fails and says why.
    return best == found.end() ? found.front() : *best;
}

} // namespace cleat::tls
