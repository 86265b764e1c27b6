// message_reader: the numbers and vectors of a handshake message, one after the other (RFC 8446,
// section 3). Not a public header.

#pragma once

#include <cleat/tls/certificates/client_hello.hpp>

#include <cstddef>
#include <cstdint>

namespace cleat::tls {

/// message_reader reads a message from its beginning. After the first length that is too long
/// nothing more is read.
class message_reader
{
public:
    explicit message_reader(octets message) noexcept : left_{message} {}

    [[nodiscard]] octets take(std::size_t size) noexcept
    {
        is_whole_ = is_whole_ && size <= left_.size();
        octets const taken = left_.first(is_whole_ ? size : 0);
        left_ = left_.subspan(taken.size());
        return taken;
    }

    /// number is one of so many bytes; 0 where there are not so many.
    [[nodiscard]] std::size_t number(std::size_t size) noexcept
    {
        std::size_t value = 0;
        for (std::uint8_t const each : take(size))
            value = value << 8U | each;
        return value;
    }

    /// vector is the bytes that follow a length of so many bytes.
    [[nodiscard]] octets vector(std::size_t length_size) noexcept
    {
        return take(number(length_size));
    }

    [[nodiscard]] bool is_empty() const noexcept { return left_.empty(); }
    [[nodiscard]] bool is_whole() const noexcept { return is_whole_; }

private:
    octets left_;
    bool is_whole_ = true;
};

/// is_grease: a number of two bytes is one that a client offers so that servers learn to ignore
/// what they do not know (RFC 8701): both bytes are the same, and end with A.
[[nodiscard]] constexpr bool is_grease(std::size_t number) noexcept
{
    return (number & 0x0f0fU) == 0x0a0aU && number >> 8U == (number & 0xffU);
}

/// hello_parts are parts of a ClientHello (RFC 8446, section 4.1.2).
struct hello_parts
{
    std::size_t version = 0; ///< legacy_version.
    octets session;          ///< legacy_session_id.
    octets cipher_suites;
    octets extensions; ///< Without the length before them.
    bool is_whole = false;
};

/// hello_parts_of a ClientHello without the four bytes of the handshake message's header.
[[nodiscard]] inline hello_parts hello_parts_of(octets client_hello) noexcept
{
    message_reader reader{client_hello};
    hello_parts parts;
    parts.version = reader.number(2);
    static_cast<void>(reader.take(32)); // Random.
    parts.session = reader.vector(1);
    parts.cipher_suites = reader.vector(2);
    static_cast<void>(reader.vector(1)); // Compression.
    if (reader.is_whole() && !reader.is_empty())
        parts.extensions = reader.vector(2);
    parts.is_whole = reader.is_whole();
    return parts;
}

/// for_each_extension calls use(number, body) for each, until it returns false. False: it did, or
/// an extension is not whole.
template <class Use>
[[nodiscard]] bool for_each_extension(octets extensions, Use use) noexcept
{
    message_reader reader{extensions};
    while (!reader.is_empty()) {
        std::size_t const number = reader.number(2);
        octets const body = reader.vector(2);
        if (!reader.is_whole() || !use(number, body))
            return false;
    }
    return true;
}

} // namespace cleat::tls
