#include "wire/bytes.hpp"

namespace cleat::bench::wire {

std::string number(std::size_t value, unsigned bytes)
{
    std::string made;
    while (bytes-- > 0)
        made.push_back(static_cast<char>(value >> (8 * bytes) & 0xff));
    return made;
}

std::string list(std::span<std::uint16_t const> numbers)
{
    std::string made;
    for (std::uint16_t const each : numbers)
        made += number(each, 2);
    return made;
}

std::string sized(std::string_view contents, unsigned bytes)
{
    return number(contents.size(), bytes).append(contents);
}

std::size_t reader::number(unsigned bytes) noexcept
{
    std::size_t value = 0;
    for (char const each : this->bytes(bytes))
        value = value << 8 | static_cast<unsigned char>(each);
    return value;
}

std::uint16_t reader::number_16() noexcept
{
    return static_cast<std::uint16_t>(number(2));
}

std::string_view reader::bytes(std::size_t count) noexcept
{
    if (rest_.size() < count) {
        ok_ = false;
        rest_ = {};
    }
    std::string_view const taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
}

std::string_view reader::sized(unsigned size_bytes) noexcept
{
    return bytes(number(size_bytes));
}

} // namespace cleat::bench::wire
