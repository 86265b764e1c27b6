#include "limits/sip_hash.hpp"

#include <bit>
#include <cerrno>
#include <cstddef>
#include <system_error>

#include <sys/random.h>

namespace cleat::app {
namespace {

struct sip_state
{
    std::uint64_t a;
    std::uint64_t b;
    std::uint64_t c;
    std::uint64_t d;

    void mix() noexcept
    {
        a += b;
        b = std::rotl(b, 13) ^ a;
        a = std::rotl(a, 32);
        c += d;
        d = std::rotl(d, 16) ^ c;
        a += d;
        d = std::rotl(d, 21) ^ a;
        c += b;
        b = std::rotl(b, 17) ^ c;
        c = std::rotl(c, 32);
    }

    void add(std::uint64_t word) noexcept
    {
        d ^= word;
        mix();
        mix();
        a ^= word;
    }
};

// Little-endian, on any machine.
std::uint64_t word_of(std::array<std::uint8_t, 16> const& bytes, std::size_t begin) noexcept
{
    std::uint64_t word = 0;
    for (std::size_t i = 8; i-- > 0;)
        word = word << 8 | bytes[begin + i];
    return word;
}

} // namespace

sip_key new_sip_key()
{
    sip_key made;
    // So few bytes come whole (getrandom(2)).
    if (::getrandom(&made, sizeof made, 0) != ssize_t{sizeof made})
        throw std::system_error{errno, std::system_category(), "getrandom"};
    return made;
}

std::uint64_t sip_hash(sip_key const& key, std::array<std::uint8_t, 16> const& bytes) noexcept
{
    sip_state state{
        key.first ^ 0x736f6d6570736575, key.second ^ 0x646f72616e646f6d,
        key.first ^ 0x6c7967656e657261, key.second ^ 0x7465646279746573};
    state.add(word_of(bytes, 0));
    state.add(word_of(bytes, 8));
    state.add(std::uint64_t{16} << 56); // The length ends the message.
    state.c ^= 0xff;
    for (int i = 0; i < 4; ++i)
        state.mix();
    return state.a ^ state.b ^ state.c ^ state.d;
}

} // namespace cleat::app
