#include <cleat/core/assert.hpp>
#include <cleat/tls/store/name_index.hpp>

#include <algorithm>
#include <array>
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

// FNV-1a over the lower-case form. The table's keys are names in our own certificates, so a client
// cannot make a run of full slots longer.
std::size_t hash_of(std::string_view name) noexcept
{
    std::uint64_t sum = 14695981039346656037ULL;
    for (char const c : name) {
        sum ^= static_cast<unsigned char>(lower(c));
        sum *= 1099511628211ULL;
    }
    return static_cast<std::size_t>(sum ^ sum >> 32U);
}

// `kept` is in lower case already.
bool is_same(std::string_view name, std::string_view kept) noexcept
{
    return std::equal(name.begin(), name.end(), kept.begin(), kept.end(), [](char x, char y) {
        return lower(x) == y;
    });
}

} // namespace

key_kind kind_of(key_type key) noexcept
{
    switch (key) {
    case key_type::rsa:
        return key_kind::rsa;
    case key_type::ed25519:
        return key_kind::ed25519;
    case key_type::ecdsa_p256:
    case key_type::ecdsa_p384:
    case key_type::ecdsa_p521:
        break;
    }
    return key_kind::ecdsa;
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

// The slot that has the name, or the free one where it would go. There is a free one.
std::size_t name_index::place_of(std::string_view name) const noexcept
{
    std::size_t const mask = slots_.size() - 1;
    std::size_t place = hash_of(name) & mask;
    while (slots_[place].name != none && !is_same(name, texts_.at(slots_[place].name)))
        place = (place + 1) & mask;
    return place;
}

void name_index::grow()
{
    constexpr std::size_t smallest = 8;
    std::vector<slot> before = std::exchange(slots_, {});
    slots_.resize(std::max(before.size() * 2, smallest));
    for (slot const& each : before)
        if (each.name != none)
            slots_[place_of(texts_.at(each.name))] = each;
}

std::span<candidate const> name_index::candidates_of(slot const& s) const noexcept
{
    if (s.first.kind() != several)
        return {&s.first, 1};
    std::size_t const place = s.first.number();
    return {lists_.data() + place + 1, lists_[place].number()};
}

// A list that grows is written anew at the end. It does so at most twice.
void name_index::add_to_list(slot& s, candidate added)
{
    std::span<candidate const> const before = candidates_of(s);
    std::vector<candidate> list{before.begin(), before.end()};
    list.insert(std::ranges::upper_bound(list, added), added);
    slot const grown{s.name, candidate{several, static_cast<std::uint32_t>(lists_.size())}};
    lists_.emplace_back(several, static_cast<std::uint32_t>(list.size()));
    lists_.insert(lists_.end(), list.begin(), list.end());
    s = grown;
}

name_index::number name_index::add(std::string_view name, key_type key, number certificate)
{
    CLEAT_ASSERT(certificate <= candidate::number_max);
    name = without_final_dot(name);
    if (name.starts_with("*."))
        name.remove_prefix(1);
    if ((size_ + 1) * 4 > slots_.size() * 3)
        grow();
    candidate const added{kind_of(key), certificate};
    slot& s = slots_[place_of(name)];
    if (s.name == none) {
        std::array<char, text_arena::text_max> text{};
        std::transform(name.begin(), name.end(), text.begin(), lower);
        s = {texts_.append({text.data(), name.size()}), added};
        ++size_;
        return none;
    }
    bool const is_list = s.first.kind() == several;
    std::size_t const count = candidates_of(s).size();
    for (std::size_t i = 0; i < count; ++i) {
        candidate& each = is_list ? lists_[s.first.number() + 1 + i] : s.first;
        if (each.kind() == added.kind())
            return std::exchange(each, added).number();
    }
    add_to_list(s, added);
    return none;
}

std::span<candidate const> name_index::find_key(std::string_view key) const noexcept
{
    slot const& found = slots_[place_of(key)];
    return found.name == none ? std::span<candidate const>{} : candidates_of(found);
}

found_name name_index::lookup(std::string_view name) const noexcept
{
    name = without_final_dot(name);
    // A name with a dot in front would find the wildcard's text.
    if (slots_.empty() || name.empty() || name.front() == '.' || name.size() > name_size_max)
        return {};
    if (std::span<candidate const> const exact = find_key(name); !exact.empty())
        return {exact, name_match::exact};
    std::size_t const dot = name.find('.');
    if (dot == std::string_view::npos)
        return {};
    std::span<candidate const> const wide = find_key(name.substr(dot));
    return {wide, wide.empty() ? name_match::none : name_match::wildcard};
}

void name_index::shrink()
{
    texts_.shrink();
    slots_.shrink_to_fit();
    lists_.shrink_to_fit();
}

} // namespace cleat::tls
