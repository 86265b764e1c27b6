// certificate_files: the certificates, keys and authorities that the settings name, read into
// memory.

#pragma once

#include "config/config.hpp"
#include "config/problem_list.hpp"

#include <cleat/tls/context_spec.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cleat::app {

/// certificate_files reads each file once. A file that cannot be read is an error in `problems`.
/// The settings and the problems outlive it.
class certificate_files
{
public:
    using sources = std::vector<tls::certificate_source>;

    certificate_files(config const& settings, problem_list& problems)
        : settings_{settings}, problems_{problems}
    {
    }

    /// read_shared reads the files of pem-dir and the global pem-files, in this order: the last
    /// pem-file is the default certificate.
    [[nodiscard]] sources read_shared();

    /// read_certificate appends a certificate to `found`.
    void read_certificate(pem_file const& pem, sources& found);

    /// read_text is the text of a file that is named at `where`; empty where it cannot be read.
    [[nodiscard]] std::optional<std::string> read_text(
        location const& where, std::string const& key, std::string const& path);

    /// locations says where each certificate was named, by its certificate_source::origin.
    [[nodiscard]] std::map<std::string, location> const& locations() const noexcept
    {
        return locations_;
    }

private:
    void read_directory(sources& found);
    [[nodiscard]] std::optional<std::string> read_new_text(
        location const& where, std::string const& key, std::string const& path);

    config const& settings_;
    problem_list& problems_;
    std::map<std::string, location> locations_;
    std::map<std::string, std::optional<std::string>> texts_; // By path; empty: not readable.
};

} // namespace cleat::app
