// certificate_files: the files of certificates, keys and authorities that the settings name: which
// they are, and their text.

#pragma once

#include "config/config.hpp"
#include "config/problem_list.hpp"

#include <cleat/tls/context_spec.hpp>
#include <cleat/tls/store/certificate_store.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cleat::app {

/// named_certificate is the files of a certificate, and where they were named; the settings own the
/// place.
struct named_certificate
{
    tls::certificate_paths paths;
    app::location const* where;
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

    /// read_text is the text of a file that is named at `where`; empty where it cannot be read.
    [[nodiscard]] std::optional<std::string> read_text(
        location const& where, std::string const& key, std::string const& path);

    /// locations says where each certificate was named, by its certificate_source::origin.
    [[nodiscard]] std::map<std::string, location> const& locations() const noexcept
    {
        return locations_;
    }

private:
    [[nodiscard]] std::vector<std::string> find_in_folder(setting<std::string> const& folder);
    void add_folder(
        setting<std::string> const& top, std::string const& folder, std::vector<std::string>& found,
        std::vector<std::string>& subfolders);

    config const& settings_;
    problem_list& problems_;
    std::map<std::string, location> locations_;
    std::map<std::string, std::optional<std::string>> texts_; // By path; empty: not readable.
};

} // namespace cleat::app
