// compressed_certificates: the certificate messages that a context has compressed (RFC 8879), for
// the next handshake with the same certificate. Not a public header.

#pragma once

#include <cleat/tls/context_spec.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cleat::tls {

/// compressed_certificates finds a compressed message by its content, which is the same for every
/// client that gets the same certificate and OCSP response. It belongs to one thread.
class compressed_certificates
{
public:
    explicit compressed_certificates(std::vector<certificate_compressor> compressors)
        : compressors_{std::move(compressors)}
    {
    }

    /// compressors are in the order of preference.
    [[nodiscard]] std::vector<certificate_compressor> const& compressors() const noexcept
    {
        return compressors_;
    }

    /// find compresses a message unless it is kept already. Empty: it cannot be compressed. The
    /// result is valid until the next call. Throws std::bad_alloc.
    [[nodiscard]] std::span<std::byte const> find(
        std::uint16_t algorithm, std::string_view message);

private:
    struct kept
    {
        std::string name; // The algorithm's number, then the message.
        std::vector<std::byte> compressed;
    };

    [[nodiscard]] std::vector<std::byte> compress(
        std::uint16_t algorithm, std::string_view message) const;

    std::vector<certificate_compressor> compressors_;
    std::list<kept> by_use_;                                                 // The last used first.
    std::unordered_map<std::string_view, std::list<kept>::iterator> places_; // By kept::name.
};

} // namespace cleat::tls
