#include "page/page.hpp"
#include "page_parts.hpp"

#include <algorithm>
#include <utility>

namespace cleat::page {
namespace {

using part = std::pair<std::string_view, std::string_view>;

std::string replaced(std::string_view text, std::vector<part> const& characters)
{
    std::string made;
    made.reserve(text.size());
    for (std::size_t i = 0; i != text.size(); ++i) {
        std::string_view const one = text.substr(i, 1);
        auto const found = std::ranges::find(characters, one, &part::first);
        made += found == characters.end() ? one : found->second;
    }
    return made;
}

// escaped_json can stand in a script element: nothing in it ends the element, or begins a comment.
// JSON has these characters in strings only.
std::string escaped_json(std::string_view text)
{
    return replaced(text, {{"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}});
}

std::string escaped_text(std::string_view text)
{
    return replaced(text, {{"<", "&lt;"}, {">", "&gt;"}, {"&", "&amp;"}});
}

// filled replaces each name in double braces by its part. Braces in a part are left alone.
std::string filled(std::string_view skeleton, std::vector<part> const& parts)
{
    std::string made;
    for (std::size_t open = skeleton.find("{{"); open != std::string_view::npos;
         open = skeleton.find("{{")) {
        std::size_t const close = skeleton.find("}}", open);
        std::string_view const name = skeleton.substr(open + 2, close - open - 2);
        made += skeleton.substr(0, open);
        made += std::ranges::find(parts, name, &part::first)->second;
        skeleton.remove_prefix(close + 2);
    }
    return made += skeleton;
}

} // namespace

std::string policy_of(document const& document)
{
    if (document.nonce.empty())
        return "default-src 'none'; script-src 'unsafe-inline'; img-src data:; "
               "style-src 'unsafe-inline'";
    std::string const own = "'nonce-" + document.nonce + "'";
    return "default-src 'none'; script-src " + own + "; img-src data:; style-src " + own +
           "; connect-src 'self'";
}

std::string to_html(document const& document)
{
    std::string const nonce =
        document.nonce.empty() ? std::string{} : " nonce=\"" + document.nonce + '"';
    std::string style{parts::style()};
    style += document.style;
    std::string library;
    if (!document.library.empty())
        library.append("<script" + nonce + ">\n").append(document.library).append("\n</script>\n");
    std::string script{parts::dom()};
    script += parts::numbers();
    for (std::string_view const each : document.scripts)
        script += each;
    return filled(
        parts::skeleton(), {{"title", escaped_text(document.title)},
                            {"policy", policy_of(document)},
                            {"nonce", nonce},
                            {"style", style},
                            {"data", escaped_json(document.data)},
                            {"library", library},
                            {"script", script}});
}

} // namespace cleat::page
