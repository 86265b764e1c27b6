#include "gate/judgement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace cleat::bench {
namespace {

// Text between tags or in an attribute. Control characters are not allowed in XML at all.
std::string in_xml(std::string_view text)
{
    std::string found;
    for (char const c : text)
        switch (c) {
        case '<':
            found += "&lt;";
            break;
        case '>':
            found += "&gt;";
            break;
        case '&':
            found += "&amp;";
            break;
        case '"':
            found += "&quot;";
            break;
        default:
            found += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
        }
    return found;
}

} // namespace

std::string to_text(std::vector<judgement> const& judgements)
{
    std::string text;
    for (judgement const& each : judgements)
        fmt::format_to(
            std::back_inserter(text), "{}: {}: it was {}\n", each.failed ? "FAILED" : "passed",
            each.condition, each.value);
    return text;
}

std::string to_junit(
    std::vector<judgement> const& judgements, std::string const& name, double seconds)
{
    std::string text;
    auto const out = std::back_inserter(text);
    fmt::format_to(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" time=\"{:.3f}\">\n",
        in_xml(name), judgements.size(), std::ranges::count_if(judgements, &judgement::failed),
        seconds);
    for (judgement const& each : judgements) {
        fmt::format_to(
            out, "  <testcase classname=\"cleat-bench\" name=\"{}\">", in_xml(each.condition));
        if (each.failed)
            fmt::format_to(
                out, "<failure message=\"{}: it was {}\"/>", in_xml(each.condition),
                in_xml(each.value));
        else
            fmt::format_to(out, "<system-out>it was {}</system-out>", in_xml(each.value));
        fmt::format_to(out, "</testcase>\n");
    }
    fmt::format_to(out, "</testsuite>\n");
    return text;
}

} // namespace cleat::bench
