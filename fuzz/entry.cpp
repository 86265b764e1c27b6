// The function that libFuzzer calls, for the target that CMake names.

#include "targets.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
    cleat::fuzz::CLEAT_FUZZ_TARGET({data, size});
    return 0;
}
