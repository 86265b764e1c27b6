// secret_text: a text that may have a private key in it, wiped when its last copy ends.

#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace cleat::tls {

/// secret_text is a text that never changes. Its copies share it, and the last one wipes it. Copies
/// of one text may belong to several threads.
class secret_text
{
public:
    secret_text() = default;

    /// Takes the text over: nothing is left in the string that was moved here. A string that was
    /// copied here still has it: its owner wipes that. Throws std::bad_alloc, and has wiped the
    /// text then.
    secret_text(std::string text);
    secret_text(char const* text) : secret_text{std::string{text}} {}
    explicit secret_text(std::string_view text) : secret_text{std::string{text}} {}

    /// The text, as long as this copy lives.
    [[nodiscard]] std::string_view view() const noexcept
    {
        return text_ == nullptr ? std::string_view{} : std::string_view{*text_};
    }
    operator std::string_view() const noexcept { return view(); }
    [[nodiscard]] bool empty() const noexcept { return text_ == nullptr; }

    /// Takes a time that says nothing of what two texts of one length have in common.
    friend bool operator==(secret_text const& one, secret_text const& other) noexcept
    {
        return one.text_ == other.text_ || is_same(one.view(), other.view());
    }

private:
    [[nodiscard]] static bool is_same(std::string_view one, std::string_view other) noexcept;

    std::shared_ptr<std::string const> text_; // Null: empty.
};

} // namespace cleat::tls
