// certificate_scan: reads many certificates at once, to fill a store. Not a public header.

#pragma once

#include <cleat/core/file_opener.hpp>
#include <cleat/tls/certificates/certificate_description.hpp>
#include <cleat/tls/store/certificate_store.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::tls {

/// scanned_certificate is what one certificate's files have: a summary with names; or an error.
struct scanned_certificate
{
    certificate_summary summary;
    std::vector<std::string> names;
    certificate_stamps stamps;     ///< Of the files, from before they were read.
    bool is_unchanged = false;     ///< The caller has said so: there is nothing else here.
    bool is_recalled = false;      ///< By the caller.
    file_digest response_digest{}; ///< Where there is an OCSP response.
    std::vector<std::string> warnings;
    std::vector<std::string> response_warnings; ///< Those about the OCSP response.
    bool is_bad_response = false;               ///< The error is in the OCSP response alone.
    std::string error;                          ///< Empty: it can be served.
    std::string_view cure;                      ///< A sentence, or empty where the error has it.
    /// With scan_handlers::with_facts, also beside an error, as far as the file can be read.
    std::optional<certificate_description> facts;

    [[nodiscard]] bool has_warnings() const noexcept
    {
        return !warnings.empty() || !response_warnings.empty();
    }

    /// lasting_stamps are what a store keeps. A file with warnings has none: it is read again, for
    /// its warnings.
    [[nodiscard]] certificate_stamps lasting_stamps() const noexcept
    {
        return has_warnings() ? certificate_stamps{} : stamps;
    }
};

struct scan_handlers
{
    /// Called for every certificate, in the order of the list.
    std::function<void(std::size_t index, scanned_certificate const& found)> found;
    /// Called from time to time with the number of certificates that have been read.
    std::function<void(std::size_t read)> progress;
    /// Called for every certificate before its files are read, with their stamps. True: it knows
    /// the files with these stamps, and has set `is_unchanged`, or summary and names; they are not
    /// read then. Any thread. Empty: all are read.
    std::function<bool(
        std::size_t index, certificate_stamps const& stamps, scanned_certificate& found)>
        recall{};
    /// The stamps of files at which this process may not look, where another one has; unknown ones
    /// for others. Any thread. Empty: there are none.
    std::function<certificate_stamps(certificate_paths const& paths)> others_stamps{};
    bool with_facts = false;
    file_opener opener{}; ///< Opens files that this process may not open.
};

/// scan_list is the certificates to scan, by number. A function, because a copy of a hundred
/// thousand paths would double the memory of a reload. Any thread.
struct scan_list
{
    std::size_t count = 0;
    std::function<certificate_paths const&(std::size_t index)> paths;
};

/// scan_certificates reads files with `threads` threads, of which the caller's is one, and
/// calls the handlers on the caller's. It parses every certificate, chain and key, and lets the TLS
/// library accept them, as a context would; then it drops them. Throws std::bad_alloc,
/// std::system_error, and what the handlers throw.
void scan_certificates(scan_list const& all, std::size_t threads, scan_handlers const& handlers);

} // namespace cleat::tls
