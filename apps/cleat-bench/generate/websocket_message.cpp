#include "generate/websocket_message.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace cleat::bench {
namespace {

constexpr std::size_t period = 61; // A prime.
constexpr std::size_t number_size = 16;
constexpr std::string_view letters =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxy";
static_assert(letters.size() == period);

// So many periods that a piece is worth a call.
constexpr std::size_t table_size = 33 * period;

constexpr std::array<char, table_size> make_table() noexcept
{
    std::array<char, table_size> table{};
    for (std::size_t i = 0; i != table.size(); ++i)
        table[i] = letters[i % period];
    return table;
}
constexpr std::array<char, table_size> table = make_table();

std::byte digit_of(std::uint64_t number, std::uint64_t place) noexcept
{
    constexpr std::string_view digits = "0123456789abcdef";
    return static_cast<std::byte>(digits[number >> (60U - 4U * place) & 0xFU]);
}

// for_each_piece calls f(begin, bytes of the table) for the pattern of `size` bytes from `offset`
// on. It ends where f is false, and is then false.
template <class F>
bool for_each_piece(std::uint64_t offset, std::size_t size, F f) noexcept
{
    for (std::size_t begin = 0; begin != size;) {
        std::size_t const phase = static_cast<std::size_t>((offset + begin) % period);
        std::size_t const count = std::min(size - begin, table_size - phase);
        if (!f(begin, std::span{table}.subspan(phase, count)))
            return false;
        begin += count;
    }
    return true;
}

std::size_t digits_from(std::uint64_t offset, std::size_t size) noexcept
{
    return offset >= number_size ? 0 : std::min<std::size_t>(size, number_size - offset);
}

} // namespace

void message_bytes(std::uint64_t number, std::uint64_t offset, std::span<std::byte> bytes) noexcept
{
    std::size_t const digits = digits_from(offset, bytes.size());
    for (std::size_t i = 0; i != digits; ++i)
        bytes[i] = digit_of(number, offset + i);
    std::span<std::byte> const rest = bytes.subspan(digits);
    for_each_piece(
        offset + digits, rest.size(), [&](std::size_t begin, std::span<char const> piece) {
            std::memcpy(rest.data() + begin, piece.data(), piece.size());
            return true;
        });
}

bool is_message(
    std::uint64_t number, std::uint64_t offset, std::span<std::byte const> bytes) noexcept
{
    std::size_t const digits = digits_from(offset, bytes.size());
    for (std::size_t i = 0; i != digits; ++i)
        if (bytes[i] != digit_of(number, offset + i))
            return false;
    std::span<std::byte const> const rest = bytes.subspan(digits);
    return for_each_piece(
        offset + digits, rest.size(), [&](std::size_t begin, std::span<char const> piece) {
            return std::memcmp(rest.data() + begin, piece.data(), piece.size()) == 0;
        });
}

outgoing_message::outgoing_message(
    opcode kind, std::uint64_t number, std::uint64_t size, masking_key key) noexcept
    : key_{key}, number_{number}, size_{size}
{
    head_size_ = write_head(head_, kind, size, key);
}

std::size_t outgoing_message::make(std::span<std::byte> block) noexcept
{
    std::size_t made = 0;
    if (made_ < head_size_) {
        made = std::min(block.size(), head_size_ - static_cast<std::size_t>(made_));
        std::copy_n(head_.begin() + static_cast<std::ptrdiff_t>(made_), made, block.begin());
        made_ += made;
        block = block.subspan(made);
    }
    if (made_ < head_size_ || is_over())
        return made;
    std::uint64_t const offset = made_ - head_size_;
    block = block.first(
        static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), size_ - offset)));
    message_bytes(number_, offset, block);
    mask(block, key_, offset);
    made_ += block.size();
    return made + block.size();
}

char const* awaited_echo::take(std::span<std::byte const> part) noexcept
{
    if (part.size() > size_ - seen_)
        return "long echo";
    if (!is_message(number_, seen_, part))
        return "wrong echo";
    seen_ += part.size();
    return nullptr;
}

char const* awaited_echo::end() const noexcept
{
    return seen_ == size_ ? nullptr : "short echo";
}

} // namespace cleat::bench
