// certificate_store: every certificate that a configuration names, by files, digest, validity and
// names; no key and no PEM text. Not a public header.

#pragma once

#include <cleat/core/file_opener.hpp>
#include <cleat/tls/certificates/key_type.hpp>
#include <cleat/tls/store/file_text.hpp>
#include <cleat/tls/store/host_name.hpp>
#include <cleat/tls/store/number_table.hpp>
#include <cleat/tls/store/shared_blocks.hpp>
#include <cleat/tls/store/text_arena.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::tls {

/// certificate_paths is the files of one certificate.
struct certificate_paths
{
    std::string chain;           ///< The certificate, then its intermediates.
    std::string private_key;     ///< Empty: the key is in the file of the chain.
    std::string ocsp_response{}; ///< In DER. Empty: there is none.

    friend bool operator==(certificate_paths const&, certificate_paths const&) = default;
};

/// file_digest identifies the content of a certificate's files: 32 bytes of HKDF with SHA-256.
using file_digest = std::array<std::byte, 32>;

/// certificate_stamps are those of a certificate's files.
struct certificate_stamps
{
    file_stamp chain = 0;
    /// The same as the chain's where that file has the key. Where there is an OCSP response, it is
    /// that of the key and the response together.
    file_stamp private_key = 0;

    /// is_known: both are. Only then does equality mean that the files are the same.
    [[nodiscard]] bool is_known() const noexcept { return chain != 0 && private_key != 0; }
    friend bool operator==(certificate_stamps const&, certificate_stamps const&) = default;
};

/// certificate_summary is what a store keeps of a certificate, beside its files and names.
struct certificate_summary
{
    file_digest digest{};         ///< Of all files.
    std::int64_t valid_until = 0; ///< Seconds since 1970.
    std::uint32_t lifetime = 0;   ///< Seconds, as lifetime_of has them: at most 136 years.
    std::int32_t signature = 0;   ///< The algorithm of its signature, as a NID of the TLS library.
    std::uint16_t key_bits = 0;
    key_type type = key_type::rsa;
};

/// expected_files is a certificate's files, and what was in them when the store was filled.
struct expected_files
{
    certificate_paths paths;
    file_digest digest{};          ///< As in certificate_summary.
    file_digest response_digest{}; ///< Of the OCSP response, where there is one.
    key_type type = key_type::rsa;
    std::vector<std::string> names{}; ///< As name_key has them.
};

/// certificate_source_number says which setting names a certificate. Of two certificates with a
/// name and a type of key in common, the one of the higher source is used; with the same source,
/// that of the greater path.
using certificate_source_number = std::uint32_t;

/// new_certificate is one to add to a store.
struct new_certificate
{
    certificate_paths paths{};
    certificate_source_number source = 0;
    certificate_summary summary{};
    std::span<std::string const> names{}; ///< Usable ones: see is_usable_name.
    certificate_stamps stamps{};
    file_digest response_digest{}; ///< Where the paths have an OCSP response.
};

/// certificate_store is filled by one thread, sealed, and then read by all workers. A copy of it
/// can be changed; it shares what is the same (see shared_blocks). A certificate costs 104
/// bytes, its file's name and its names; a folder's name is kept once. One with an OCSP response
/// costs 44 bytes more, and that file's name.
///
/// Its borrowers (certificate_set, contexts) must end before it.
class certificate_store
{
public:
    using number = std::uint32_t;

    /// working_folder is where relative paths begin: a daemon changes its own. The opener opens
    /// files that this process may not open.
    explicit certificate_store(std::string working_folder, file_opener opener = {})
        : working_folder_{std::move(working_folder)}, opener_{std::move(opener)}
    {
    }
    explicit certificate_store(certificate_store const&) = default;
    certificate_store(certificate_store&&) = default;
    certificate_store& operator=(certificate_store&&) = delete;
    ~certificate_store() = default;

    /// add returns the number of the new certificate: one that is free, or one more than the
    /// highest. Throws std::length_error for a file's name that is longer than 255 bytes.
    number add(new_certificate const& added);

    /// replace changes everything but paths and source. Sets that have the certificate must have
    /// removed it, and add it anew.
    void replace(
        number certificate, certificate_summary const& summary, std::span<std::string const> names,
        certificate_stamps const& stamps, file_digest const& response_digest = {});
    void set_stamps(number certificate, certificate_stamps const& stamps);

    /// set_source: as for replace, no set has the certificate meanwhile.
    void set_source(number certificate, certificate_source_number source);

    /// remove makes the number free. No set has the certificate any more.
    void remove(number certificate);

    /// seal ends the changes.
    void seal();

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// number_end is higher than each certificate's number.
    [[nodiscard]] number number_end() const noexcept { return end_; }

    [[nodiscard]] certificate_summary const& summary(number certificate) const noexcept
    {
        return entry_of(certificate).summary;
    }
    [[nodiscard]] certificate_stamps const& stamps(number certificate) const noexcept
    {
        return entry_of(certificate).stamps;
    }
    [[nodiscard]] certificate_source_number source(number certificate) const noexcept
    {
        return entry_of(certificate).source;
    }

    /// paths are those that add took.
    [[nodiscard]] certificate_paths paths(number certificate) const;
    [[nodiscard]] expected_files expected(number certificate) const;

    [[nodiscard]] bool has_response(number certificate) const noexcept
    {
        return response_of(certificate) != nullptr;
    }

    /// response_digest is that of its OCSP response; zeros where it has none.
    [[nodiscard]] file_digest response_digest(number certificate) const noexcept;

    /// origin names the files for a message: "site.pem", or "site.pem with site.key".
    [[nodiscard]] std::string origin(number certificate) const;

    /// with_file is the certificates that have a file as chain or key, in any order. The path is
    /// one that add took.
    [[nodiscard]] std::vector<number> with_file(std::string_view path) const;

    /// find is the certificate with these files and this source, or none.
    static constexpr number none = UINT32_MAX;
    [[nodiscard]] number find(
        certificate_paths const& paths, certificate_source_number source) const;

    /// for_each_name calls use with each name, as name_key has it.
    template <class Use>
    void for_each_name(number certificate, Use use) const
    {
        block const& b = blocks_[certificate / block_size];
        entry const& e = b.entries[certificate % block_size];
        text_arena::offset name = e.names;
        for (std::uint32_t i = 0; i < e.name_count; ++i, name = b.texts.next(name))
            use(b.texts.at(name));
    }
    [[nodiscard]] bool has_name(number certificate, std::string_view key) const noexcept;

    /// is_later: of two certificates with a name and a type of key in common, the first is used.
    [[nodiscard]] bool is_later(number first, number second) const noexcept;

    /// for_each calls use with the number of each certificate.
    template <class Use>
    void for_each(Use use) const
    {
        for_each_ending_by(INT64_MAX, use);
    }

    /// for_each_ending_by calls use with those that expire by then, in seconds since 1970. Its cost
    /// is that of the certificates around them, not that of all.
    template <class Use>
    void for_each_ending_by(std::int64_t time, Use use) const
    {
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            std::vector<entry> const& entries = blocks_[b].entries;
            for (std::size_t i = 0; i < entries.size() && blocks_[b].soonest_end <= time; ++i)
                if (entries[i].is_used && entries[i].summary.valid_until <= time)
                    use(static_cast<number>(b * block_size + i));
        }
    }

    [[nodiscard]] std::string const& working_folder() const noexcept { return working_folder_; }
    [[nodiscard]] file_opener const& opener() const noexcept { return opener_; }

private:
    static constexpr std::size_t block_size = 128;
    static constexpr std::size_t folders_in_block = 128;
    static constexpr std::uint32_t no_folder = UINT32_MAX;

    struct place
    {
        std::uint32_t folder = no_folder; // no_folder: there is no file.
        text_arena::offset name = 0;
    };
    struct entry
    {
        certificate_summary summary;
        certificate_stamps stamps;
        place chain{};
        place key{};
        certificate_source_number source = 0;
        text_arena::offset names = 0;
        std::uint32_t name_count = 0;
        bool is_used = false;
    };
    struct response
    {
        number owner = 0;
        place file{};
        file_digest digest{};
    };
    struct block
    {
        std::vector<entry> entries;
        std::vector<response> responses; // Of few certificates, if any.
        text_arena texts;
        std::size_t garbage = 0;              // Bytes in texts that no entry uses.
        std::int64_t soonest_end = INT64_MAX; // Or earlier than that.
    };
    using folder_block = std::vector<std::string>; // Names with the slash at the end.

    [[nodiscard]] entry const& entry_of(number certificate) const noexcept
    {
        return blocks_[certificate / block_size].entries[certificate % block_size];
    }
    [[nodiscard]] entry& edit(number certificate)
    {
        return blocks_.edit(certificate / block_size).entries[certificate % block_size];
    }
    [[nodiscard]] response const* response_of(number certificate) const noexcept;
    // Of a block that may be changed, or not.
    template <class Responses>
    [[nodiscard]] static auto find_response(Responses& all, number certificate) noexcept
    {
        auto const found = std::ranges::find(all, certificate, &response::owner);
        return found == all.end() ? nullptr : &*found;
    }
    [[nodiscard]] number take_number();
    [[nodiscard]] place keep(block& target, std::string_view path);
    [[nodiscard]] std::uint32_t keep_folder(std::string_view folder);
    static void keep_names(block& target, entry& owner, std::span<std::string const> names);
    static void drop_names(block& target, entry& owner);
    static void tidy(block& changed);
    static void find_soonest_end(block& changed) noexcept;
    [[nodiscard]] std::string_view folder(place const& kept) const noexcept;
    [[nodiscard]] std::string path(block const& b, place const& kept) const;

    std::string working_folder_;
    file_opener opener_;
    shared_blocks<block> blocks_;
    std::size_t size_ = 0;
    number end_ = 0;
    std::vector<number> free_; // Numbers below end_ that no certificate has.
    shared_blocks<folder_block> folders_;
    std::uint32_t folder_count_ = 0;
    number_table folder_numbers_; // By the hash of the folder's name.
    number_table files_;          // Certificates by the hash of a file's path.
};

/// whole_path is the path of a file from anywhere; relative ones begin in the folder, unless that
/// is empty.
[[nodiscard]] std::string whole_path(std::string const& path, std::string const& folder);

/// origin_of is certificate_store::origin for paths.
[[nodiscard]] std::string origin_of(certificate_paths const& paths);

} // namespace cleat::tls
