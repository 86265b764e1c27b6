#include <cleat/core/limits.hpp>
#include <cleat/tls/certificates/compressed_certificates.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cleat::tls::compressed_certificates_test {
namespace {

int calls = 0;

bool copy(std::span<std::byte const> message, std::vector<std::byte>& compressed)
{
    ++calls;
    compressed.assign(message.begin(), message.end());
    return true;
}

bool fail(std::span<std::byte const>, std::vector<std::byte>& compressed)
{
    compressed.resize(1);
    return false;
}

std::string text(std::span<std::byte const> bytes)
{
    return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

} // namespace

TEST_CASE("each message is compressed once for each algorithm")
{
    calls = 0;
    compressed_certificates cache{{{1, copy}, {2, copy}}};
    for (int round = 0; round < 2; ++round)
        for (std::uint16_t const algorithm : {std::uint16_t{1}, std::uint16_t{2}})
            for (char const* const message : {"one", "other"})
                CHECK(text(cache.find(algorithm, message)) == message);
    CHECK(calls == 4);
}

TEST_CASE("the message that was used least recently is dropped")
{
    calls = 0;
    compressed_certificates cache{{{1, copy}}};
    CHECK(text(cache.find(1, "first")) == "first");
    for (std::size_t i = 1; i < limits::compressed_certificates_max; ++i)
        CHECK(!cache.find(1, std::to_string(i)).empty());
    int const all = calls;
    CHECK(text(cache.find(1, "first")) == "first"); // Used again, so "1" goes.
    CHECK(text(cache.find(1, "more")) == "more");
    CHECK(text(cache.find(1, "first")) == "first");
    CHECK(calls == all + 1);
    CHECK(text(cache.find(1, "1")) == "1");
    CHECK(calls == all + 2);
}

TEST_CASE("an algorithm that fails, or is not there, gives nothing")
{
    compressed_certificates cache{{{1, fail}}};
    CHECK(cache.find(1, "message").empty());
    CHECK(cache.find(2, "message").empty());
}

} // namespace cleat::tls::compressed_certificates_test
