// page: the files of the review page, which CMake makes a part of the program.

#pragma once

#include <string_view>

namespace statsync {

extern std::string_view const review_html;
extern std::string_view const review_css;
extern std::string_view const review_js;

} // namespace statsync
