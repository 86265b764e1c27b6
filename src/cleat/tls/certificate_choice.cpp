#include <cleat/tls/certificate_choice.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace cleat::tls {
namespace {

using number = name_index::number;

std::vector<std::uint16_t> ecdsa_suites_of(SSL_CTX const* ctx)
{
    std::vector<std::uint16_t> found;
    auto const* const all = SSL_CTX_get_ciphers(ctx);
    auto const count = all == nullptr ? 0 : sk_SSL_CIPHER_num(all);
    for (auto i = decltype(count){0}; i < count; ++i) {
        SSL_CIPHER const* const each = sk_SSL_CIPHER_value(all, i);
        if (SSL_CIPHER_get_auth_nid(each) == NID_auth_ecdsa)
            found.push_back(static_cast<std::uint16_t>(SSL_CIPHER_get_protocol_id(each)));
    }
    return found;
}

} // namespace

void certificate_choice::add(
    certificate const& next, SSL_CTX* ctx, std::vector<std::string>& warnings)
{
    number const mine = static_cast<number>(served_.size());
    if (served_.empty())
        ecdsa_suites_ = ecdsa_suites_of(ctx); // The settings are the same for all of them.
    served_.push_back({ctx, next.type, next.origin});
    for (std::string const& name : next.names) {
        number const lost = names_.add(name, next.type, mine);
        if (lost == name_index::none || lost == mine)
            continue;
        std::string_view const how =
            (served_[lost].type == key_type::ed25519) != (next.type == key_type::ed25519)
                ? "with an ECDSA and an Ed25519 key, which cannot serve one name side by side"
                : "with the same kind of key";
        warnings.push_back(fmt::format(
            "{} and {} both answer to {} {}: {}, the later one, is used", served_[lost].origin,
            next.origin, name, how, next.origin));
    }
    choose_default(next, mine);
}

// The default is the last certificate alone, or a pair when one of the other kind has all its
// names.
void certificate_choice::choose_default(certificate const& last, number mine)
{
    default_ = {};
    name_index::set(default_, last.type, mine);
    number partner = name_index::none;
    for (std::string const& name : last.names) {
        name_index::choice const* const both = names_.find(name);
        if (both == nullptr)
            return;
        number const other = last.type == key_type::rsa ? both->elliptic : both->rsa;
        if (other == name_index::none || (partner != name_index::none && other != partner))
            return;
        partner = other;
    }
    if (partner != name_index::none)
        name_index::set(default_, served_[partner].type, partner);
}

SSL_CTX* certificate_choice::initial() const noexcept
{
    if (served_.empty())
        return nullptr;
    return served_[default_.elliptic != name_index::none ? default_.elliptic : default_.rsa].ctx;
}

bool certificate_choice::is_needed() const noexcept
{
    return served_.size() > 1 || rules_.refuse_unknown_names;
}

SSL_CTX* certificate_choice::choose(backend::client_hello const& hello) const noexcept
{
    name_index::choice const* from = &default_;
    std::string_view const name = server_name_in(hello.body_of(extension::server_name));
    if (!name.empty()) {
        name_index::choice const* const found = names_.find(name);
        if (found != nullptr)
            from = found;
        else if (rules_.refuse_unknown_names)
            return nullptr;
    }
    return served_[preferred(*from, hello)].ctx;
}

// The fast key where the client can use it. Where there is nothing to choose, nothing is looked at.
number certificate_choice::preferred(
    name_index::choice const& from, backend::client_hello const& hello) const noexcept
{
    if (from.rsa == name_index::none)
        return from.elliptic;
    if (from.elliptic == name_index::none)
        return from.rsa;
    client_offer const offer{
        hello.cipher_suites(), hello.body_of(extension::signature_algorithms),
        hello.body_of(extension::supported_groups), hello.body_of(extension::supported_versions)};
    server_side const here{rules_.tls_1_3, rules_.tls_1_2, ecdsa_suites_};
    return can_use(offer, here, served_[from.elliptic].type) ? from.elliptic : from.rsa;
}

} // namespace cleat::tls
