#include <cleat/core/limits.hpp>
#include <cleat/tls/backend.hpp>
#include <cleat/tls/fingerprint/ja4.hpp>
#include <cleat/tls/hello/message_reader.hpp>

#include <algorithm>
#include <optional>

namespace cleat::tls {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

// Numbers without GREASE, in their order.
class number_list
{
public:
    // False: there are too many.
    [[nodiscard]] bool add(std::uint16_t value) noexcept
    {
        if (is_grease(value))
            return true;
        if (size_ == values_.size())
            return false;
        values_[size_++] = value;
        return true;
    }

    [[nodiscard]] bool add_all(octets numbers) noexcept
    {
        message_reader reader{numbers};
        while (!reader.is_empty() && reader.is_whole())
            if (!add(static_cast<std::uint16_t>(reader.number(2))))
                return false;
        return reader.is_whole();
    }

    void sort() noexcept { std::sort(values_.begin(), values_.begin() + size_); }

    [[nodiscard]] std::span<std::uint16_t const> values() const noexcept
    {
        return std::span{values_}.first(size_);
    }

private:
    std::array<std::uint16_t, limits::fingerprint_values_max> values_; // NOLINT: the first size_
    std::size_t size_ = 0;
};

// The facts of a ClientHello that make the fingerprint.
struct fingerprint_facts
{
    std::size_t version = 0;
    bool has_name = false;
    octets alpn; // The first protocol.
    number_list suites;
    number_list extensions;   // Without SNI and ALPN,
    std::size_t left_out = 0; // which are so many.
    number_list schemes;
};

constexpr std::size_t alpn_extension = 16;

// The highest, which is not GREASE; 0: none.
std::size_t highest_version(octets body) noexcept
{
    number_list versions;
    message_reader reader{body};
    if (!versions.add_all(reader.vector(1)) || versions.values().empty())
        return 0;
    return std::ranges::max(versions.values());
}

// False: malformed, or too much.
bool read_extension(std::size_t number, octets body, fingerprint_facts& facts) noexcept
{
    message_reader reader{body};
    switch (number) {
    case static_cast<std::size_t>(extension::server_name):
        facts.has_name = true;
        ++facts.left_out;
        return true;
    case alpn_extension: {
        message_reader protocols{reader.vector(2)};
        facts.alpn = protocols.vector(1);
        ++facts.left_out;
        return true;
    }
    case static_cast<std::size_t>(extension::supported_versions):
        facts.version = highest_version(body);
        break;
    case static_cast<std::size_t>(extension::signature_algorithms):
        if (!facts.schemes.add_all(reader.vector(2)))
            return false;
        break;
    default:
        break;
    }
    return facts.extensions.add(static_cast<std::uint16_t>(number));
}

bool read_hello(octets message, fingerprint_facts& facts) noexcept
{
    hello_parts const parts = hello_parts_of(message);
    facts.version = parts.version;
    return facts.suites.add_all(parts.cipher_suites) && parts.is_whole &&
           for_each_extension(parts.extensions, [&](std::size_t number, octets body) {
               return read_extension(number, body, facts);
           });
}

std::string_view version_name(std::size_t version) noexcept
{
    switch (version) {
    case 0x0304:
        return "13";
    case 0x0303:
        return "12";
    case 0x0302:
        return "11";
    case 0x0301:
        return "10";
    case 0x0300:
        return "s3";
    case 0x0002:
        return "s2";
    default:
        return "00";
    }
}

bool is_alphanumeric(std::uint8_t c) noexcept
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

std::array<char, 2> protocol_name(octets alpn) noexcept
{
    if (alpn.empty())
        return {'0', '0'};
    if (is_alphanumeric(alpn.front()) && is_alphanumeric(alpn.back()))
        return {static_cast<char>(alpn.front()), static_cast<char>(alpn.back())};
    return {hex_digits[alpn.front() >> 4U], hex_digits[alpn.back() & 0xfU]};
}

// Collects text that is to be hashed.
class hashed_text
{
public:
    void add(std::string_view text) noexcept
    {
        size_ += text.copy(text_.data() + size_, text_.size() - size_);
    }

    // Each with four digits, and commas between them.
    void add(number_list const& numbers) noexcept
    {
        std::string_view separator = "";
        for (std::uint16_t const each : numbers.values()) {
            std::array<char, 4> const digits{
                hex_digits[each >> 12U], hex_digits[each >> 8U & 0xfU],
                hex_digits[each >> 4U & 0xfU], hex_digits[each & 0xfU]};
            add(separator);
            add({digits.data(), digits.size()});
            separator = ",";
        }
    }

    [[nodiscard]] octets bytes() const noexcept
    {
        return {reinterpret_cast<std::uint8_t const*>(text_.data()), size_};
    }

private:
    static constexpr std::size_t size_max = 2 * 5 * limits::fingerprint_values_max;
    std::array<char, size_max> text_; // NOLINT: the first size_
    std::size_t size_ = 0;
};

class fingerprint_writer
{
public:
    void add(std::string_view text) noexcept
    {
        made_.size = static_cast<std::uint8_t>(
            made_.size +
            text.copy(made_.bytes.data() + made_.size, made_.bytes.size() - made_.size));
    }

    void add_count(std::size_t count) noexcept
    {
        count = std::min<std::size_t>(count, 99);
        std::array<char, 2> const digits{
            static_cast<char>('0' + count / 10), static_cast<char>('0' + count % 10)};
        add({digits.data(), digits.size()});
    }

    // The first twelve digits of the hash.
    void add_hash(hashed_text const& text) noexcept
    {
        std::array<std::uint8_t, 32> digest{};
        backend::sha256(text.bytes(), digest);
        for (std::size_t i = 0; i != 6; ++i) {
            std::array<char, 2> const digits{
                hex_digits[digest[i] >> 4U], hex_digits[digest[i] & 0xfU]};
            add({digits.data(), digits.size()});
        }
    }

    [[nodiscard]] ja4_fingerprint const& made() const noexcept { return made_; }

private:
    ja4_fingerprint made_;
};

} // namespace

ja4_fingerprint ja4_of(octets client_hello) noexcept
{
    constexpr std::string_view nothing = "000000000000";
    fingerprint_facts facts;
    if (!read_hello(client_hello, facts))
        return {};
    facts.suites.sort();
    facts.extensions.sort();
    fingerprint_writer out;
    out.add("t");
    out.add(version_name(facts.version));
    out.add(facts.has_name ? "d" : "i");
    out.add_count(facts.suites.values().size());
    out.add_count(facts.extensions.values().size() + facts.left_out);
    std::array<char, 2> const protocol = protocol_name(facts.alpn);
    out.add({protocol.data(), protocol.size()});
    out.add("_");
    hashed_text suites;
    suites.add(facts.suites);
    if (facts.suites.values().empty())
        out.add(nothing);
    else
        out.add_hash(suites);
    out.add("_");
    hashed_text extensions;
    extensions.add(facts.extensions);
    if (!facts.schemes.values().empty()) {
        extensions.add("_");
        extensions.add(facts.schemes);
    }
    if (facts.extensions.values().empty())
        out.add(nothing);
    else
        out.add_hash(extensions);
    return out.made();
}

} // namespace cleat::tls
