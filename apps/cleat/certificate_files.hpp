// certificate_files: the files of certificates, keys and authorities that the settings name: which
// they are, and their text.

#pragma once

#include "config/config.hpp"
#include "config/problem_list.hpp"

#include <cleat/tls/context_spec.hpp>
#include <cleat/tls/store/certificate_store.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::app {

/// named_certificate is the files of a certificate, and where they were named; the settings own the
/// place.
struct named_certificate
{
    tls::certificate_paths paths;
    app::location const* where;
    setting<std::string> const* ocsp_resp_file = nullptr; ///< Null or empty: none.

    [[nodiscard]] bool has_ocsp_response() const noexcept
    {
        return ocsp_resp_file != nullptr && !(*ocsp_resp_file)->empty();
    }
};

/// naming is the setting that names a file.
struct naming
{
    app::location where;
    std::string_view key;
};

/// certificate_files reads each file once. A file or folder that cannot be read is an error in
/// `problems`. The settings and the problems outlive it.
class certificate_files
{
public:
    using sources = std::vector<tls::certificate_source>;
    using names = std::vector<named_certificate>;

    certificate_files(config const& settings, problem_list& problems)
        : settings_{settings}, problems_{problems}
    {
    }

    /// find_shared finds the files of every pem-dir and the global pem-files, in this order: the
    /// last one is the default certificate.
    [[nodiscard]] names find_shared();

    /// names_of is the files of these settings.
    [[nodiscard]] static names names_of(std::vector<pem_file> const& pems);

    /// read_certificates appends the certificates to `found`.
    void read_certificates(names const& wanted, sources& found);

    /// refuse_ocsp_responses reports the OCSP responses of certificates in a store: a worker that
    /// loads a certificate while it serves reads no response with it. `count` is the number of all
    /// certificates.
    void refuse_ocsp_responses(names const& all, std::size_t count);

    /// read_text is the text of a file that is named at `where`; empty where it cannot be read.
    [[nodiscard]] std::optional<std::string> read_text(
        location const& where, std::string const& key, std::string const& path);

    /// namings says where each certificate and OCSP response was named, by the origins in
    /// certificate_source.
    [[nodiscard]] std::map<std::string, naming> const& namings() const noexcept { return namings_; }

private:
    void read_ocsp_response(named_certificate const& wanted, tls::certificate_source& found);
    [[nodiscard]] std::vector<std::string> find_in_folder(setting<std::string> const& folder);
    void add_folder(
        setting<std::string> const& top, std::string const& folder, std::vector<std::string>& found,
        std::vector<std::string>& subfolders);

    config const& settings_;
    problem_list& problems_;
    std::map<std::string, naming> namings_;
    std::map<std::string, std::optional<std::string>> texts_; // By path; empty: not readable.
};

} // namespace cleat::app
