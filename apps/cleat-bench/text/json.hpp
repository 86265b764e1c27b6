// json: Boost.JSON under a short name. json.cpp compiles its code; no library is linked.

#pragma once

#include <boost/json.hpp>

namespace cleat::bench {

namespace json = boost::json;

} // namespace cleat::bench
