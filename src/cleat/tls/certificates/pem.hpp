// pem: the blocks of a PEM text (RFC 7468), cut out but not decoded. Not a public header.
//
// Cutting them out here lets every error name the block's line, with every TLS library, and keeps
// the library from reading a key that the caller did not want.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::tls {

/// pem_block is a view into the text that it was found in.
struct pem_block
{
    std::string_view label; ///< "CERTIFICATE"
    std::string_view text;  ///< From BEGIN to the end of END's line.
    std::size_t line = 0;   ///< Where BEGIN is; the first line is 1.
    bool complete = false;  ///< It has its END.

    [[nodiscard]] bool is_certificate() const noexcept;
    [[nodiscard]] bool is_private_key() const noexcept;
    [[nodiscard]] bool is_encrypted() const noexcept; ///< A key under a passphrase, of either form.
};

/// pem_blocks finds the blocks of a text in their order. Text between blocks is not looked at.
[[nodiscard]] std::vector<pem_block> pem_blocks(std::string_view text);

/// conversion_hint says what a text without blocks is instead of PEM, and which command makes PEM
/// of it: DER, PKCS#12, UTF-16, or PEM behind a byte order mark. Empty: it is none of these.
[[nodiscard]] std::string_view conversion_hint(std::string_view text) noexcept;

} // namespace cleat::tls
