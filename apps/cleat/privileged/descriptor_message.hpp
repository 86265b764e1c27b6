// descriptor_message: a message of a SOCK_SEQPACKET socket, with the descriptors that travel beside
// its bytes (SCM_RIGHTS, unix(7)).

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/core/unique_fd.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::app {

/// descriptor_message is what came in one message.
struct descriptor_message
{
    std::string bytes{};
    std::vector<unique_fd> fds{}; ///< At most descriptors_max.
    bool is_whole = true;         ///< False: it was longer than the receiver allows.
    bool is_end = false;          ///< The other end is closed.
};

/// descriptors_max: the kernel closes the descriptors of a message beyond these.
inline constexpr std::size_t descriptors_max = 2;

/// send_message sends the bytes, and a copy of fd unless that is -1. It does not wait for room.
[[nodiscard]] error_code send_message(int socket, std::string_view bytes, int fd = -1) noexcept;

/// receive_message waits for a message of at most `size_max` bytes. Its descriptors are closed when
/// a program is executed. Throws std::bad_alloc.
[[nodiscard]] result<descriptor_message> receive_message(int socket, std::size_t size_max);

} // namespace cleat::app
