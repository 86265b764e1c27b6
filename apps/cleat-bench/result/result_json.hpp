// result_json: a result's document before it is text, for documents that hold it.

#pragma once

#include "result/result.hpp"
#include "text/json.hpp"

#include <string>
#include <vector>

namespace cleat::bench {

/// document_version is that of the documents which reports are drawn of: results and comparisons.
inline constexpr int document_version = 1;

/// in_json is how each stands in such a document. Facts are pairs, not members: where results were
/// merged, every generator has its own "kernel".
[[nodiscard]] json::array in_json(std::vector<fact> const& facts);
[[nodiscard]] json::array in_json(std::vector<std::string> const& lines);
[[nodiscard]] json::array in_json(failures const& of);
[[nodiscard]] json::array in_json(std::vector<agreement> const& of);

/// document_of is what to_json writes.
[[nodiscard]] json::object document_of(result const& of);

/// from_document is from_json of what is parsed already.
[[nodiscard]] result from_document(json::value const& document, std::string const& origin);

/// read takes one latency of such a document, an empty one being given. Throws std::runtime_error
/// where its histogram is damaged.
void read(json::value const& from, latency& into);

} // namespace cleat::bench
