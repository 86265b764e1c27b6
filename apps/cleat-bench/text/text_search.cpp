#include "text/text_search.hpp"

#include <algorithm>
#include <cstddef>

namespace cleat::bench {

void text_search::take(std::string_view bytes)
{
    if (found_)
        return;
    std::size_t const kept_max = text_.size() - 1;
    last_ += bytes.substr(0, kept_max);
    found_ = last_.find(text_) != std::string::npos || bytes.find(text_) != std::string_view::npos;
    if (bytes.size() >= kept_max)
        last_ = bytes.substr(bytes.size() - kept_max);
    else
        last_.erase(0, last_.size() - std::min(last_.size(), kept_max));
}

} // namespace cleat::bench
