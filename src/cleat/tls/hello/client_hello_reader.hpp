// client_hello_reader: finds a ClientHello in the first bytes of a TLS client, before any engine
// has them. A machine: bytes in, facts out. Not a public header.

#pragma once

#include <cleat/tls/certificates/client_hello.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace cleat::tls {

/// hello_facts are what a ClientHello asks for. The views are valid as long as its bytes.
struct hello_facts
{
    std::string_view server_name{}; ///< SNI; empty: none.
    octets protocols{};             ///< Of ALPN, each behind a byte with its length; empty: none.
    /// The ticket by which the client offers to resume a session, in either version of TLS: of
    /// several pre-shared keys the first. Empty: none.
    octets ticket{};
    /// The ID of a session that the client offers to resume. Empty: none, or the client offers
    /// TLS 1.3 or a ticket, which have other uses for the field.
    octets session_id{};
    client_offer offer{}; ///< By this a server chooses among its certificates.
};

/// client_hello_reader takes the stream in parts of any size, and joins the records over which a
/// ClientHello is spread (RFC 8446, section 5.1). It stores the message, of at most
/// limits::client_hello_max bytes, as it comes: a length that a client only claims costs nothing.
class client_hello_reader
{
public:
    enum class status : std::uint8_t
    {
        incomplete, ///< All bytes so far fit a ClientHello that goes on.
        complete,
        too_long, ///< It is, or says that it is, longer than limits::client_hello_max.
        other,    ///< The bytes are no ClientHello, or a malformed one.
    };

    /// read takes the next bytes. Once the status is another one than incomplete, it stays, and
    /// bytes are ignored: those behind the ClientHello are not this machine's. Throws
    /// std::bad_alloc.
    status read(octets bytes);

    /// message is the complete ClientHello, without the four bytes of its header.
    [[nodiscard]] octets message() const noexcept
    {
        return octets{message_}.subspan(message_header_size);
    }

    /// facts of the complete message.
    [[nodiscard]] hello_facts const& facts() const noexcept { return facts_; }

private:
    static constexpr std::size_t message_header_size = 4;

    [[nodiscard]] bool read_header(std::uint8_t byte) noexcept;
    [[nodiscard]] status judge_message() noexcept;
    [[nodiscard]] bool read_facts() noexcept;

    std::array<std::uint8_t, 5> header_{}; // Of the present record.
    std::size_t header_size_ = 0;          // Its bytes so far.
    std::size_t record_left_ = 0;          // Bytes of the record that are still to come.
    std::size_t size_ = 0;                 // All bytes, with the records' headers.
    std::vector<std::uint8_t> message_;
    hello_facts facts_;
    status status_ = status::incomplete;
};

} // namespace cleat::tls
