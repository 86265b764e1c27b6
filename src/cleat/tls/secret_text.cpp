#include <cleat/tls/secret_text.hpp>

#include <openssl/crypto.h>

#include <utility>

namespace cleat::tls {
namespace {

// With the bytes behind the end, where a longer text may have been.
void wipe(std::string& text) noexcept
{
    text.resize(text.capacity());
    OPENSSL_cleanse(text.data(), text.size());
    text.clear();
}

// Wipes a text that is taken over, or that there is no memory for.
struct wiped_text
{
    explicit wiped_text(std::string& wiped) noexcept : text{wiped} {}
    wiped_text(wiped_text&&) = delete;
    ~wiped_text() { wipe(text); }

    std::string& text;
};

// The text that all copies share.
struct shared_text
{
    explicit shared_text(std::string&& taken) noexcept : text{std::move(taken)} {}
    shared_text(shared_text&&) = delete;
    ~shared_text() { wipe(text); }

    std::string text;
};

} // namespace

secret_text::secret_text(std::string text)
{
    wiped_text const rest{text}; // A short text is copied by a move.
    if (text.empty())
        return;
    auto const made = std::make_shared<shared_text>(std::move(text));
    text_ = std::shared_ptr<std::string const>{made, &made->text};
}

bool secret_text::is_same(std::string_view one, std::string_view other) noexcept
{
    return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

} // namespace cleat::tls
