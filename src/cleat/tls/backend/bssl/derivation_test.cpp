// A derived key, and the keys on the way to it, do not stay on the stack.

#include <cleat/core/unique_fd.hpp>
#include <cleat/tls/backend.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace cleat::tls::derivation_test {
namespace {

using bytes = std::vector<std::byte>; // On the heap: the stack is what is searched.

constexpr std::size_t searched = 32 * 1024;

// Computed by Python's hmac for the secret 00 01 .. 1f and the info below, as RFC 5869 has it.
constexpr std::string_view extracted =
    "46bd320605c5a6b6163ab70bc6345b92a5f908e79fe58979c23ebb47d1a5e307";
constexpr std::string_view derived =
    "9009c2a3b9098caa66d985282c30250116f22bfb07b56071f6e9efcc6da2d46d";

bytes decoded(std::string_view hex, unsigned pad = 0)
{
    bytes made;
    for (std::size_t i = 0; i < hex.size(); i += 2)
        made.push_back(
            static_cast<std::byte>(std::stoul(std::string{hex.substr(i, 2)}, nullptr, 16) ^ pad));
    return made;
}

bool contains(bytes const& memory, bytes const& part)
{
    return std::ranges::search(memory, part).begin() != memory.end();
}

// The stack below the caller's frame, as the kernel has it: to read it in C++ is not defined.
[[gnu::noinline]] bytes stack_after(int memory, bytes const& secret, bytes& key)
{
    std::string_view const info = "cleat ticket ratchet 1: next epoch";
    bytes found(searched);
    backend::library_state const library;
    bool const done = library.derive(secret, std::as_bytes(std::span{info}), key);
    std::uintptr_t const here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    ssize_t const size =
        ::pread(memory, found.data(), found.size(), static_cast<off_t>(here - found.size()));
    found.resize(done && size > 0 ? static_cast<std::size_t>(size) : 0);
    return found;
}

TEST_CASE("a derivation leaves no key on the stack")
{
    unique_fd const memory{::open("/proc/self/mem", O_RDONLY | O_CLOEXEC)};
    REQUIRE(memory);
    bytes secret;
    for (unsigned i = 0; i < 32; ++i)
        secret.push_back(static_cast<std::byte>(i));
    bytes key(32);
    bytes stack;
    std::thread{[&] { stack = stack_after(memory.get(), secret, key); }}.join();
    REQUIRE(stack.size() == searched);
    CHECK(key == decoded(derived));
    CHECK_FALSE(contains(stack, key));
    for (unsigned const pad : {0x00U, 0x36U, 0x5cU}) { // Those of HMAC, RFC 2104.
        CAPTURE(pad);
        CHECK_FALSE(contains(stack, decoded(extracted, pad)));
    }
}

} // namespace
} // namespace cleat::tls::derivation_test
