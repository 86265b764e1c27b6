#include "report/folded.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <zlib.h>

namespace cleat::locks::folded_test {

namespace {

profile small()
{
    profile made;
    made.functions = {"pthread_mutex_lock", "a;b()", "main"};
    made.stacks = {
        {{0, 1, 2}, {.blocked_ns = 5'000'000, .acquisitions = 300, .contended = 2}},
        {{1, 2}, {.cpu = 7}}};
    return made;
}

std::string unzipped(std::string const& from)
{
    z_stream stream{};
    REQUIRE(inflateInit2(&stream, 15 + 16) == Z_OK);
    std::string made(1 << 16, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from.data()));
    stream.avail_in = static_cast<uInt>(from.size());
    stream.next_out = reinterpret_cast<Bytef*>(made.data());
    stream.avail_out = static_cast<uInt>(made.size());
    REQUIRE(inflate(&stream, Z_FINISH) == Z_STREAM_END);
    made.resize(stream.total_out);
    inflateEnd(&stream);
    return made;
}

std::uint64_t varint(std::string_view& from)
{
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        REQUIRE(!from.empty());
        auto const byte = static_cast<unsigned char>(from.front());
        from.remove_prefix(1);
        value |= std::uint64_t{byte & 0x7fu} << shift;
        if (byte < 0x80)
            return value;
    }
}

// decoded reads a message: by field, what stands there; a number has its value, bytes their text.
struct field
{
    std::uint64_t number = 0;
    std::string bytes;
};

std::multimap<unsigned, field> decoded(std::string_view from)
{
    std::multimap<unsigned, field> found;
    while (!from.empty()) {
        std::uint64_t const tag = varint(from);
        field one;
        one.number = varint(from);
        if ((tag & 7) == 2) {
            REQUIRE(one.number <= from.size());
            one.bytes = from.substr(0, one.number);
            from.remove_prefix(one.number);
        }
        found.emplace(static_cast<unsigned>(tag >> 3), one);
    }
    return found;
}

std::vector<std::uint64_t> packed(std::string_view from)
{
    std::vector<std::uint64_t> found;
    while (!from.empty())
        found.push_back(varint(from));
    return found;
}

std::vector<std::string> all(std::multimap<unsigned, field> const& message, unsigned number)
{
    std::vector<std::string> found;
    for (auto [entry, end] = message.equal_range(number); entry != end; ++entry)
        found.push_back(entry->second.bytes);
    return found;
}

} // namespace

TEST_CASE("a folded stack begins with the outermost, and a semicolon separates functions only")
{
    CHECK(folded_text(small(), measure::blocked) == "main;a:b();pthread_mutex_lock 5000\n");
    CHECK(folded_text(small(), measure::cpu) == "main;a:b() 7\n");
    CHECK(folded_text(small(), measure::waiting).empty());
}

TEST_CASE("a measure is found by the name that it has")
{
    for (measure const each :
         {measure::blocked, measure::waiting, measure::acquisitions, measure::contended,
          measure::cpu, measure::lock_cpu, measure::reference_cpu})
        CHECK(measure_named(name_of(each)) == each);
    CHECK(!measure_named("luck"));
    CHECK(!measure_named(""));
}

TEST_CASE("pprof gets every stack with all its measures, and names by number")
{
    auto const whole = decoded(unzipped(pprof_bytes(small())));
    std::vector<std::string> const strings = all(whole, 6);
    REQUIRE(!strings.empty());
    CHECK(strings.front().empty()); // The format requires it.

    std::vector<std::string> types;
    for (std::string const& each : all(whole, 1)) {
        auto const type = decoded(each);
        types.push_back(
            strings.at(type.find(1)->second.number) + "/" +
            strings.at(type.find(2)->second.number));
    }
    CHECK(types.front() == "blocked/microseconds");
    CHECK(types.size() == 7);
    CHECK(strings.at(whole.find(14)->second.number) == "blocked");

    std::vector<std::string> const samples = all(whole, 2);
    REQUIRE(samples.size() == 2);
    auto const first = decoded(samples[0]);
    CHECK(packed(first.find(1)->second.bytes) == std::vector<std::uint64_t>{1, 2, 3});
    CHECK(
        packed(first.find(2)->second.bytes) ==
        std::vector<std::uint64_t>{5000, 0, 300, 2, 0, 0, 0});

    // Location 1 is on function 1, whose name is in the table.
    auto const location = decoded(all(whole, 4).at(0));
    CHECK(location.find(1)->second.number == 1);
    auto const line = decoded(location.find(4)->second.bytes);
    auto const function = decoded(all(whole, 5).at(0));
    CHECK(line.find(1)->second.number == function.find(1)->second.number);
    CHECK(strings.at(function.find(2)->second.number) == "pthread_mutex_lock");
}

} // namespace cleat::locks::folded_test
