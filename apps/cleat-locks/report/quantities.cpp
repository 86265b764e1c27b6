#include "report/quantities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>

namespace cleat::locks {
namespace {

// Three significant digits, whatever the size.
std::string three_digits(double value)
{
    int const decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    return fmt::format("{:.{}f}", value, decimals);
}

constexpr std::string_view anonymous = "(anonymous namespace)::";

bool in_a_word(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// operator_size is the length of an operator's name where `rest` begins with one, otherwise 0: the
// brackets in such a name do not nest.
std::size_t operator_size(std::string_view before, std::string_view rest)
{
    constexpr std::string_view word = "operator";
    if (!rest.starts_with(word) || (!before.empty() && in_a_word(before.back())))
        return 0;
    std::string_view const signs = rest.substr(word.size());
    if (signs.starts_with("()") || signs.starts_with("[]"))
        return word.size() + 2;
    if (!signs.empty() && in_a_word(signs.front()))
        return 0;
    std::size_t const end = signs.find_first_not_of("<>=-+!*/&|^%~,");
    return word.size() + std::min(end, signs.size());
}

} // namespace

std::string time_text(double ns)
{
    if (ns <= 0)
        return "0";
    if (ns < 999.5)
        return fmt::format("{:.0f} ns", ns);
    if (ns < 999.5e3)
        return three_digits(ns / 1e3) + " us";
    if (ns < 999.5e6)
        return three_digits(ns / 1e6) + " ms";
    return three_digits(ns / 1e9) + " s";
}

std::string count_text(std::uint64_t count)
{
    if (count < 10'000)
        return fmt::format("{}", count);
    double const value = static_cast<double>(count);
    if (value < 999.5e3)
        return three_digits(value / 1e3) + "k";
    if (value < 999.5e6)
        return three_digits(value / 1e6) + "M";
    return three_digits(value / 1e9) + "G";
}

std::string rate_text(double per_second)
{
    if (per_second <= 0)
        return "";
    if (per_second < 99.95)
        return three_digits(per_second) + "/s";
    return count_text(static_cast<std::uint64_t>(std::llround(per_second))) + "/s";
}

std::string percent_text(double percent)
{
    return percent < 0.05 ? "" : fmt::format("{:.1f}", percent);
}

std::string short_name(std::string_view function)
{
    // The compiler names a part of a function " [clone .cold]".
    std::string_view const whole = function.substr(0, function.find(" [clone "));
    std::string made;
    std::size_t last_operator = std::string::npos;
    int depth = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) {
        std::string_view const rest = whole.substr(i);
        if (std::size_t const size = depth == 0 ? operator_size(made, rest) : 0; size > 0) {
            last_operator = made.size();
            made += rest.substr(0, size);
            i += size - 1;
        } else if (depth == 0 && rest.starts_with(anonymous)) {
            i += anonymous.size() - 1;
        } else if (char const c = whole[i]; c == '<' || c == '(' || c == '{') {
            if (depth++ == 0 && rest.starts_with("{lambda"))
                made += "{lambda}";
            else if (depth == 1 && rest.starts_with("{closure"))
                made += "{closure}";
        } else if (c == '>' || c == ')' || c == '}') {
            depth -= depth > 0;
        } else if (depth == 0) {
            made += c;
        }
    }
    // A demangled function ends with its qualifiers; one of a template begins with its return type.
    for (bool more = true; more;) {
        more = false;
        for (std::string_view const behind : {" const", " volatile", " &", " &&", " "})
            if (made.ends_with(behind)) {
                made.resize(made.size() - behind.size());
                more = true;
            }
    }
    if (std::size_t const space = made.rfind(' ', last_operator); space != std::string::npos)
        made.erase(0, space + 1);
    return made.empty() ? std::string{function} : made;
}

} // namespace cleat::locks
