#include "report/comparison.hpp"
#include "report/documents.hpp"
#include "report/kinds.hpp"
#include "result/result_json.hpp"
#include "system/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

namespace cleat::bench {
namespace {

constexpr std::string_view kinds_cure =
    "name files that `cleat-bench load`, `staircase`, `transfer`, `idle`, `probe`, `merge` or "
    "`compare` wrote with --json";

constexpr std::array<std::string_view, 4> document_kinds{"load", "compare", "idle", "probe"};

json::value parsed(std::string const& text, std::string const& origin)
{
    boost::system::error_code error;
    json::value found = json::parse(text, error);
    if (error)
        throw std::runtime_error{
            fmt::format("{}: not JSON ({}): {}", origin, error.message(), kinds_cure)};
    return found;
}

std::string document_kind(json::value const& document, std::string const& origin)
{
    json::object const* const members = document.if_object();
    json::value const* const version =
        members == nullptr ? nullptr : members->if_contains("cleat_bench");
    json::value const* const kind = members == nullptr ? nullptr : members->if_contains("kind");
    if (version == nullptr || kind == nullptr || !kind->is_string())
        throw std::runtime_error{
            fmt::format("{}: not a document of cleat-bench: {}", origin, kinds_cure)};
    if (*version != document_version)
        throw std::runtime_error{fmt::format(
            "{}: a document of version {}, and this program reads version {}: draw it with the "
            "cleat-bench that wrote it",
            origin, json::serialize(*version), document_version)};
    return std::string{kind->as_string()};
}

// add checks a document by drawing it without a grid, and adds it to the page.
void add_parsed(drawable& page, json::value document, std::string const& origin)
{
    std::string const kind = document_kind(document, origin);
    if (std::ranges::find(document_kinds, kind) == document_kinds.end())
        throw std::runtime_error{
            fmt::format("{}: a document of '{}' has no charts: {}", origin, kind, kinds_cure)};
    if (kind == "load") {
        page.results.push_back(from_document(document, origin));
        page.extras.resize(page.results.size());
    }
    try {
        if (kind == "load")
            page.extras.back() = extras_of(document);
        else if (kind == "compare")
            static_cast<void>(page_of(document, {}));
        else if (kind == "idle")
            static_cast<void>(idle_page_of(document));
        else if (kind == "probe")
            static_cast<void>(probe_page_of(document));
    } catch (std::exception const& e) {
        throw std::runtime_error{fmt::format(
            "{}: a damaged document of cleat-bench {}: {}: take the file as `{} --json` wrote it, "
            "or measure again",
            origin, kind, e.what(), kind)};
    }
    if (kind == "compare")
        page.comparisons.push_back(std::move(document));
    else if (kind == "idle")
        page.idles.push_back(std::move(document));
    else if (kind == "probe")
        page.probes.push_back(std::move(document));
}

} // namespace

void add_document(drawable& page, std::string const& text, std::string const& origin)
{
    add_parsed(page, parsed(text, origin), origin);
}

void write_documents(json::object const& document, output const& output)
{
    if (!output.json.empty())
        write_file(output.json, json::serialize(document) + "\n");
    if (output.html.empty())
        return;
    drawable all;
    add_parsed(all, document, output.html);
    write_file(output.html, page_for(all));
}

} // namespace cleat::bench
