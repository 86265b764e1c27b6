#include "hosts/progress_json.hpp"
#include "result/result_json.hpp"
#include "text/checked_json.hpp"

#include <stdexcept>

namespace cleat::bench {

std::string to_line(progress const& now)
{
    return json::serialize(json::object{
        {"since_begin_ns", now.since_begin.count()},
        {"attempts", now.attempts},
        {"ok", now.ok},
        {"failures", in_json(now.failures)},
        {"in_flight", now.in_flight},
        {"response", in_json(now.response)},
        {"slip", in_json(now.slip)},
        {"cpu_ns", now.cpu.count()}});
}

progress progress_from(std::string_view line)
try {
    json::value const document = json::parse(line);
    auto const number = [&](std::string_view key) {
        return checked::member(document, key).to_number<std::uint64_t>();
    };
    progress found;
    found.since_begin = std::chrono::nanoseconds{
        checked::member(document, "since_begin_ns").to_number<std::int64_t>()};
    found.attempts = number("attempts");
    found.ok = number("ok");
    found.failures = failures_from(checked::list(document, "failures"));
    found.in_flight = number("in_flight");
    read(checked::member(document, "response"), found.response);
    read(checked::member(document, "slip"), found.slip);
    found.cpu = std::chrono::nanoseconds{number("cpu_ns")};
    return found;
} catch (std::exception const&) {
    // The message of an exception of Boost.JSON would name a file of Boost.
    throw std::runtime_error{"a line of its progress is damaged"};
}

} // namespace cleat::bench
