// result_json: a result as a JSON value, for documents that contain it.

#pragma once

#include "result/result.hpp"
#include "text/json.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::bench {

/// document_version is the version of the documents that `report` reads: results and comparisons.
inline constexpr int document_version = 1;

/// in_json is the JSON of each. Facts are pairs, not members: in a merged result every generator
/// has its own "kernel".
[[nodiscard]] json::array in_json(std::vector<fact> const& facts);
[[nodiscard]] json::array in_json(std::vector<std::string> const& lines);
[[nodiscard]] json::value in_json(std::optional<double> value); ///< Null where it is empty.
[[nodiscard]] json::array in_json(failures const& counts);
[[nodiscard]] json::array in_json(std::vector<agreement> const& agreements);
[[nodiscard]] json::array in_json(std::vector<load_host> const& hosts);
[[nodiscard]] json::object in_json(latency const& times); ///< `read` reads it back.

/// failures_from reads the JSON of failures. Throws std::runtime_error.
[[nodiscard]] failures failures_from(json::array const& list);

/// document_of is the JSON value that to_json writes.
[[nodiscard]] json::object document_of(result const& result);

/// from_document is from_json after parsing.
[[nodiscard]] result from_document(json::value const& document, std::string const& origin);

/// load_document is a load's document, and the subcommand that wrote it: "load", "staircase" or
/// "transfer".
struct load_document
{
    result content;
    std::string_view subcommand;
};

/// read_load is from_json with the subcommand.
[[nodiscard]] load_document read_load(std::string const& text, std::string const& origin);

/// read fills an empty latency from its JSON. Throws std::runtime_error if the histogram is
/// damaged.
void read(json::value const& document, latency& latency);

} // namespace cleat::bench
