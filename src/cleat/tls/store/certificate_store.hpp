// certificate_store: every certificate that a configuration names, by file, digest and validity; no
// key and no PEM text. Not a public header.

#pragma once

#include <cleat/tls/certificates/key_type.hpp>
#include <cleat/tls/store/text_arena.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cleat::tls {

/// certificate_paths is the files of one certificate.
struct certificate_paths
{
    std::string chain;       ///< The certificate, then its intermediates.
    std::string private_key; ///< Empty: the key is in the file of the chain.
};

/// file_digest identifies the content of a certificate's files: 32 bytes of HKDF with SHA-256.
using file_digest = std::array<std::byte, 32>;

/// certificate_summary is what a store keeps of a certificate, beside its files' names.
struct certificate_summary
{
    file_digest digest{};
    std::int64_t valid_until = 0; ///< Seconds since 1970.
    std::int32_t signature = 0;   ///< The algorithm of its signature, as a NID of the TLS library.
    std::uint16_t key_bits = 0;
    key_type type = key_type::rsa;
};

/// certificate_store is filled by one thread and then read by all workers: nothing in it changes
/// any more. A certificate costs 64 bytes and its file's name; a folder's name is kept once.
///
/// The main thread owns it. Its borrowers (certificate_set, certificate_supply, contexts) must
/// end before it.
class certificate_store
{
public:
    using number = std::uint32_t;

    /// working_folder is where relative paths begin: a daemon changes its own.
    explicit certificate_store(std::string working_folder)
        : working_folder_{std::move(working_folder)}
    {
    }

    /// add returns the number of the new certificate: one more than that of the one before.
    number add(certificate_paths const& paths, certificate_summary const& summary);

    /// shrink frees what only a later add would need.
    void shrink();

    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
    [[nodiscard]] certificate_summary const& summary(number certificate) const noexcept
    {
        return entries_[certificate].summary;
    }

    /// paths are those that add took.
    [[nodiscard]] certificate_paths paths(number certificate) const;

    /// origin names the files for a message: "site.pem", or "site.pem with site.key".
    [[nodiscard]] std::string origin(number certificate) const;

    [[nodiscard]] std::string const& working_folder() const noexcept { return working_folder_; }

private:
    static constexpr std::uint32_t none = UINT32_MAX;

    struct place
    {
        std::uint32_t folder = none; // none: there is no file.
        text_arena::offset name = 0;
    };
    struct entry
    {
        certificate_summary summary;
        place chain;
        place key;
    };

    [[nodiscard]] place keep(std::string_view path);
    [[nodiscard]] std::uint32_t keep_folder(std::string_view folder);
    [[nodiscard]] std::string path(place const& kept) const;

    std::string working_folder_;
    std::vector<entry> entries_;
    std::vector<std::string> folders_;                              // With the slash at the end.
    std::unordered_map<std::string, std::uint32_t> folder_numbers_; // Empty after shrink.
    text_arena names_;
};

/// origin_of is certificate_store::origin for paths.
[[nodiscard]] std::string origin_of(certificate_paths const& paths);

} // namespace cleat::tls
