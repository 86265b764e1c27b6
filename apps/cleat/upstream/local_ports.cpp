#include "upstream/local_ports.hpp"

#include <cleat/core/unique_fd.hpp>

#include <array>
#include <charconv>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cleat::app {
namespace {

// Of Linux, in headers since 6.3.
constexpr int ip_local_port_range = 51;

} // namespace

std::optional<local_ports> read_local_ports() noexcept
{
    unique_fd const file{::open("/proc/sys/net/ipv4/ip_local_port_range", O_RDONLY | O_CLOEXEC)};
    std::array<char, 64> text{};
    ssize_t const size = file ? ::read(file.get(), text.data(), text.size()) : -1;
    return size <= 0 ? std::nullopt
                     : parse_local_ports({text.data(), static_cast<std::size_t>(size)});
}

std::optional<local_ports> parse_local_ports(std::string_view text) noexcept
{
    local_ports range;
    char const* const end = text.data() + text.size();
    auto const [after_first, first_failed] = std::from_chars(text.data(), end, range.first);
    char const* next = after_first;
    while (next != end && (*next == '\t' || *next == ' '))
        ++next;
    auto const [after_last, last_failed] = std::from_chars(next, end, range.last);
    bool const is_whole = after_last == end || *after_last == '\n';
    bool const is_range = first_failed == std::errc{} && last_failed == std::errc{} && is_whole &&
                          range.first > 0 && range.first <= range.last;
    return is_range ? std::optional{range} : std::nullopt;
}

std::optional<local_ports> slice_of(
    std::optional<local_ports> all, std::size_t worker, std::size_t workers) noexcept
{
    if (!all || workers < 2)
        return std::nullopt;
    std::size_t const count = std::size_t{all->last} - all->first + 1;
    if (count / workers < local_ports_of_worker_min)
        return std::nullopt;
    std::size_t const begin = all->first + count * worker / workers;
    std::size_t const end = all->first + count * (worker + 1) / workers;
    return local_ports{static_cast<std::uint16_t>(begin), static_cast<std::uint16_t>(end - 1)};
}

bool use_slice(int socket, std::optional<local_ports> slice) noexcept
{
    std::uint32_t const range =
        slice ? std::uint32_t{slice->last} << 16U | std::uint32_t{slice->first} : 0;
    return ::setsockopt(socket, IPPROTO_IP, ip_local_port_range, &range, sizeof range) == 0;
}

} // namespace cleat::app
