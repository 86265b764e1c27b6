// certificate_index: a file that remembers what was read of certificates, so that a later start
// does not read them again. Not a public header.

#pragma once

#include <cleat/tls/store/certificate_scan.hpp>
#include <cleat/tls/store/certificate_store.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <sys/types.h>

namespace cleat::tls {

/// certificate_index is an index file in memory. It has no key and no certificate: names, digests,
/// ends, lifetimes and stamps. An entry is used only for files whose stamps are the same (see
/// file_stamp). A key is always read from its own file, and its digest checked.
class certificate_index
{
public:
    /// An index without certificates.
    certificate_index() = default;

    /// read reads the file. It must belong to root, this process's user, or `owner`, and nobody
    /// else may write it; it must be whole, in this format, and of this TLS library. Where it is
    /// not, `fault` says why, and the index is empty. No file is no fault.
    [[nodiscard]] static certificate_index read(
        std::string const& path, uid_t owner, std::string& fault);

    /// of_records is the index of a file's records, without the header and the digest before them.
    /// Nothing: they are damaged.
    [[nodiscard]] static std::optional<certificate_index> of_records(std::string records);

    /// recall fills `found` with what is known of the files with these stamps. False: nothing is.
    /// Any thread. folder is where relative paths begin.
    [[nodiscard]] bool recall(
        certificate_paths const& paths, std::string const& folder, certificate_stamps const& stamps,
        scanned_certificate& found) const;

    [[nodiscard]] std::size_t size() const noexcept { return records_.size(); }

private:
    [[nodiscard]] bool take(std::string bytes);
    [[nodiscard]] bool take_records(std::size_t begin);

    std::string bytes_;                                         // The whole file.
    std::unordered_map<std::string_view, std::size_t> records_; // Their places, by their files.
};

/// write_index writes what is known of the store's certificates: under another name first, so that
/// the file is always whole. Certificates without stamps are left out, and those with an OCSP
/// response: a start reads them, and warns of a response that is stale. It returns why it cannot.
[[nodiscard]] error_code write_index(certificate_store const& store, std::string const& path);

} // namespace cleat::tls
