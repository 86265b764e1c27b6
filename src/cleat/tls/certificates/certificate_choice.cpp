#include <cleat/tls/certificates/certificate_choice.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cleat::tls {
namespace {

using number = name_index::number;

// ECDSA first: nearly all clients verify it. RSA last: it is slow, and can_use takes it as usable
// by every client.
constexpr std::array by_preference{
    &name_index::choice::ecdsa, &name_index::choice::ed25519, &name_index::choice::rsa};

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
    number const added = static_cast<number>(served_.size());
    if (served_.empty())
        ecdsa_suites_ = ecdsa_suites_of(ctx); // The settings are the same for all of them.
    served_.push_back({ctx, next.type, next.origin});
    for (std::string const& name : next.names) {
        number const replaced = names_.add(name, next.type, added);
        if (replaced == name_index::none || replaced == added)
            continue;
        warnings.push_back(fmt::format(
            "{} and {} both answer to {} with the same kind of key: {}, the later one, is used",
            served_[replaced].origin, next.origin, name, next.origin));
    }
    choose_default(next, added);
}

// The default is the last certificate, with those of other kinds that have all its names.
void certificate_choice::choose_default(certificate const& last, number added)
{
    default_ = {};
    bool is_first = true;
    for (std::string const& name : last.names) {
        name_index::choice const* const found = names_.find(name);
        name_index::choice const found_choice = found == nullptr ? name_index::choice{} : *found;
        for (number name_index::choice::*const kind : by_preference)
            if (is_first || default_.*kind != found_choice.*kind)
                default_.*kind = is_first ? found_choice.*kind : name_index::none;
        is_first = false;
    }
    name_index::set(default_, last.type, added);
}

SSL_CTX* certificate_choice::initial() const noexcept
{
    for (number name_index::choice::*const kind : by_preference)
        if (default_.*kind != name_index::none)
            return served_[default_.*kind].ctx;
    return nullptr;
}

bool certificate_choice::is_needed() const noexcept
{
    return served_.size() > 1 || rules_.refuse_unknown_names;
}

SSL_CTX* certificate_choice::choose(backend::client_hello const& hello) const noexcept
{
    name_index::choice const* candidates = &default_;
    std::string_view const name = server_name_in(hello.body_of(extension::server_name));
    if (!name.empty()) {
        name_index::choice const* const found = names_.find(name);
        if (found != nullptr)
            candidates = found;
        else if (rules_.refuse_unknown_names)
            return nullptr;
    }
    return served_[preferred(*candidates, hello)].ctx;
}

// The first kind that the client can use. Where there is only one, the rest of the ClientHello is
// not read.
number certificate_choice::preferred(
    name_index::choice const& candidates, backend::client_hello const& hello) const noexcept
{
    std::array<number, by_preference.size()> numbers{};
    std::size_t count = 0;
    for (number name_index::choice::*const kind : by_preference)
        if (candidates.*kind != name_index::none)
            numbers[count++] = candidates.*kind;
    if (count == 1)
        return numbers.front();
    client_offer const offer{
        hello.cipher_suites(), hello.body_of(extension::signature_algorithms),
        hello.body_of(extension::supported_groups), hello.body_of(extension::supported_versions)};
    server_side const server{rules_.tls_1_3, rules_.tls_1_2, ecdsa_suites_};
    auto const end = numbers.begin() + count;
    auto const best = std::find_if(
        numbers.begin(), end, [&](number n) { return can_use(offer, server, served_[n].type); });
    return best == end ? numbers.front() : *best; // Any: the handshake fails and says why.
}

} // namespace cleat::tls
