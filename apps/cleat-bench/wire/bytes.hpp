// bytes: big-endian numbers and vectors with their size, as TLS writes them (RFC 8446, section 3).

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace cleat::bench::wire {

/// number is `value` in so many bytes.
[[nodiscard]] std::string number(std::size_t value, unsigned bytes);

/// list is each number in two bytes, without a size before them.
[[nodiscard]] std::string list(std::span<std::uint16_t const> numbers);

/// sized puts the size of the contents before them, in so many bytes.
[[nodiscard]] std::string sized(std::string_view contents, unsigned bytes);

/// reader takes numbers and vectors from bytes that a peer has sent. After the first one that is
/// not all there, each further one is empty, and ok is false.
class reader
{
public:
    explicit reader(std::string_view bytes) noexcept : rest_{bytes} {}

    [[nodiscard]] std::size_t number(unsigned bytes) noexcept;
    [[nodiscard]] std::uint16_t number_16() noexcept;
    [[nodiscard]] std::string_view bytes(std::size_t count) noexcept;
    /// sized takes a vector with its size before it.
    [[nodiscard]] std::string_view sized(unsigned size_bytes) noexcept;

    [[nodiscard]] bool ok() const noexcept { return ok_; }
    [[nodiscard]] bool empty() const noexcept { return rest_.empty(); }
    [[nodiscard]] std::string_view rest() const noexcept { return rest_; }

private:
    std::string_view rest_;
    bool ok_ = true;
};

} // namespace cleat::bench::wire
