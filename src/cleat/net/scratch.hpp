// scratch: the blocks that bytes pass through on their way between sockets and TLS.

#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace cleat::net {

/// scratch is a thread's working memory: one set of blocks for all of its connections. The bytes in
/// a block are used, sent, or copied to a connection's own memory before the connection's next
/// wait. No connection owns a block, so an idle one costs none.
class scratch
{
public:
    /// of_this_thread is made on the thread's first use. Valid until the thread ends.
    [[nodiscard]] static scratch& of_this_thread();

    scratch();

    /// received: where recv puts ciphertext, limits::turn_max bytes.
    [[nodiscard]] std::span<std::byte> received() const noexcept;
    /// plaintext: where records are decrypted, or an upstream's bytes received, limits::turn_max
    /// bytes.
    [[nodiscard]] std::span<std::byte> plaintext() const noexcept;
    /// sealed: where records are encrypted for one send, with room for a turn.
    [[nodiscard]] std::span<std::byte> sealed() const noexcept;

private:
    // Untouched pages cost nothing until a turn grows into them.
    std::unique_ptr<std::byte[]> memory_;
};

} // namespace cleat::net
