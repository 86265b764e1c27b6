#include "reload/memory_left.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace cleat::app {
namespace {

// With their contexts these have some MB.
constexpr std::size_t many_certificates = 100;

std::uint64_t limit_of_memory(snapshot const& configuration) noexcept
{
    return configuration.memory_max != 0 ? configuration.memory_max : UINT64_MAX;
}

// A worker keeps so many, and only names and digests of the others.
std::size_t certificates_in_memory(snapshot const& configuration)
{
    return std::min(
        count_certificates(configuration),
        static_cast<std::size_t>(*configuration.settings.certificate_cache));
}

} // namespace

bool leaves_less_memory(snapshot const& before, snapshot const& after)
{
    return limit_of_memory(after) < limit_of_memory(before) ||
           *after.settings.certificate_cache > *before.settings.certificate_cache ||
           *after.settings.session_cache > *before.settings.session_cache ||
           certificates_in_memory(after) >= certificates_in_memory(before) + many_certificates;
}

} // namespace cleat::app
