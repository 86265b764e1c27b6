#include "reload/memory_left.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

namespace cleat::app::memory_left_test {

constexpr std::uint64_t mib = 1 << 20;

TEST_CASE("a lower limit and larger caches leave less memory, and other reloads do not")
{
    snapshot before;
    snapshot after;
    CHECK_FALSE(leaves_less_memory(before, after));
    after.memory_max = 100 * mib; // From off.
    CHECK(leaves_less_memory(before, after));
    CHECK_FALSE(leaves_less_memory(after, before));
    before.memory_max = 99 * mib;
    CHECK_FALSE(leaves_less_memory(before, after));
    CHECK(leaves_less_memory(after, before));
    after.settings.certificate_cache.value = *before.settings.certificate_cache + 1;
    CHECK(leaves_less_memory(before, after));
    after.settings = {};
    after.settings.session_cache.value = *before.settings.session_cache + 1;
    CHECK(leaves_less_memory(before, after));
}

TEST_CASE("a hundred more certificates in memory leave less of it, and fewer do not")
{
    snapshot before;
    snapshot after;
    auto const add = [&](int count) {
        after.tls.resize(1);
        for (int i = 0; i < count; ++i)
            after.tls[0].spec.certificates.push_back(
                {"", "", std::to_string(after.tls[0].spec.certificates.size())});
    };
    add(99);
    CHECK_FALSE(leaves_less_memory(before, after));
    add(1);
    CHECK(leaves_less_memory(before, after));
    CHECK_FALSE(leaves_less_memory(after, before));
    before.settings.certificate_cache.value = after.settings.certificate_cache.value = 99;
    CHECK_FALSE(leaves_less_memory(before, after)); // A worker keeps no more.
}

} // namespace cleat::app::memory_left_test
