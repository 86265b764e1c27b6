#include <cleat/tls/gather.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace cleat::tls::gather_test {
namespace {

constexpr std::size_t record = limits::plaintext_record_max;

// Pieces of the given sizes, whose bytes count up across their borders.
struct split_buffer
{
    explicit split_buffer(std::vector<std::size_t> const& sizes)
    {
        all.resize(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}));
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i] = static_cast<std::byte>((i * 7 + i / 256) & 0xff);
        std::size_t offset = 0;
        for (std::size_t const size : sizes) {
            pieces.push_back(std::span{all}.subspan(offset, size));
            offset += size;
        }
    }

    std::vector<std::byte> all;
    std::vector<std::span<std::byte const>> pieces;
};

struct walked
{
    std::vector<std::size_t> records;
    std::vector<std::byte> bytes;
};

walked walk(std::span<std::span<std::byte const> const> pieces, std::size_t pop_max = record)
{
    walked seen;
    gather g{pieces};
    while (!g.empty()) {
        std::span<std::byte const> const front = g.front();
        REQUIRE(!front.empty());
        REQUIRE(front.size() <= record);
        std::size_t const n = std::min(front.size(), pop_max);
        seen.records.push_back(n);
        seen.bytes.insert(
            seen.bytes.end(), front.begin(), front.begin() + static_cast<std::ptrdiff_t>(n));
        g.pop(n);
    }
    CHECK(g.front().empty());
    return seen;
}

TEST_CASE("many small pieces are one record")
{
    split_buffer const c{std::vector<std::size_t>(20, 50)};
    walked const w = walk(c.pieces);
    CHECK(w.records == std::vector<std::size_t>{1000});
    CHECK(w.bytes == c.all);
}

TEST_CASE("every record but the last is full, wherever the pieces' borders are")
{
    for (std::vector<std::size_t> const& sizes : std::vector<std::vector<std::size_t>>{
             {record},
             {record - 1, 1},
             {record - 1, 2},
             {1, record},
             {record, record},
             {record + 1},
             {3 * record},
             {100, 3 * record, 100},
             {5000, 5000, 5000, 5000},
             {1, 1, record, 1}}) {
        split_buffer const c{sizes};
        walked const w = walk(c.pieces);
        CHECK(w.bytes == c.all);
        CHECK(w.records.size() == (c.all.size() + record - 1) / record);
        for (std::size_t i = 0; i + 1 < w.records.size(); ++i)
            CHECK(w.records[i] == record);
    }
}

TEST_CASE("a record that lies in one piece is not copied")
{
    split_buffer const c{{2 * record + 10}};
    gather g{c.pieces};
    CHECK(g.front().data() == c.all.data());
    g.pop(record);
    CHECK(g.front().data() == c.all.data() + record);
    g.pop(record);
    CHECK(g.front().data() == c.all.data() + 2 * record);
}

TEST_CASE("empty pieces are as if they were not there")
{
    split_buffer const c{{0, 0, 3, 0, record, 0, 0}};
    CHECK(walk(c.pieces).bytes == c.all);
    split_buffer const nothing{{0, 0}};
    CHECK(gather{nothing.pieces}.empty());
    CHECK(gather{{}}.empty());
    CHECK(gather{{}}.front().empty());
}

TEST_CASE("a pop of any size goes on at the right byte")
{
    split_buffer const c{{10, 0, 300, record, 7, 1}};
    for (std::size_t const most :
         {std::size_t{1}, std::size_t{9}, std::size_t{10}, std::size_t{11}, record - 1})
        CHECK(walk(c.pieces, most).bytes == c.all);
}

} // namespace
} // namespace cleat::tls::gather_test
