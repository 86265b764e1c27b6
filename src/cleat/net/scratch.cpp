#include <cleat/core/limits.hpp>
#include <cleat/net/scratch.hpp>

namespace cleat::net {
namespace {

constexpr std::size_t sealed_max =
    limits::turn_max +
    (limits::turn_max / limits::plaintext_record_max + 2) * limits::record_overhead_max;

} // namespace

scratch& scratch::of_this_thread()
{
    // No bytes stay here between calls, so the memory may belong to the thread. Then streams work
    // on any io_context, also on one that several threads run.
    thread_local scratch mine;
    return mine;
}

scratch::scratch()
    : memory_{std::make_unique_for_overwrite<std::byte[]>(2 * limits::turn_max + sealed_max)}
{
}

std::span<std::byte> scratch::received() const noexcept
{
    return {memory_.get(), limits::turn_max};
}

std::span<std::byte> scratch::plaintext() const noexcept
{
    return {memory_.get() + limits::turn_max, limits::turn_max};
}

std::span<std::byte> scratch::sealed() const noexcept
{
    return {memory_.get() + 2 * limits::turn_max, sealed_max};
}

} // namespace cleat::net
