// result_json: a result's document before it is text, for documents that hold it.

#pragma once

#include "json.hpp"
#include "result.hpp"

namespace cleat::bench {

/// document_of is what to_json writes.
[[nodiscard]] json::object document_of(result const& of);

/// read takes one latency of such a document, an empty one being given. Throws std::runtime_error
/// where its histogram is damaged.
void read(json::value const& from, latency& into);

} // namespace cleat::bench
