// websocket_opening: a client's opening of a WebSocket (RFC 6455, section 4.1). Text only, no
// sockets.

#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace cleat::bench {

/// no_key stands in a request for the Sec-WebSocket-Key, which each connection has for itself. It
/// is as long as a key.
inline constexpr std::string_view no_key = "________________________";

/// new_key is the Sec-WebSocket-Key of so many random bytes.
[[nodiscard]] std::string new_key(std::array<std::byte, 16> const& random);

/// accept_of is the Sec-WebSocket-Accept that answers a key (RFC 6455, section 4.2.2).
[[nodiscard]] std::string accept_of(std::string_view key);

/// upgrade_fields are the header fields of a request that opens a WebSocket, with no_key in the
/// place of the key.
[[nodiscard]] std::string upgrade_fields();

/// with_key is the request with the key in the place of no_key.
[[nodiscard]] std::string with_key(std::string request, std::string_view key);

/// opening_answer reads the server's answer up to the end of its head.
class opening_answer
{
public:
    /// `offered` has the subprotocols of the request, with commas; empty: none.
    opening_answer(std::string_view key, std::string_view offered)
        : accept_{accept_of(key)}, offered_{offered}
    {
    }

    static constexpr std::size_t head_max = 64 * 1024;

    /// take reads up to the end of the head, and gives how many bytes belong to it.
    std::size_t take(std::string_view bytes);

    /// is_over: the head is whole, or is none.
    [[nodiscard]] bool is_over() const noexcept { return over_; }
    /// fault is why it opens no WebSocket; empty where it does: "refused with status 403",
    /// "wrong Sec-WebSocket-Accept".
    [[nodiscard]] std::string const& fault() const noexcept { return fault_; }

private:
    void on_line(std::string_view line);
    void on_field(std::string_view name, std::string_view value);
    void on_end();
    void fail(std::string fault);

    std::string accept_;
    std::string offered_;
    std::string line_; // As far as it has come.
    std::string fault_;
    std::size_t size_ = 0;
    int status_ = 0;
    bool upgrade_ = false;
    bool connection_ = false;
    bool has_accept_ = false;
    bool over_ = false;
};

} // namespace cleat::bench
