#include <cleat/tls/store/host_name.hpp>

#include <algorithm>

namespace cleat::tls {
namespace {

constexpr std::size_t label_size_max = 63;

constexpr char lower(char c) noexcept
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
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

std::string_view without_final_dot(std::string_view name) noexcept
{
    if (name.ends_with('.'))
        name.remove_suffix(1);
    return name;
}

bool is_usable_name(std::string_view name) noexcept
{
    name = without_final_dot(name);
    if (name.size() > host_name_size_max)
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

std::string name_key(std::string_view name)
{
    name = without_final_dot(name);
    if (name.starts_with("*."))
        name.remove_prefix(1);
    std::string key{name};
    std::ranges::transform(key, key.begin(), lower);
    return key;
}

bool is_same_name(std::string_view name, std::string_view key) noexcept
{
    return std::equal(name.begin(), name.end(), key.begin(), key.end(), [](char x, char y) {
        return lower(x) == y;
    });
}

} // namespace cleat::tls
