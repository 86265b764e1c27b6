#include "report/folded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <ranges>
#include <stdexcept>
#include <utility>
#include <vector>

#include <zlib.h>

namespace cleat::locks {
namespace {

struct named_measure
{
    measure value;
    std::string_view name;
    std::string_view unit;
};

constexpr std::array measures{
    named_measure{measure::blocked, "blocked", "microseconds"},
    named_measure{measure::waiting, "waiting", "microseconds"},
    named_measure{measure::acquisitions, "acquisitions", "count"},
    named_measure{measure::contended, "contended", "count"},
    named_measure{measure::cpu, "cpu", "samples"},
    named_measure{measure::lock_cpu, "lock-cpu", "samples"},
    named_measure{measure::reference_cpu, "reference-cpu", "samples"}};

// message is a protocol buffer that is being written: fields by number, as varints or as bytes.
class message
{
public:
    void number(unsigned field, std::uint64_t value)
    {
        if (value == 0)
            return; // Its default.
        varint(field << 3);
        varint(value);
    }
    void bytes(unsigned field, std::string_view value)
    {
        varint(field << 3 | 2);
        varint(value.size());
        text_ += value;
    }
    void packed(unsigned field, auto const& values)
    {
        message inside;
        for (std::uint64_t const each : values)
            inside.varint(each);
        bytes(field, inside.text_);
    }
    [[nodiscard]] std::string const& text() const noexcept { return text_; }

private:
    void varint(std::uint64_t value)
    {
        while (value >= 0x80) {
            text_ += static_cast<char>(value | 0x80);
            value >>= 7;
        }
        text_ += static_cast<char>(value);
    }

    std::string text_;
};

// strings is profile.proto's table: its first one is empty.
class strings
{
public:
    std::uint64_t index(std::string_view text)
    {
        auto const [entry, fresh] = known_.try_emplace(std::string{text}, all_.size());
        if (fresh)
            all_.emplace_back(text);
        return entry->second;
    }
    [[nodiscard]] std::vector<std::string> const& all() const noexcept { return all_; }

private:
    std::vector<std::string> all_{""};
    std::map<std::string, std::uint64_t> known_{{"", 0}};
};

std::string zipped(std::string const& plain)
{
    z_stream stream{};
    constexpr int gzip = 15 + 16;
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        throw std::runtime_error{"zlib cannot begin"};
    std::string made(deflateBound(&stream, plain.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
    stream.avail_in = static_cast<uInt>(plain.size());
    stream.next_out = reinterpret_cast<Bytef*>(made.data());
    stream.avail_out = static_cast<uInt>(made.size());
    int const ended = deflate(&stream, Z_FINISH);
    made.resize(stream.total_out);
    deflateEnd(&stream);
    if (ended != Z_STREAM_END)
        throw std::runtime_error{"zlib did not finish"};
    return made;
}

} // namespace

std::optional<measure> measure_named(std::string_view name)
{
    for (named_measure const& each : measures)
        if (each.name == name)
            return each.value;
    return std::nullopt;
}

std::vector<std::string> measure_names()
{
    std::vector<std::string> names;
    for (named_measure const& each : measures)
        names.emplace_back(each.name);
    return names;
}

std::string_view name_of(measure measured) noexcept
{
    return measures[static_cast<std::size_t>(measured)].name;
}

std::uint64_t value_of(weights const& counts, measure measured) noexcept
{
    switch (measured) {
    case measure::blocked:
        return counts.blocked_ns / 1000;
    case measure::waiting:
        return counts.waiting_ns / 1000;
    case measure::acquisitions:
        return counts.acquisitions;
    case measure::contended:
        return counts.contended;
    case measure::cpu:
        return counts.cpu;
    case measure::lock_cpu:
        return counts.cpu_locks;
    case measure::reference_cpu:
        return counts.cpu_references;
    }
    return 0;
}

std::string folded_text(profile const& recorded, measure measured)
{
    std::vector<std::string> lines;
    for (stack const& each : recorded.stacks) {
        std::uint64_t const value = value_of(each.counts, measured);
        if (value == 0)
            continue;
        std::string line;
        for (std::uint32_t const function : each.functions | std::views::reverse) {
            std::string name = recorded.functions[function];
            std::ranges::replace(name, ';', ':'); // ';' separates the functions.
            line += (line.empty() ? "" : ";") + name;
        }
        lines.push_back(fmt::format("{} {}\n", line, value));
    }
    std::ranges::sort(lines);
    std::string text;
    for (std::string const& each : lines)
        text += each;
    return text;
}

std::string pprof_bytes(profile const& recorded)
{
    // Field numbers are profile.proto's.
    strings table;
    message whole;
    for (named_measure const& each : measures) {
        message type;
        type.number(1, table.index(each.name));
        type.number(2, table.index(each.unit));
        whole.bytes(1, type.text());
    }
    for (stack const& each : recorded.stacks) {
        message sample;
        // A location is a function, for the profile has names instead of addresses.
        sample.packed(1, each.functions | std::views::transform([](std::uint32_t f) {
                             return std::uint64_t{f} + 1;
                         }));
        sample.packed(2, measures | std::views::transform([&](named_measure const& m) {
                             return value_of(each.counts, m.value);
                         }));
        whole.bytes(2, sample.text());
    }
    for (std::uint64_t i = 1; i <= recorded.functions.size(); ++i) {
        message line;
        line.number(1, i);
        message location;
        location.number(1, i);
        location.bytes(4, line.text());
        whole.bytes(4, location.text());
    }
    for (std::uint64_t i = 1; i <= recorded.functions.size(); ++i) {
        message function;
        function.number(1, i);
        function.number(2, table.index(recorded.functions[i - 1]));
        function.number(3, table.index(recorded.functions[i - 1]));
        whole.bytes(5, function.text());
    }
    whole.number(
        14, table.index("blocked")); // The default measure. The table of strings comes after it.
    for (std::string const& each : table.all())
        whole.bytes(6, each);
    return zipped(whole.text());
}

} // namespace cleat::locks
