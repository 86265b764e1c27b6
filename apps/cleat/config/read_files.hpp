// read_files: every file and folder that a configuration names for reading. A start, a reload, the
// watch, the process that opens root's files and the sandbox take the same ones.

#pragma once

#include "config/config.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cleat::app {

/// file_use is what a file is read for.
enum class file_use
{
    configuration, ///< The file with the settings. Not standard input.
    certificate,   ///< A certificate, a key, or an OCSP response.
    verification,  ///< Authorities and rules for certificates of clients.
    crls,          ///< A list of revoked certificates of clients, or a folder of such files.
    ticket_secret,
    address_list,
    upstream_tls, ///< Authorities, a certificate and a key for TLS to an upstream.
    pem_dir,      ///< A folder of certificates.
    challenges,   ///< The folder of acme-challenges.
};

/// read_file is one of them, and its place in the configuration.
struct read_file
{
    file_use use;
    location where;
    std::string_view key;
    std::string path; ///< As it is written: it may be relative. Never empty.
};

/// read_files_of has all of them, those of frontends and routes too. The keys are texts that live
/// as long as the program.
[[nodiscard]] std::vector<read_file> read_files_of(config const& settings);

} // namespace cleat::app
