// records: numbers and texts in a file that only this machine reads: numbers are in its byte order.
// Not a public header.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace cleat::tls {

/// record_writer appends numbers and texts.
class record_writer
{
public:
    template <class Number>
    void number(Number value)
    {
        static_assert(std::is_trivially_copyable_v<Number>);
        bytes_.append(reinterpret_cast<char const*>(&value), sizeof value);
    }
    void text(std::string_view value)
    {
        number(static_cast<std::uint32_t>(value.size()));
        bytes_.append(value);
    }
    [[nodiscard]] std::string const& bytes() const noexcept { return bytes_; }

private:
    std::string bytes_;
};

/// record_reader reads numbers and texts of record_writer, from a position on; `good` is false once
/// bytes were missing.
class record_reader
{
public:
    record_reader(std::string_view bytes, std::size_t place) noexcept : bytes_{bytes}, place_{place}
    {
    }

    template <class Number>
    Number number() noexcept
    {
        Number value{};
        std::string_view const raw = take(sizeof value);
        if (!raw.empty())
            std::memcpy(&value, raw.data(), sizeof value);
        return value;
    }
    std::string_view text() noexcept { return take(number<std::uint32_t>()); }

    [[nodiscard]] bool good() const noexcept { return good_; }
    [[nodiscard]] std::size_t place() const noexcept { return place_; }

private:
    std::string_view take(std::size_t size) noexcept
    {
        good_ = good_ && size <= bytes_.size() - place_;
        if (!good_)
            return {};
        std::string_view const taken = bytes_.substr(place_, size);
        place_ += size;
        return taken;
    }

    std::string_view bytes_;
    std::size_t place_;
    bool good_ = true;
};

} // namespace cleat::tls
