// certificate_store_spec: which files a server's certificates are in, where there are too many to
// keep them all loaded.
//
//     net::server_spec spec;
//     spec.tls.certificate_store = {.folders = {{.path = "/etc/sites", .recursive = true}}};
//     net::server server{std::move(spec), handler};

#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::tls {

/// certificate_folder is a folder of PEM files. Each has one certificate, then its intermediates,
/// and its key. Files and folders whose names begin with a dot do not count.
struct certificate_folder
{
    /// The folder.
    std::string path;
    std::string glob{};     ///< The files that count, as fnmatch(3) has it: "*.pem". Empty: all.
    bool recursive = false; ///< With subfolders, except those behind links.
};

/// certificate_file is one certificate in files of its own.
struct certificate_file
{
    std::string chain;         ///< PEM: the certificate, then its intermediates.
    std::string private_key{}; ///< PEM. Empty: the key is in the chain's file.
};

/// certificate_store_spec is the certificates of a net::server, which loads each of them when a
/// client first asks for it: see context_spec::certificate_store.
///
/// The server's constructor reads every file, with as many threads as there are CPUs, and lets the
/// TLS library accept its certificate. It keeps the names of the files, digests, and the names in
/// the certificates, some 300 bytes each for all workers together, and no key. A file that cannot
/// be used is a spec_error, which names it.
///
/// A handshake for a certificate that its worker has not loaded waits, until
/// server_spec::handshake_timeout at the latest, while a thread of the server's own reads the
/// files. Where they cannot be used, or are not what they were, the client gets the alert
/// internal_error, and server_spec::on_failure error::certificate_unavailable with the file's name.
/// Workers do not read files. The end of the server waits for the file that is being read.
///
/// server::reload with a store looks at every file, and reads those that have changed. Up to 1000
/// changed certificates are tried out with handshakes in memory. Certificates that stay the same
/// stay loaded.
///
/// Of several certificates with the same name a client gets one of the first type of key that it
/// can verify; with the same type, that of the later file: the folders in their order, each
/// sorted by path, then `files`. The last of `files` is the default, for clients whose SNI is
/// missing or unknown; without `files` it is the first file of the first folder.
///
/// Relative paths begin in the folder that is the process's own during the constructor, or reload.
struct certificate_store_spec
{
    /// The certificates, in folders and in files of their own.
    std::vector<certificate_folder> folders{};
    std::vector<certificate_file> files{};

    /// How many certificates each worker keeps loaded, with their keys. It drops the least recently
    /// used one, and wipes its key. At least 1; the default certificate is loaded besides.
    std::size_t cache = 1000;

    /// A reload leaves out a folder's file that cannot be used, instead of being refused. The
    /// certificate that the file had before stays known, and workers that have loaded it serve it.
    /// A server's constructor is strict all the same.
    bool skip_broken = false;

    /// Called for each finding that does not prevent service, in one sentence: an expired
    /// certificate, a name that two certificates answer to, a file that is skipped. On the thread
    /// of the server's constructor, or of reload. An exception ends these. Empty: findings are
    /// dropped.
    std::function<void(std::string_view finding)> on_warning{};
};

} // namespace cleat::tls
