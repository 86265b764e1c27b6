// answer_fault: the rules by which an answer is the right one, the same for each version of HTTP.

#pragma once

#include "generate/load_spec.hpp"

#include <cstdint>
#include <string>

namespace cleat::bench {

/// status_fault is why it is not the right status; empty where it is.
[[nodiscard]] inline std::string status_fault(exchange const& wanted, int status)
{
    bool const good = wanted.status ? status == *wanted.status : status >= 200 && status < 400;
    return good ? std::string{} : "wrong status " + std::to_string(status);
}

/// body_fault is why a body of that size, which has the text or not, is not right.
[[nodiscard]] inline std::string body_fault(
    exchange const& wanted, std::uint64_t size, bool has_text)
{
    if (wanted.size && size != *wanted.size)
        return size < *wanted.size ? "short answer" : "long answer";
    return has_text ? "" : "wrong body";
}

} // namespace cleat::bench
