// certificate_loader: one certificate, with its chain and key, from its files. Not a public header.

#pragma once

#include <cleat/tls/backend.hpp>
#include <cleat/tls/certificates/certificate.hpp>
#include <cleat/tls/certificates/certificate_description.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/store/certificate_store.hpp>

#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::tls {

/// load_error says which file cannot be used, and why.
struct load_error : spec_error
{
    load_error(std::string const& text, std::string_view remedy, bool passes)
        : spec_error{text}, cure{remedy}, may_pass{passes}
    {
    }

    std::string_view cure; ///< A sentence for the operator, which is never freed.
    bool may_pass;         ///< The cause is a lack of resources: the next try may succeed.
};

/// certificate_on_disk is a certificate as its files have it now.
struct certificate_on_disk
{
    certificate read;
    file_digest digest{};
    file_digest response_digest{}; ///< Where there is an OCSP response.
    certificate_stamps stamps;     ///< From before they were read.
};

/// read_from_disk reads and checks a certificate, as read_certificate does, without its OCSP
/// response. `folder` is where relative paths begin; the opener is read_file's. Throws load_error
/// for a file, and spec_error for what is in it.
[[nodiscard]] certificate_on_disk read_from_disk(
    backend::library_state const& library, certificate_paths const& paths,
    std::string const& folder, std::vector<std::string>& warnings, file_opener const& opener = {});

/// read_response_from_disk adds the OCSP response, if the paths have one, to what read_from_disk
/// has read of them. Throws like it, and has changed nothing then.
void read_response_from_disk(
    backend::library_state const& library, certificate_paths const& paths,
    std::string const& folder, certificate_on_disk& found, std::vector<std::string>& warnings,
    file_opener const& opener = {});

/// source_digest is the digest that a store has of the files of a certificate with these texts.
/// Throws load_error.
[[nodiscard]] file_digest source_digest(
    backend::library_state const& library, certificate_source const& source);

/// describe_files describes files that read_from_disk refuses. Nothing: they cannot be read,
/// or hold no certificate that can be decoded.
[[nodiscard]] std::optional<certificate_description> describe_files(
    backend::library_state const& library, certificate_paths const& paths);

/// load_certificate reads a certificate of a store once more. Throws load_error where a file cannot
/// be read or has wrong content now. It may be another certificate than the store's, with the same
/// type of key and the names of the other: it was renewed, and a reload will follow. Throws
/// load_error for any other.
///
/// An OCSP response may be another one than the store's: the authority renews it, and the clients
/// verify it. Where it cannot be used any more, the certificate is loaded without one.
[[nodiscard]] certificate load_certificate(
    backend::library_state const& library, expected_files const& expected,
    std::string const& folder, file_opener const& opener);
[[nodiscard]] certificate load_certificate(
    backend::library_state const& library, certificate_store const& store,
    certificate_store::number certificate);

/// stamps_of looks at the files without reading them.
[[nodiscard]] certificate_stamps stamps_of(
    certificate_paths const& paths, std::string const& folder,
    std::time_t now = std::time(nullptr));

/// summary_of is what a store keeps of it.
[[nodiscard]] certificate_summary summary_of(certificate_on_disk const& found);

} // namespace cleat::tls
