// certificate_files: the files of certificates, keys and authorities that the settings name, and
// their text.

#pragma once

#include "config/config.hpp"
#include "config/problem_list.hpp"
#include "privileged/opener.hpp"

#include <cleat/tls/context_spec.hpp>
#include <cleat/tls/store/certificate_store.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cleat::app {

/// named_certificate is the files of a certificate, and where they were named; the settings own the
/// place.
struct named_certificate
{
    tls::certificate_paths paths;
    app::location const* where;
    app::location const* ocsp_where = nullptr; ///< Where there is an OCSP response.
    tls::certificate_source_number source = 0; ///< Of the shared ones: their order.
    std::string_view key = "pem-file";         ///< Or pem-dir.
};

/// default_source is the source of the default certificate where that is the first file of the
/// first pem-dir: it is ordered last. The other files of that folder have the source 0.
inline constexpr tls::certificate_source_number default_source = UINT32_MAX;

/// naming is the setting that names a file.
struct naming
{
    app::location where;
    std::string_view key;
};

/// certificate_files reads each file once. A file or folder that cannot be read is an error in
/// `problems`. root_files opens what this process may not. All of them outlive it.
class certificate_files
{
public:
    using sources = std::vector<tls::certificate_source>;
    using names = std::vector<named_certificate>;

    certificate_files(config const& settings, problem_list& problems, opener const& root_files)
        : settings_{settings}, problems_{problems}, root_files_{root_files}
    {
    }

    /// find_shared finds the files of every pem-dir and the global pem-files, in this order: the
    /// last one is the default certificate.
    [[nodiscard]] names find_shared();

    /// find_changed is what find_shared would find of these files, and the global pem-files, and
    /// those of them that are gone. Nothing: only find_shared can find out. `folders` are the
    /// pem-dirs' real paths, in their order. The default certificate stays the present one.
    struct changed_names
    {
        names found;
        names gone;
    };
    [[nodiscard]] std::optional<changed_names> find_changed(
        std::set<std::string> const& paths, std::vector<std::string> const& folders,
        tls::certificate_paths const& present_default) const;

    /// names_of is the files of these settings.
    [[nodiscard]] static names names_of(std::vector<pem_file> const& pems);

    /// read_certificates appends the certificates to `found`.
    void read_certificates(names const& wanted, sources& found);

    /// read_text is the text of a file that is named at `where`; empty where it cannot be read.
    [[nodiscard]] std::optional<tls::secret_text> read_text(
        location const& where, std::string const& key, std::string const& path);

    /// others_stamps are those of a pem-dir's file that find_shared has found, and at which this
    /// process may not look; unknown ones for any other. Any thread, while nothing is found.
    [[nodiscard]] tls::certificate_stamps others_stamps(tls::certificate_paths const& paths) const;

    /// namings says where each certificate and OCSP response was named, by the origins in
    /// certificate_source.
    [[nodiscard]] std::map<std::string, naming> const& namings() const noexcept { return namings_; }

private:
    void read_ocsp_response(named_certificate const& wanted, tls::certificate_source& found);
    [[nodiscard]] named_certificate in_folder(std::size_t folder, std::string path) const;
    [[nodiscard]] names find_global() const;
    [[nodiscard]] bool is_wanted_name(std::string const& name) const;
    [[nodiscard]] std::vector<std::string> find_in_folder(setting<std::string> const& folder);
    void add_folder(
        setting<std::string> const& top, std::string const& folder, std::vector<std::string>& found,
        std::vector<std::string>& subfolders);
    void ask_for_stamps(std::string const& folder, std::vector<std::string> const& file_names);

    config const& settings_;
    problem_list& problems_;
    opener const& root_files_;
    std::map<std::string, naming> namings_;
    std::map<std::string, std::optional<tls::secret_text>> texts_; // By path; empty: not readable.
    std::unordered_map<std::string, tls::file_stamp> stamps_;      // By path: the opener's.
};

} // namespace cleat::app
