#include "generate/websocket_frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace cleat::bench {
namespace {

constexpr unsigned no_code = 1005; // RFC 6455, section 7.4.1.

struct named_code
{
    unsigned code;
    std::string_view name;
};

// The registered codes that may be in a frame.
constexpr std::array<named_code, 12> named_codes{{
    {1000, "normal"},
    {1001, "going away"},
    {1002, "protocol error"},
    {1003, "unsupported data"},
    {1007, "invalid payload"},
    {1008, "policy violation"},
    {1009, "message too big"},
    {1010, "extension missing"},
    {1011, "internal error"},
    {1012, "service restart"},
    {1013, "try again later"},
    {1014, "bad gateway"},
}};

std::string_view close_name(unsigned code) noexcept
{
    auto const found = std::ranges::find(named_codes, code, &named_code::code);
    return found == named_codes.end() ? std::string_view{} : found->name;
}

unsigned value(std::byte b) noexcept
{
    return std::to_integer<unsigned>(b);
}

std::uint64_t big_endian(std::span<std::byte const> bytes) noexcept
{
    std::uint64_t number = 0;
    for (std::byte const each : bytes)
        number = number << 8U | value(each);
    return number;
}

} // namespace

std::size_t write_head(
    std::span<std::byte, frame_head_max> head, opcode kind, std::uint64_t size,
    masking_key key) noexcept
{
    std::size_t const length_bytes = size <= control_max ? 0 : size <= 0xFFFF ? 2 : 8;
    std::uint64_t const first = length_bytes == 0 ? size : length_bytes == 2 ? 126 : 127;
    head[0] = std::byte{0x80} | static_cast<std::byte>(kind);
    head[1] = std::byte{0x80} | static_cast<std::byte>(first);
    for (std::size_t i = 0; i != length_bytes; ++i)
        head[2 + i] = static_cast<std::byte>(size >> (8 * (length_bytes - 1 - i)));
    std::ranges::copy(key, head.begin() + static_cast<std::ptrdiff_t>(2 + length_bytes));
    return 2 + length_bytes + key.size();
}

void mask(std::span<std::byte> bytes, masking_key key, std::uint64_t offset) noexcept
{
    std::array<std::byte, 8> turned{};
    for (std::size_t i = 0; i != turned.size(); ++i)
        turned[i] = key[(offset + i) % key.size()];
    std::uint64_t eight = 0;
    std::memcpy(&eight, turned.data(), sizeof eight);
    std::size_t i = 0;
    for (; i + sizeof eight <= bytes.size(); i += sizeof eight) {
        std::uint64_t block = 0;
        std::memcpy(&block, bytes.data() + i, sizeof block);
        block ^= eight;
        std::memcpy(bytes.data() + i, &block, sizeof block);
    }
    for (; i != bytes.size(); ++i)
        bytes[i] ^= turned[i % turned.size()];
}

std::size_t frame_reader::head_size() const noexcept
{
    if (head_read_ < 2)
        return 2;
    unsigned const length = value(head_[1]) & 0x7FU;
    return length < 126 ? 2 : length == 126 ? 4 : 10;
}

bool frame_reader::is_final() const noexcept
{
    return (value(head_[0]) & 0x80U) != 0;
}

// The number of bytes taken. The head is whole where head_read_ is head_size().
std::size_t frame_reader::take_head(std::span<std::byte const> bytes)
{
    std::size_t taken = 0;
    while (taken != bytes.size() && head_read_ != head_size() && fault_.empty()) {
        head_[head_read_++] = bytes[taken++];
        if (head_read_ == 2)
            check_beginning();
    }
    return taken;
}

void frame_reader::check_beginning()
{
    unsigned const first = value(head_[0]);
    unsigned const kind = first & 0x0FU;
    unsigned const length = value(head_[1]) & 0x7FU;
    frame_ = static_cast<opcode>(kind);
    is_control_ = kind >= 8;
    if ((first & 0x70U) != 0)
        fault_ = "reserved bits";
    else if (kind > 0xAU || (kind > 2 && kind < 8))
        fault_ = fmt::format("unknown opcode {}", kind);
    else if ((value(head_[1]) & 0x80U) != 0)
        fault_ = "masked frame"; // RFC 6455, section 5.1.
    else if (is_control_ && !is_final())
        fault_ = "fragmented control frame";
    else if (is_control_ && length > control_max)
        fault_ = "long control frame";
    else if (!is_control_ && kind == 0 && !in_message_)
        fault_ = "continuation of no message";
    else if (!is_control_ && kind != 0 && in_message_)
        fault_ = "message within a message";
}

// The head is whole.
void frame_reader::begin_frame()
{
    std::size_t const size = head_size();
    left_ = size == 2 ? value(head_[1]) & 0x7FU : big_endian(std::span{head_}.subspan(2, size - 2));
    if ((size == 4 && left_ < 126) || (size == 10 && left_ <= 0xFFFF))
        fault_ = "length in too many bytes";
    else if (size == 10 && (left_ >> 63U) != 0)
        fault_ = "length beyond 63 bits";
    if (!fault_.empty())
        return;
    in_payload_ = true;
    if (is_control_) {
        control_size_ = 0;
        return;
    }
    if (!in_message_) {
        message_ = frame_;
        message_size_ = 0;
    }
    in_message_ = true;
    if (left_ > message_max_ - message_size_)
        fault_ = "oversized message";
    else
        message_size_ += left_;
}

frame_reader::step frame_reader::take(std::span<std::byte const> bytes)
{
    std::size_t taken = 0;
    if (!in_payload_ && fault_.empty()) {
        taken = take_head(bytes);
        if (fault_.empty() && head_read_ != head_size())
            return {event::none, taken, {}};
        if (fault_.empty())
            begin_frame();
    }
    if (!fault_.empty())
        return {event::bad, taken, {}};
    return take_payload(bytes.subspan(taken), taken);
}

frame_reader::step frame_reader::take_payload(std::span<std::byte const> bytes, std::size_t taken)
{
    auto const size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
    left_ -= size;
    step found{event::none, taken + size, {}};
    if (is_control_) {
        std::ranges::copy(bytes.first(size), control_.begin() + control_size_);
        control_size_ = static_cast<std::uint8_t>(control_size_ + size);
    } else {
        found.what = event::part;
        found.payload = bytes.first(size);
    }
    if (left_ != 0)
        return found;
    in_payload_ = false;
    head_read_ = 0;
    if (is_control_) {
        found.what = event::control;
    } else if (is_final()) {
        in_message_ = false;
        found.what = event::message;
    }
    return found;
}

unsigned close_code(std::span<std::byte const> payload) noexcept
{
    return payload.size() < 2 ? no_code : static_cast<unsigned>(big_endian(payload.first(2)));
}

bool is_valid_close(std::span<std::byte const> payload) noexcept
{
    unsigned const code = close_code(payload);
    return payload.empty() ||
           (payload.size() >= 2 && (!close_name(code).empty() || (code >= 3000 && code < 5000)));
}

std::string close_in_words(unsigned code)
{
    if (code == no_code)
        return "closed without a code";
    std::string_view const name = close_name(code);
    return fmt::format("closed with code {}{}{}", code, name.empty() ? "" : ", ", name);
}

} // namespace cleat::bench
