#include "report/utf8.hpp"

#include <array>
#include <cstddef>

namespace cleat::locks {

std::string in_utf8(std::string_view bytes)
{
    constexpr std::array<unsigned char, 4> beginnings{0x00, 0xc0, 0xe0, 0xf0};
    constexpr std::array<unsigned char, 4> masks{0x80, 0xe0, 0xf0, 0xf8};
    constexpr std::array<char32_t, 4> least{0, 0x80, 0x800, 0x1'0000};
    std::string made;
    while (!bytes.empty()) {
        auto const first = static_cast<unsigned char>(bytes.front());
        std::size_t size = 0;
        while (size < 4 && (first & masks[size]) != beginnings[size])
            ++size;
        bool good = size < 4 && bytes.size() > size;
        char32_t character = good ? first & static_cast<unsigned char>(~masks[size]) : 0;
        for (std::size_t i = 1; good && i <= size; ++i) {
            auto const next = static_cast<unsigned char>(bytes[i]);
            good = (next & 0xc0) == 0x80;
            character = character << 6 | (next & 0x3f);
        }
        good = good && character >= least[size] && character <= 0x10'ffff &&
               (character < 0xd800 || character > 0xdfff);
        made.append(good ? bytes.substr(0, size + 1) : std::string_view{"\xef\xbf\xbd"});
        bytes.remove_prefix(good ? size + 1 : 1);
    }
    return made;
}

} // namespace cleat::locks
