#include "certificates/compressors.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <brotli/decode.h>
#include <zlib.h>

namespace cleat::app::compressors_test {
namespace {

std::string const message = std::string(3000, 'c') + "a certificate";

std::vector<std::byte> compressed_by(compression algorithm)
{
    std::vector<std::byte> compressed;
    REQUIRE(compressor_of(algorithm).compress(std::as_bytes(std::span{message}), compressed));
    return compressed;
}

} // namespace

TEST_CASE("brotli's result is smaller, and brotli decompresses it")
{
    std::vector<std::byte> const compressed = compressed_by(compression::brotli);
    CHECK(compressor_of(compression::brotli).algorithm == 2);
    CHECK(compressed.size() < 100);
    std::string text(message.size(), '\0');
    std::size_t size = text.size();
    CHECK(
        BrotliDecoderDecompress(
            compressed.size(), reinterpret_cast<std::uint8_t const*>(compressed.data()), &size,
            reinterpret_cast<std::uint8_t*>(text.data())) == BROTLI_DECODER_RESULT_SUCCESS);
    CHECK(size == message.size());
    CHECK(text == message);
}

TEST_CASE("zlib's result is smaller, and zlib decompresses it")
{
    std::vector<std::byte> const compressed = compressed_by(compression::zlib);
    CHECK(compressor_of(compression::zlib).algorithm == 1);
    CHECK(compressed.size() < 100);
    std::string text(message.size(), '\0');
    uLongf size = text.size();
    CHECK(
        uncompress(
            reinterpret_cast<Bytef*>(text.data()), &size,
            reinterpret_cast<Bytef const*>(compressed.data()),
            static_cast<uLong>(compressed.size())) == Z_OK);
    CHECK(text == message);
}

} // namespace cleat::app::compressors_test
