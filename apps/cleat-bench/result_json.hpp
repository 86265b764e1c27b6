// result_json: a result's document before it is text, for documents that hold it.

#pragma once

#include "json.hpp"
#include "result.hpp"

namespace cleat::bench {

/// document_of is what to_json writes.
[[nodiscard]] json::object document_of(result const& of);

} // namespace cleat::bench
