// text_search: looks for a text in bytes that come in pieces.

#pragma once

#include <string>
#include <string_view>

namespace cleat::bench {

/// text_search keeps as many bytes as a match across pieces needs, and no more. The text must
/// outlive it.
class text_search
{
public:
    /// An empty text is found at once.
    explicit text_search(std::string_view text) noexcept : text_{text}, found_{text.empty()} {}

    void take(std::string_view bytes);

    [[nodiscard]] bool found() const noexcept { return found_; }

private:
    std::string_view text_;
    std::string last_; // The last bytes, one fewer than the text has.
    bool found_;
};

} // namespace cleat::bench
