// The format: github.com/HdrHistogram/HdrHistogram, "V2 encoding". Big-endian header of 40 bytes,
// then each count as a zig-zag LEB128 number (at most 9 bytes); a negative number is a run of so
// many empty buckets. Around it a cookie, a length, and DEFLATE. Index i of HdrHistogram's array is
// index i of histogram, because both begin with one bucket for each of the values below
// 2^(half_bits + 1).

#include "result/histogram_log.hpp"

#include <boost/beast/core/detail/base64.hpp>

#include <bit>
#include <cstring>
#include <optional>
#include <vector>

#include <zlib.h>

namespace cleat::bench {
namespace {

constexpr std::uint32_t plain_cookie = 0x1c849303 | 0x10;
constexpr std::uint32_t compressed_cookie = 0x1c849304 | 0x10;
constexpr std::size_t header_size = 40;
constexpr std::size_t payload_max = std::size_t{64} << 20;

namespace base64 = boost::beast::detail::base64;

void put(std::string& bytes, std::uint64_t value, int size)
{
    for (int shift = 8 * (size - 1); shift >= 0; shift -= 8)
        bytes.push_back(static_cast<char>(value >> shift));
}

std::uint64_t get(std::string_view bytes, std::size_t offset, int size)
{
    std::uint64_t value = 0;
    for (int i = 0; i != size; ++i)
        value =
            value << 8 | static_cast<unsigned char>(bytes[offset + static_cast<std::size_t>(i)]);
    return value;
}

void write_number(std::string& bytes, std::int64_t number)
{
    std::uint64_t value =
        static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63);
    for (int i = 0; i != 8 && value >= 0x80; ++i) {
        bytes.push_back(static_cast<char>(value | 0x80));
        value >>= 7;
    }
    bytes.push_back(static_cast<char>(value)); // The ninth byte has all of its bits.
}

std::optional<std::int64_t> number_from(std::string_view& bytes)
{
    std::uint64_t value = 0;
    for (int i = 0; i != 9 && !bytes.empty(); ++i) {
        auto const byte = static_cast<unsigned char>(bytes.front());
        bytes.remove_prefix(1);
        bool const last = i == 8 || byte < 0x80;
        value |= std::uint64_t{i == 8 ? byte : byte & 0x7fU} << (7 * i);
        if (last)
            return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
    }
    return std::nullopt;
}

std::optional<std::string> inflated(std::string_view packed)
{
    z_stream stream{};
    if (::inflateInit(&stream) != Z_OK)
        return std::nullopt;
    std::string out;
    std::vector<unsigned char> block(64 * 1024);
    stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<unsigned>(packed.size());
    int status = Z_OK;
    while (status == Z_OK && out.size() < payload_max) {
        stream.next_out = block.data();
        stream.avail_out = static_cast<unsigned>(block.size());
        status = ::inflate(&stream, Z_NO_FLUSH);
        out.append(reinterpret_cast<char*>(block.data()), block.size() - stream.avail_out);
    }
    ::inflateEnd(&stream);
    if (status != Z_STREAM_END)
        return std::nullopt;
    return out;
}

} // namespace

std::string to_log(histogram const& source)
{
    std::string counts;
    std::size_t next = 0;
    source.for_each_bucket([&](histogram::bucket const& b) {
        if (b.index != next)
            write_number(counts, -static_cast<std::int64_t>(b.index - next));
        write_number(counts, static_cast<std::int64_t>(b.count));
        next = b.index + 1;
    });

    std::string plain;
    put(plain, plain_cookie, 4);
    put(plain, counts.size(), 4);
    put(plain, 0, 4); // Normalizing offset.
    put(plain, static_cast<std::uint64_t>(source.digits()), 4);
    put(plain, 1, 8); // The lowest value that is not counted as zero.
    put(plain, source.value_max(), 8);
    put(plain, std::bit_cast<std::uint64_t>(1.0), 8); // Conversion ratio.
    plain += counts;

    uLongf size = ::compressBound(static_cast<uLong>(plain.size()));
    std::string packed(size, '\0');
    ::compress(
        reinterpret_cast<Bytef*>(packed.data()), &size,
        reinterpret_cast<Bytef const*>(plain.data()), static_cast<uLong>(plain.size()));
    packed.resize(size);

    std::string framed;
    put(framed, compressed_cookie, 4);
    put(framed, packed.size(), 4);
    framed += packed;

    std::string text(base64::encoded_size(framed.size()), '\0');
    text.resize(base64::encode(text.data(), framed.data(), framed.size()));
    return text;
}

bool add_log(std::string_view text, histogram& sum)
{
    std::string framed(base64::decoded_size(text.size()), '\0');
    auto const [size, read] = base64::decode(framed.data(), text.data(), text.size());
    framed.resize(size);
    bool const padded = text.find_first_not_of('=', read) == std::string_view::npos;
    if (!padded || framed.size() < 8 || get(framed, 0, 4) != compressed_cookie ||
        get(framed, 4, 4) != framed.size() - 8)
        return false;
    std::optional<std::string> const plain = inflated(std::string_view{framed}.substr(8));
    if (!plain || plain->size() < header_size || get(*plain, 0, 4) != plain_cookie ||
        get(*plain, 4, 4) != plain->size() - header_size ||
        get(*plain, 12, 4) != static_cast<std::uint64_t>(sum.digits()))
        return false;

    histogram found{sum.value_max(), sum.digits()};
    std::string_view counts{*plain};
    counts.remove_prefix(header_size);
    std::uint64_t index = 0;
    while (!counts.empty()) {
        std::optional<std::int64_t> const number = number_from(counts);
        if (!number)
            return false;
        if (*number < 0) {
            index += std::uint64_t{0} - static_cast<std::uint64_t>(*number);
            continue;
        }
        if (*number > 0 && index >= found.buckets())
            return false;
        if (*number > 0)
            found.record(found.bucket_at(index).lowest, static_cast<std::uint64_t>(*number));
        ++index;
    }
    sum.merge(found);
    return true;
}

} // namespace cleat::bench
