// line_text: the text of one line of a log while fields are added to it: key=value pairs (logfmt),
// or one JSON object. No peer can forge or break a line.
//
// In logfmt a value with spaces, quotes, '=', control characters or anything beyond ASCII is put in
// quotes. In quotes, and so in JSON, \" \\ \n \r \t mean what they do in JSON, and \u00NN is the
// byte NN, because a peer's bytes need not be text in any encoding. A line that had to be cut ends
// with truncated=true.

#pragma once

#include <cleat/core/limits.hpp>

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cleat::app {

/// line_form is how a line's fields are written.
enum class line_form : std::uint8_t
{
    logfmt,
    json,
};

/// line_text lives on the stack and allocates nothing.
class line_text
{
public:
    /// A line that begins with `head`, which is written as it is. In logfmt a space follows it
    /// where `is_separate`.
    explicit line_text(
        line_form form, std::string_view head = {}, bool is_separate = false) noexcept;
    line_text(line_text&&) = delete;
    ~line_text() = default;

    /// add appends a field. The key is the program's own: letters, digits, '-' and '_'. The value
    /// may be a peer's: it is escaped, and cut after limits::log_value_max characters.
    void add(std::string_view key, std::string_view value) noexcept;

    /// add_bare appends a number, true or false: a value that JSON writes without quotes.
    void add_bare(std::string_view key, std::string_view value) noexcept;

    template <std::integral T>
        requires(!std::same_as<T, bool> && !std::same_as<T, char>)
    void add(std::string_view key, T value) noexcept
    {
        std::array<char, 24> text; // NOLINT: filled by to_chars
        auto const [end, ec] = std::to_chars(text.data(), text.data() + text.size(), value);
        add_bare(key, std::string_view{text.data(), end});
    }

    template <std::same_as<bool> T>
    void add(std::string_view key, T value) noexcept
    {
        add_bare(key, value ? "true" : "false");
    }

    /// end closes the line and returns it, with a newline where it wants one. Call it once.
    [[nodiscard]] std::string_view end(bool with_newline) noexcept;

private:
    [[nodiscard]] bool append(std::string_view text) noexcept;
    [[nodiscard]] bool append_key(std::string_view key) noexcept;
    [[nodiscard]] bool append_plain(std::string_view value) noexcept;
    [[nodiscard]] bool append_quoted(std::string_view value) noexcept;
    void end_field(std::size_t before, bool fits) noexcept;

    line_form form_;
    bool is_first_;    // No separator comes before the next field.
    bool cut_ = false; // A field is missing or cut.
    std::size_t size_ = 0;
    std::array<char, limits::log_line_max> text_; // NOLINT: 2 KiB that need no zeros
};

} // namespace cleat::app
