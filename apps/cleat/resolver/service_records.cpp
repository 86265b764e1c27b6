#include "resolver/service_records.hpp"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include <ares.h>

namespace cleat::app {
namespace {

constexpr unsigned type_cname = 5;
constexpr unsigned type_srv = 33;
constexpr std::size_t header_size = 12;
constexpr std::uint32_t ttl_max = 0x7fffffff; // RFC 2181, section 8.

// Reads a message from its begin on. After a fault it reads zeros.
class message_reader
{
public:
    explicit message_reader(std::span<unsigned char const> message) noexcept : message_{message} {}

    [[nodiscard]] bool is_good() const noexcept { return is_good_; }
    [[nodiscard]] std::size_t position() const noexcept { return position_; }

    void skip(std::size_t count) noexcept { move_to(position_ + count); }

    void move_to(std::size_t position) noexcept
    {
        is_good_ = is_good_ && position <= message_.size();
        position_ = is_good_ ? position : message_.size();
    }

    unsigned number16() noexcept
    {
        if (!is_good_ || message_.size() - position_ < 2) {
            is_good_ = false;
            return 0;
        }
        unsigned const value = (unsigned{message_[position_]} << 8U) | message_[position_ + 1];
        position_ += 2;
        return value;
    }

    std::uint32_t number32() noexcept
    {
        std::uint32_t const high = number16();
        return (high << 16U) | number16();
    }

    std::string name()
    {
        char* text = nullptr;
        long length = 0;
        if (!is_good_ || position_ >= message_.size() ||
            ::ares_expand_name(
                message_.data() + position_, message_.data(), static_cast<int>(message_.size()),
                &text, &length) != ARES_SUCCESS) {
            is_good_ = false;
            return {};
        }
        std::unique_ptr<char, void (*)(void*)> const owner{text, ::ares_free_string};
        skip(static_cast<std::size_t>(length));
        return text;
    }

private:
    std::span<unsigned char const> message_;
    std::size_t position_ = 0;
    bool is_good_ = true;
};

} // namespace

std::optional<service_records> read_services(std::span<unsigned char const> message)
{
    if (message.size() < header_size)
        return {};
    message_reader reader{message};
    reader.skip(4);
    unsigned const questions = reader.number16();
    unsigned const answers = reader.number16();
    reader.move_to(header_size);
    for (unsigned i = 0; i < questions && reader.is_good(); ++i) {
        static_cast<void>(reader.name());
        reader.skip(4);
    }
    service_records found;
    std::uint32_t ttl = ttl_max;
    for (unsigned i = 0; i < answers && reader.is_good(); ++i) {
        static_cast<void>(reader.name());
        unsigned const type = reader.number16();
        reader.skip(2);
        std::uint32_t const own_ttl = reader.number32();
        std::size_t const size = reader.number16();
        std::size_t const end = reader.position() + size;
        if (type == type_srv || type == type_cname)
            ttl = std::min(ttl, own_ttl > ttl_max ? 0 : own_ttl);
        if (type == type_srv) {
            service_record record;
            record.priority = reader.number16();
            record.weight = reader.number16();
            record.port = static_cast<std::uint16_t>(reader.number16());
            record.host = reader.name();
            found.records.push_back(std::move(record));
        }
        reader.move_to(end);
    }
    if (!reader.is_good())
        return {};
    found.ttl = std::chrono::seconds{found.records.empty() ? 0 : ttl};
    return found;
}

std::vector<service_record> order_services(std::vector<service_record> all, std::size_t count)
{
    std::erase_if(all, [](service_record const& each) { return each.host.empty(); });
    std::ranges::sort(all, {}, [](service_record const& each) {
        return std::tuple{each.priority, ~each.weight, each.host, each.port};
    });
    all.resize(std::min(all.size(), count));
    return all;
}

} // namespace cleat::app
