#include <cleat/tls/certificates/name_index.hpp>

#include <algorithm>
#include <utility>

namespace cleat::tls {
namespace {

constexpr std::size_t name_size_max =
    253; // RFC 1035, section 2.3.4, without the root's empty label.
constexpr std::size_t label_size_max = 63;

constexpr char lower(char c) noexcept
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string_view without_final_dot(std::string_view name) noexcept
{
    if (name.ends_with('.'))
        name.remove_suffix(1);
    return name;
}

// RFC 952 has no underscore in host names, but many certificates do.
constexpr bool is_label_character(char c) noexcept
{
    char const l = lower(c);
    return (l >= 'a' && l <= 'z') || (l >= '0' && l <= '9') || l == '-' || l == '_';
}

bool is_label(std::string_view label) noexcept
{
    return !label.empty() && label.size() <= label_size_max &&
           std::all_of(label.begin(), label.end(), is_label_character);
}

} // namespace

// FNV-1a over the lower-case form. The table's keys are names in our own certificates, so a client
// cannot make a bucket longer.
std::size_t name_index::hash::operator()(std::string_view name) const noexcept
{
    std::uint64_t sum = 14695981039346656037ULL;
    for (char const c : name) {
        sum ^= static_cast<unsigned char>(lower(c));
        sum *= 1099511628211ULL;
    }
    return static_cast<std::size_t>(sum);
}

bool name_index::equal::operator()(std::string_view a, std::string_view b) const noexcept
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
        return lower(x) == lower(y);
    });
}

name_index::number& name_index::slot(choice& c, key_type key) noexcept
{
    switch (key) {
    case key_type::rsa:
        return c.rsa;
    case key_type::ed25519:
        return c.ed25519;
    case key_type::ecdsa_p256:
    case key_type::ecdsa_p384:
    case key_type::ecdsa_p521:
        break;
    }
    return c.ecdsa;
}

name_index::number name_index::set(choice& c, key_type key, number certificate) noexcept
{
    return std::exchange(slot(c, key), certificate);
}

bool name_index::is_usable(std::string_view name) noexcept
{
    name = without_final_dot(name);
    if (name.size() > name_size_max)
        return false;
    if (name.starts_with("*."))
        name.remove_prefix(2);
    while (true) {
        std::size_t const dot = name.find('.');
        if (!is_label(name.substr(0, dot)))
            return false;
        if (dot == std::string_view::npos)
            return true;
        name.remove_prefix(dot + 1);
    }
}

name_index::number name_index::add(std::string_view name, key_type key, number certificate)
{
    name = without_final_dot(name);
    bool const wildcard = name.starts_with("*.");
    if (wildcard)
        name.remove_prefix(1);
    return set((wildcard ? wildcards_ : exact_)[std::string{name}], key, certificate);
}

name_index::choice const* name_index::find(std::string_view name) const noexcept
{
    name = without_final_dot(name);
    if (name.size() > name_size_max)
        return nullptr;
    if (table::const_iterator const found = exact_.find(name); found != exact_.end())
        return &found->second;
    std::size_t const dot = name.find('.');
    if (dot == std::string_view::npos || dot == 0 || wildcards_.empty())
        return nullptr;
    table::const_iterator const found = wildcards_.find(name.substr(dot));
    return found == wildcards_.end() ? nullptr : &found->second;
}

} // namespace cleat::tls
