#include "wire/bytes.hpp"
#include "wire/rsa_public.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cleat::bench::wire {
namespace {

constexpr std::size_t modulus_max = 1024; // Bytes.

enum der_tag : std::size_t
{
    integer = 0x02,
    bit_string = 0x03,
    object_identifier = 0x06,
    sequence = 0x30,
    explicit_version = 0xa0
};

// The contents of the next element; fails the reader for another tag.
std::string_view element(reader& bytes, std::size_t tag) noexcept
{
    bool const is_it = bytes.number(1) == tag;
    std::size_t size = bytes.number(1);
    constexpr std::size_t long_form = 0x80;
    if (size > long_form && size <= long_form + 3)
        size = bytes.number(static_cast<unsigned>(size - long_form));
    // A size that no buffer has fails the reader.
    return bytes.bytes(is_it && size != long_form ? size : SIZE_MAX);
}

std::string_view without_zeros(std::string_view number) noexcept
{
    number.remove_prefix(std::min(number.find_first_not_of('\0'), number.size()));
    return number;
}

// A number in limbs, the lowest first.
using limbs = std::vector<std::uint32_t>;

limbs limbs_of(std::string_view bytes)
{
    limbs made((bytes.size() + 3) / 4);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        made[i / 4] |= std::uint32_t{static_cast<unsigned char>(bytes[bytes.size() - 1 - i])}
                       << 8 * (i % 4);
    return made;
}

bool less(limbs const& a, limbs const& b) noexcept
{
    return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

void subtract(limbs& from, limbs const& number) noexcept
{
    std::uint64_t borrow = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
        std::uint64_t const difference = std::uint64_t{from[i]} - number[i] - borrow;
        from[i] = static_cast<std::uint32_t>(difference);
        borrow = difference >> 63;
    }
}

// sum + number modulo the modulus. All are smaller than it, and as long, with an empty limb on top.
void add_modulo(limbs& sum, limbs const& number, limbs const& modulus) noexcept
{
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < sum.size(); ++i) {
        carry += std::uint64_t{sum[i]} + number[i];
        sum[i] = static_cast<std::uint32_t>(carry);
        carry >>= 32;
    }
    if (!less(sum, modulus))
        subtract(sum, modulus);
}

// By doubling: slow, and short.
limbs product(limbs const& a, limbs const& b, limbs const& modulus)
{
    limbs made(modulus.size());
    for (std::size_t bit = b.size() * 32; bit-- > 0;) {
        limbs const same = made;
        add_modulo(made, same, modulus);
        if ((b[bit / 32] >> bit % 32 & 1U) != 0)
            add_modulo(made, a, modulus);
    }
    return made;
}

} // namespace

std::optional<rsa_public_key> rsa_key_of(std::string_view certificate)
{
    constexpr std::string_view rsa_encryption{"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01", 9};
    reader file{certificate};
    reader outer{element(file, sequence)};
    reader fields{element(outer, sequence)};
    if (!fields.empty() && static_cast<unsigned char>(fields.rest().front()) == explicit_version)
        static_cast<void>(element(fields, explicit_version));
    static_cast<void>(element(fields, integer));  // The serial number.
    for (int skipped = 0; skipped < 4; ++skipped) // Signature, issuer, validity, subject.
        static_cast<void>(element(fields, sequence));
    reader key_info{element(fields, sequence)};
    reader algorithm{element(key_info, sequence)};
    if (element(algorithm, object_identifier) != rsa_encryption || !algorithm.ok())
        return {};
    reader bits{element(key_info, bit_string)};
    static_cast<void>(bits.number(1)); // No bit is unused.
    reader numbers{element(bits, sequence)};
    std::string_view const modulus = without_zeros(element(numbers, integer));
    std::string_view const exponent = without_zeros(element(numbers, integer));
    if (!numbers.ok() || modulus.empty() || modulus.size() > modulus_max || exponent.empty() ||
        exponent.size() > sizeof(std::uint32_t))
        return {};
    return rsa_public_key{
        std::string{modulus}, static_cast<std::uint32_t>(
                                  reader{exponent}.number(static_cast<unsigned>(exponent.size())))};
}

std::string raw_rsa(rsa_public_key const& key, std::string_view block)
{
    limbs modulus = limbs_of(key.modulus);
    modulus.push_back(0);
    limbs base = limbs_of(block);
    base.resize(modulus.size());
    if (!less(base, modulus))
        base = limbs(modulus.size());
    limbs power = base;
    for (int bit = static_cast<int>(std::bit_width(key.exponent)) - 1; bit-- > 0;) {
        power = product(power, power, modulus);
        if ((key.exponent >> bit & 1U) != 0)
            power = product(power, base, modulus);
    }
    std::string made(key.modulus.size(), '\0');
    for (std::size_t i = 0; i < made.size(); ++i)
        made[made.size() - 1 - i] = static_cast<char>(power[i / 4] >> 8 * (i % 4));
    return made;
}

} // namespace cleat::bench::wire
