#include "report/rust_names.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <utility>

namespace cleat::locks {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 8> legacy_marks{{
    {"SP", "@"},
    {"BP", "*"},
    {"RF", "&"},
    {"LT", "<"},
    {"GT", ">"},
    {"LP", "("},
    {"RP", ")"},
    {"C", ","},
}};

// without_trait makes "Type::f" of "<Type as Trait>::f".
std::string without_trait(std::string const& name)
{
    if (!name.starts_with('<'))
        return name;
    std::size_t type_end = name.npos;
    int depth = 0;
    for (std::size_t i = 0; i != name.size(); ++i) {
        depth += name[i] == '<' ? 1 : name[i] == '>' && name[i - 1] != '-' ? -1 : 0;
        if (depth == 1 && type_end == name.npos && name.compare(i, 4, " as ") == 0)
            type_end = i;
        if (depth == 0)
            return name.substr(1, std::min(type_end, i) - 1) + name.substr(i + 1);
    }
    return name;
}

// legacy_mark is what stands between two dollars; empty: it is no mark.
std::string legacy_mark(std::string_view mark)
{
    auto const* const known = std::ranges::find(
        legacy_marks, mark, &std::pair<std::string_view, std::string_view>::first);
    if (known != legacy_marks.end())
        return std::string{known->second};
    unsigned code = 0;
    char const* const end = mark.data() + mark.size();
    bool const is_code = mark.starts_with('u') &&
                         std::from_chars(mark.data() + 1, end, code, 16).ptr == end &&
                         code >= ' ' && code <= '~';
    return is_code ? std::string(1, static_cast<char>(code)) : "";
}

} // namespace

std::optional<std::string> legacy_rust_name(std::string_view demangled)
{
    constexpr std::string_view hash_mark = "::h";
    constexpr std::size_t hash_size = hash_mark.size() + 16;
    if (demangled.size() <= hash_size)
        return std::nullopt;
    std::string_view const hash = demangled.substr(demangled.size() - hash_size);
    if (!hash.starts_with(hash_mark) ||
        hash.find_first_not_of("0123456789abcdef", hash_mark.size()) != hash.npos)
        return std::nullopt;
    std::string_view left = demangled.substr(0, demangled.size() - hash_size);
    std::string made;
    while (!left.empty()) {
        std::size_t const end = left.front() == '$' ? left.find('$', 1) : left.npos;
        std::string const mark =
            end == left.npos ? std::string{} : legacy_mark(left.substr(1, end - 1));
        if (!mark.empty()) {
            made += mark;
            left.remove_prefix(end + 1);
        } else if (left.starts_with("..")) {
            made += "::";
            left.remove_prefix(2);
        } else {
            // A part of the name may not begin with a dollar, so it has an underscore before it.
            bool const begins = made.empty() || made.ends_with("::");
            if (!(begins && left.starts_with("_$")))
                made += left.front();
            left.remove_prefix(1);
        }
    }
    constexpr std::string_view closure = "{{closure}}";
    for (std::size_t begin = made.find(closure); begin != made.npos;
         begin = made.find(closure, begin))
        made.replace(begin, closure.size(), "{closure}");
    return without_trait(made);
}

} // namespace cleat::locks
