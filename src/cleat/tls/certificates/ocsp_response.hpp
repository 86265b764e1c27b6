// ocsp_response: an authority's signed statement that a certificate is not revoked (RFC 6960),
// which a server sends to clients that ask for it (RFC 6066, section 8). Not a public header.

#pragma once

#include <cleat/tls/handles.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::tls {

/// ocsp_response is one that was read and checked.
struct ocsp_response
{
    std::string der; ///< As it is sent.
    // Seconds since 1970.
    std::int64_t this_update = 0;
    std::int64_t next_update = std::numeric_limits<std::int64_t>::max(); ///< The most: not given.

    /// is_fresh: clients accept it at this time.
    [[nodiscard]] bool is_fresh(std::int64_t now) const noexcept
    {
        return now >= this_update && now < next_update;
    }
};

/// read_ocsp_response reads the DER of a response for the certificate `leaf`. Throws spec_error,
/// which begins with the origin, where there is none. That it is stale, or says that the
/// certificate is revoked, is added to warnings. The signature is not verified: clients do that.
[[nodiscard]] ocsp_response read_ocsp_response(
    std::string_view der, std::string const& origin, X509 const* leaf,
    std::chrono::system_clock::time_point now, std::vector<std::string>& warnings);

/// single_response is what a response says about one certificate, as views into its DER.
struct single_response
{
    enum class certificate_status
    {
        good,
        revoked,
        unknown
    };

    std::string_view hash_algorithm;   ///< The OID's content.
    std::string_view issuer_name_hash; ///< Of the name in the certificate.
    std::string_view serial;           ///< The INTEGER with its tag and length.
    certificate_status status = certificate_status::unknown;
    std::int64_t this_update = 0;
    std::optional<std::int64_t> next_update;
};

/// ocsp_outline is the outline of a response.
struct ocsp_outline
{
    unsigned status = 0;                  ///< 0: successful (RFC 6960, section 4.2.1).
    std::vector<single_response> answers; ///< Empty unless successful.
};

/// parse_ocsp is nothing where the DER is damaged, or no basic response.
[[nodiscard]] std::optional<ocsp_outline> parse_ocsp(std::string_view der);

} // namespace cleat::tls
