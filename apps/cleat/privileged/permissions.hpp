// permissions: the files and ports that a configuration names.

#pragma once

#include "config/config.hpp"
#include "privileged/request.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace cleat::app {

/// permissions is what one configuration lets cleat have. Paths are compared as texts: the one that
/// the configuration has, and the one that cleat asks for. trusted_path checks where a path leads.
class permissions
{
public:
    /// folder is where relative paths begin.
    permissions(config const& settings, std::string const& folder);

    /// may_read: it is the configuration file, a certificate, a key, an OCSP response, authorities,
    /// or a file of a pem-dir, or of acme-challenges, that counts.
    [[nodiscard]] bool may_read(std::string_view path) const;

    /// names_below is how many of the path's last names are below a pem-dir, or acme-challenges, by
    /// which alone the path is allowed; 0 for a file that is named itself, and for these folders.
    [[nodiscard]] std::size_t names_below(std::string_view path) const;

    /// may_list: it is acme-challenges, a pem-dir, or with pem-dir-recursive a subfolder.
    [[nodiscard]] bool may_list(std::string_view path) const;

    /// may_log_to: it is log-filename, or the file of access-log.
    [[nodiscard]] bool may_log_to(std::string_view path) const;

    /// may_bind: a frontend, or the admin server, has the port and the address. A frontend with a
    /// host's name has every address, because asking for the name's addresses needs the network.
    [[nodiscard]] bool may_bind(bind_address const& address) const;

private:
    std::string folder_;
    std::unordered_set<std::string> files_;
    std::vector<std::string> pem_dirs_;
    std::vector<std::string> crls_; // Of client-verify-crl: files, and folders of files.
    std::string pem_dir_glob_;
    bool pem_dir_recursive_;
    std::string challenges_; // The folder of acme-challenges. Empty: none.
    std::unordered_set<std::string> logs_;
    std::vector<host_port> places_; // Of frontends, and of the admin server.
};

/// log_files_of is the files that the log and the access log go to, as they are written.
[[nodiscard]] std::vector<std::string> log_files_of(config const& settings);

/// absolute_path is a path from the folder, without "." and empty parts; ".." stays.
[[nodiscard]] std::string absolute_path(std::string const& folder, std::string_view path);

} // namespace cleat::app
