// certificate_scan: reads many certificates at once, to fill a store. Not a public header.

#pragma once

#include <cleat/tls/certificates/certificate_description.hpp>
#include <cleat/tls/store/certificate_store.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::tls {

/// scanned_certificate is what one certificate's files have: a summary with names; or an error.
struct scanned_certificate
{
    certificate_summary summary;
    std::vector<std::string> names;
    std::vector<std::string> warnings;
    std::string error;     ///< Empty: it can be served.
    std::string_view cure; ///< A sentence, or empty where the error has it.
    /// With scan_handlers::with_facts, also beside an error, as far as the file can be read.
    std::optional<certificate_description> facts;
};

struct scan_handlers
{
    /// Called for every certificate, in the order of the paths.
    std::function<void(std::size_t index, scanned_certificate const& found)> found;
    /// Called from time to time with the number of certificates that have been read.
    std::function<void(std::size_t read)> progress;
    bool with_facts = false;
};

/// scan_certificates reads all files with `threads` threads, of which the caller's is one, and
/// calls the handlers on the caller's. It parses every certificate, chain and key, and lets the TLS
/// library accept them, as a context would; then it drops them. Throws std::bad_alloc,
/// std::system_error, and what the handlers throw.
void scan_certificates(
    std::span<certificate_paths const> all, std::size_t threads, scan_handlers const& handlers);

} // namespace cleat::tls
