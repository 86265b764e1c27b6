// certificate_loader: one certificate, with its chain and key, from its files. Not a public header.

#pragma once

#include <cleat/tls/backend.hpp>
#include <cleat/tls/certificates/certificate.hpp>
#include <cleat/tls/certificates/certificate_description.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/store/certificate_store.hpp>

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
};

/// read_from_disk reads and checks a certificate, as read_certificate does. `folder` is where
/// relative paths begin. Throws load_error for a file, and spec_error for what is in it.
[[nodiscard]] certificate_on_disk read_from_disk(
    backend::library_state const& library, certificate_paths const& paths,
    std::string const& folder, std::vector<std::string>& warnings);

/// describe_files describes files that read_from_disk refuses. Nothing: they cannot be read,
/// or hold no certificate that can be decoded.
[[nodiscard]] std::optional<certificate_description> describe_files(
    backend::library_state const& library, certificate_paths const& paths);

/// load_certificate reads a certificate of the store once more. Throws load_error where a file
/// cannot be read, has changed since the store was filled, or has wrong content now.
[[nodiscard]] certificate load_certificate(
    backend::library_state const& library, certificate_store const& store,
    certificate_store::number certificate);

/// summary_of is what a store keeps of it.
[[nodiscard]] certificate_summary summary_of(certificate_on_disk const& found);

} // namespace cleat::tls
