// input_reader: takes the numbers and texts that a target is called with off its input, one after
// the other. At the input's end it gives zeros.

#pragma once

#include "targets.hpp"

#include <algorithm>
#include <cstddef>

namespace cleat::fuzz {

class input_reader
{
public:
    explicit input_reader(octets input) noexcept : left_{input} {}

    [[nodiscard]] bool is_empty() const noexcept { return left_.empty(); }

    [[nodiscard]] octets take(std::size_t size) noexcept
    {
        octets const taken = left_.first(std::min(size, left_.size()));
        left_ = left_.subspan(taken.size());
        return taken;
    }

    [[nodiscard]] std::size_t number(std::size_t size) noexcept
    {
        std::size_t value = 0;
        for (std::uint8_t const each : take(size))
            value = value << 8U | each;
        return value;
    }

    /// text is the bytes that follow a byte with their number.
    [[nodiscard]] std::string_view text() noexcept { return text_of(take(number(1))); }

    /// line is the text up to the next line end, which is taken too.
    [[nodiscard]] std::string_view line() noexcept
    {
        auto const end = std::ranges::find(left_, std::uint8_t{'\n'});
        std::string_view const taken = text_of(take(static_cast<std::size_t>(end - left_.begin())));
        static_cast<void>(take(1));
        return taken;
    }

    [[nodiscard]] octets rest() noexcept { return take(left_.size()); }

private:
    octets left_;
};

} // namespace cleat::fuzz
