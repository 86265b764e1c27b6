#include "locks_page.hpp"
#include "report/html.hpp"
#include "report/per_operation.hpp"
#include "report/report_json.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <string_view>
#include <utility>
#include <vector>

namespace cleat::locks {
namespace {

// safe_json escapes '<' as JSON allows, since no text in a script element may begin a tag.
std::string safe_json(std::string const& text)
{
    std::string made;
    for (char const c : text)
        c == '<' ? made += "\\u003c" : made += c;
    return made;
}

std::string safe_text(std::string_view text)
{
    std::string made;
    for (char const c : text)
        switch (c) {
        case '<':
            made += "&lt;";
            break;
        case '>':
            made += "&gt;";
            break;
        case '&':
            made += "&amp;";
            break;
        default:
            made += c;
        }
    return made;
}

// filled puts values where the page has {{name}}; a {{name}} in a value stays as it is.
std::string filled(
    std::string_view page, std::vector<std::pair<std::string_view, std::string>> const& values)
{
    std::string made;
    while (!page.empty()) {
        std::size_t const open = page.find("{{");
        made += page.substr(0, open);
        if (open == std::string_view::npos)
            break;
        std::size_t const close = page.find("}}", open);
        std::string_view const name = page.substr(open + 2, close - open - 2);
        for (auto const& [word, value] : values)
            if (word == name)
                made += value;
        page.remove_prefix(close + 2);
    }
    return made;
}

} // namespace

std::string to_html(profile const& recorded, std::optional<std::uint64_t> operations)
{
    boost::json::object data = to_json(recorded);
    if (operations)
        data["per_operation"] = to_json(per_operation(recorded, *operations));
    std::string script;
    for (std::string_view const part :
         {locks_page::units(), locks_page::flame(), locks_page::tree(), locks_page::tables(),
          locks_page::throughput(), locks_page::placement()})
        script += part;
    return filled(
        locks_page::page(), {{"title", "Locks of " + safe_text(recorded.processes.front().command)},
                             {"style", std::string{locks_page::style()}},
                             {"profile", safe_json(boost::json::serialize(data))},
                             {"script", script}});
}

} // namespace cleat::locks
