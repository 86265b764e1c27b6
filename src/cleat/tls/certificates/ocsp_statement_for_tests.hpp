// ocsp_statement_for_tests: responses of an authority about a certificate, without a signature.

#pragma once

#include <cleat/tls/handles.hpp>

#include <chrono>
#include <string>

namespace cleat::tls {

/// der_element is a DER element of at most 64 KiB.
[[nodiscard]] std::string der_element(unsigned tag, std::string const& content);

/// der_time is a GeneralizedTime.
[[nodiscard]] std::string der_time(std::chrono::system_clock::time_point time);

/// ocsp_statement says that a certificate is good, unless `status` says something else.
struct ocsp_statement
{
    X509 const* certificate;
    std::chrono::system_clock::time_point this_update =
        std::chrono::system_clock::now() - std::chrono::hours{1};
    std::chrono::system_clock::time_point next_update =
        std::chrono::system_clock::now() + std::chrono::hours{1};
    bool has_next_update = true;
    std::string status = der_element(0x80, "");

    /// der is the response.
    [[nodiscard]] std::string der() const;
};

} // namespace cleat::tls
