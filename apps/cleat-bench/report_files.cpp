#include "report_compare.hpp"
#include "report_files.hpp"
#include "result_json.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

namespace cleat::bench {
namespace {

constexpr std::string_view cure =
    "name files that `cleat-bench load`, `staircase`, `transfer`, `merge` or `compare` wrote with "
    "--json";

json::value parsed(std::string const& text, std::string const& origin)
{
    boost::system::error_code error;
    json::value found = json::parse(text, error);
    if (error)
        throw std::runtime_error{
            fmt::format("{}: not JSON ({}): {}", origin, error.message(), cure)};
    return found;
}

std::string kind_of(json::value const& document, std::string const& origin)
{
    json::object const* const members = document.if_object();
    json::value const* const version =
        members == nullptr ? nullptr : members->if_contains("cleat_bench");
    json::value const* const kind = members == nullptr ? nullptr : members->if_contains("kind");
    if (version == nullptr || kind == nullptr || !kind->is_string())
        throw std::runtime_error{
            fmt::format("{}: not a document of cleat-bench: {}", origin, cure)};
    if (*version != document_version)
        throw std::runtime_error{fmt::format(
            "{}: a document of version {}, and this program reads version {}: draw it with the "
            "cleat-bench that wrote it",
            origin, json::serialize(*version), document_version)};
    return std::string{kind->as_string()};
}

} // namespace

void add_document(drawable& to, std::string const& text, std::string const& origin)
{
    json::value document = parsed(text, origin);
    std::string const kind = kind_of(document, origin);
    if (kind == "load") {
        to.results.push_back(from_document(document, origin));
        return;
    }
    if (kind != "compare")
        throw std::runtime_error{
            fmt::format("{}: a document of '{}' has no charts: {}", origin, kind, cure)};
    try {
        // What can be drawn without a grid can be drawn with one.
        static_cast<void>(page_of(document, {}));
    } catch (std::exception const& e) {
        throw std::runtime_error{fmt::format(
            "{}: a damaged document of cleat-bench compare: {}: take the file as `compare --json` "
            "wrote it, or compare again",
            origin, e.what())};
    }
    to.comparisons.push_back(std::move(document));
}

} // namespace cleat::bench
