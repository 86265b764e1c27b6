// suite_table: the rows of the registry of cipher suites.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace cleat::bench::wire {

/// cipher_suite is one row of the registry.
struct cipher_suite
{
    std::uint16_t number = 0;
    std::string_view iana;    ///< "TLS_RSA_WITH_AES_128_CBC_SHA".
    std::string_view openssl; ///< "AES128-SHA"; empty where OpenSSL has never had a name for it.

    /// name is OpenSSL's, or IANA's where there is none.
    [[nodiscard]] std::string_view name() const noexcept
    {
        return openssl.empty() ? iana : openssl;
    }
};

/// suite_table is in the order of the numbers.
[[nodiscard]] std::span<cipher_suite const> suite_table() noexcept;

} // namespace cleat::bench::wire
