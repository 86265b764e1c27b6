#include "resolver/service_records.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::app::service_records_test {
namespace {

std::string number16(unsigned value)
{
    return {static_cast<char>(value >> 8U), static_cast<char>(value & 0xffU)};
}

std::string number32(std::uint32_t value)
{
    return number16(value >> 16U) + number16(value & 0xffffU);
}

std::string name(std::string_view text)
{
    std::string made;
    while (!text.empty()) {
        std::size_t const size = std::min(text.find('.'), text.size());
        made += static_cast<char>(size);
        made += text.substr(0, size);
        text.remove_prefix(std::min(size + 1, text.size()));
    }
    return made + '\0';
}

std::string record(unsigned type, std::uint32_t ttl, std::string const& data)
{
    return "\xc0\x0c" + number16(type) + number16(1) + number32(ttl) +
           number16(static_cast<unsigned>(data.size())) + data;
}

std::string service(
    std::uint32_t ttl, unsigned priority, unsigned weight, unsigned port, std::string_view host)
{
    return record(33, ttl, number16(priority) + number16(weight) + number16(port) + name(host));
}

// A message whose question is _http._tcp.app.
std::string message(std::vector<std::string> const& answers)
{
    std::string made = number16(7) + number16(0x8180) + number16(1) +
                       number16(static_cast<unsigned>(answers.size())) + number32(0) +
                       name("_http._tcp.app") + number16(33) + number16(1);
    for (std::string const& each : answers)
        made += each;
    return made;
}

std::optional<service_records> read(std::string const& text)
{
    return read_services({reinterpret_cast<unsigned char const*>(text.data()), text.size()});
}

} // namespace

TEST_CASE("records have their facts, and the shortest TTL counts")
{
    auto const found =
        read(message({service(30, 10, 5, 8080, "a.example"), service(20, 20, 0, 81, "b.example")}));
    REQUIRE(found);
    REQUIRE(found->records.size() == 2);
    service_record const& first = found->records.front();
    CHECK(first.priority == 10);
    CHECK(first.weight == 5);
    CHECK(first.port == 8080);
    CHECK(first.host == "a.example");
    CHECK(found->ttl == std::chrono::seconds{20});
}

TEST_CASE("an alias on the way has a TTL, too, and other records do not count")
{
    std::string const a_record = record(1, 1, std::string(4, '\1'));
    auto const found =
        read(message({record(5, 9, name("other.example")), service(30, 1, 1, 80, "a"), a_record}));
    REQUIRE(found);
    CHECK(found->records.size() == 1);
    CHECK(found->ttl == std::chrono::seconds{9});
}

TEST_CASE("a TTL with the highest bit is 0, and no record has none")
{
    CHECK(read(message({service(0x80000000U, 1, 1, 80, "a")}))->ttl == std::chrono::seconds{0});
    CHECK(read(message({}))->records.empty());
    CHECK(read(message({}))->ttl == std::chrono::seconds{0});
}

TEST_CASE("a message that is cut off anywhere is malformed")
{
    std::string const whole = message({service(30, 10, 5, 8080, "a.example")});
    CHECK(read(whole));
    for (std::size_t i = 0; i < whole.size(); ++i) {
        CAPTURE(i);
        CHECK_FALSE(read(whole.substr(0, i)));
    }
}

TEST_CASE("the best ones are those of the lowest priority, and then the heaviest")
{
    std::vector<service_record> const all{
        {20, 9, 80, "c"}, {10, 1, 80, "a"}, {10, 5, 80, "b"}, {0, 0, 0, ""}};
    auto const hosts = [&](std::size_t count) {
        std::string found;
        for (service_record const& each : order_services(all, count))
            found += each.host;
        return found;
    };
    CHECK(hosts(8) == "bac");
    CHECK(hosts(2) == "ba");
}

} // namespace cleat::app::service_records_test
