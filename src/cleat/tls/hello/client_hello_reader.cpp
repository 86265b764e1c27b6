#include <cleat/core/limits.hpp>
#include <cleat/tls/hello/client_hello_reader.hpp>
#include <cleat/tls/hello/message_reader.hpp>

#include <algorithm>

namespace cleat::tls {
namespace {

constexpr std::uint8_t handshake_record = 22;
constexpr std::uint8_t client_hello_message = 1;
constexpr std::size_t alpn_number = 16;

// The list in the body of an ALPN extension (RFC 7301, section 3.1); false: malformed.
bool read_protocols(octets body, octets& list) noexcept
{
    message_reader reader{body};
    list = reader.vector(2);
    message_reader names{list};
    while (names.is_whole() && !names.is_empty())
        if (names.vector(1).empty())
            return false;
    return reader.is_whole() && reader.is_empty() && names.is_whole() && !list.empty();
}

// The first identity in the body of a pre_shared_key extension (RFC 8446, section 4.2.11), which is
// a ticket where the server that issued it keeps no sessions. Empty: malformed.
octets first_identity(octets body) noexcept
{
    message_reader reader{body};
    message_reader identities{reader.vector(2)};
    return identities.vector(2);
}

} // namespace

// The next byte of a record's header. False: it begins no record that can have a ClientHello.
bool client_hello_reader::read_header(std::uint8_t byte) noexcept
{
    header_[header_size_++] = byte;
    switch (header_size_) {
    case 1:
        return byte == handshake_record;
    case 2:
        return byte == 3; // The version's first byte, from SSL 3.0 to TLS 1.3.
    case 5:
        record_left_ = static_cast<std::size_t>(header_[3]) << 8U | header_[4];
        return record_left_ != 0 && record_left_ <= limits::plaintext_record_max;
    default:
        return true;
    }
}

client_hello_reader::status client_hello_reader::read(octets bytes)
{
    while (!bytes.empty() && status_ == status::incomplete) {
        std::size_t taken = 1;
        if (header_size_ < header_.size()) {
            if (!read_header(bytes.front()))
                status_ = status::other;
        } else {
            taken = std::min(bytes.size(), record_left_);
            message_.insert(
                message_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(taken));
            record_left_ -= taken;
            if (record_left_ == 0)
                header_size_ = 0;
            status_ = judge_message();
        }
        size_ += taken;
        if (status_ == status::incomplete && size_ > limits::client_hello_max)
            status_ = status::too_long;
        bytes = bytes.subspan(taken);
    }
    return status_;
}

client_hello_reader::status client_hello_reader::judge_message() noexcept
{
    if (message_.front() != client_hello_message)
        return status::other;
    if (message_.size() < message_header_size)
        return status::incomplete;
    std::size_t const size = message_header_size + (static_cast<std::size_t>(message_[1]) << 16U |
                                                    static_cast<std::size_t>(message_[2]) << 8U |
                                                    static_cast<std::size_t>(message_[3]));
    if (size > limits::client_hello_max)
        return status::too_long;
    if (message_.size() < size)
        return status::incomplete;
    message_.resize(size); // A second message in the same record is not ours.
    return read_facts() ? status::complete : status::other;
}

bool client_hello_reader::read_facts() noexcept
{
    hello_parts const parts = hello_parts_of(message());
    // The ID of a client of TLS 1.3 is mostly random, for middleboxes (RFC 8446, section 4.1.2). An
    // ID beside a ticket is the client's own (RFC 5077, section 3.4).
    bool has_versions = false;
    auto const read = [&](std::size_t number, octets body) {
        switch (number) {
        case static_cast<std::size_t>(extension::server_name):
            facts_.server_name = server_name_in(body);
            return !facts_.server_name.empty();
        case alpn_number:
            return read_protocols(body, facts_.protocols);
        case static_cast<std::size_t>(extension::session_ticket): // Empty: a client without one.
            facts_.ticket = body;
            return true;
        case static_cast<std::size_t>(extension::pre_shared_key): // The last extension.
            if (octets const identity = first_identity(body); !identity.empty())
                facts_.ticket = identity;
            return true;
        case static_cast<std::size_t>(extension::supported_versions):
            has_versions = true;
            facts_.offer.supported_versions = body;
            return true;
        case static_cast<std::size_t>(extension::signature_algorithms):
            facts_.offer.signature_algorithms = body;
            return true;
        case static_cast<std::size_t>(extension::supported_groups):
            facts_.offer.supported_groups = body;
            return true;
        default:
            return true;
        }
    };
    if (!parts.is_whole || !for_each_extension(parts.extensions, read))
        return false;
    facts_.offer.cipher_suites = parts.cipher_suites;
    if (!has_versions && facts_.ticket.empty())
        facts_.session_id = parts.session;
    return true;
}

} // namespace cleat::tls
