// json: Boost.JSON under a short name. Its code is compiled in json.cpp, not linked.

#pragma once

#include <boost/json.hpp>

namespace cleat::bench {

namespace json = boost::json;

} // namespace cleat::bench
