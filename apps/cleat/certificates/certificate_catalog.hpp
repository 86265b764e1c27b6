// certificate_catalog: the store of a configuration with many certificates, and the certificates of
// each frontend in it.

#pragma once

#include "certificates/certificate_files.hpp"
#include "config/problem_list.hpp"

#include <cleat/tls/store/certificate_scan.hpp>
#include <cleat/tls/store/certificate_set.hpp>
#include <cleat/tls/store/certificate_store.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cleat::app {

/// catalog_layout is the settings that name the certificates of a catalog. In two catalogs with the
/// same layout a file has the same place.
struct catalog_layout
{
    struct own_set
    {
        bool with_shared = true; ///< The shared certificates serve names that its own do not.
        std::vector<tls::certificate_paths> files{};
        friend bool operator==(own_set const&, own_set const&) = default;
    };

    std::vector<std::string> folders{}; ///< Those of pem-dir.
    std::string glob{};
    bool is_recursive = false;
    std::vector<tls::certificate_paths> files{}; ///< The global pem-files.
    std::vector<own_set> own{};
    friend bool operator==(catalog_layout const&, catalog_layout const&) = default;
};

/// catalog_changes are the differences from the catalog before.
struct catalog_changes
{
    struct entry
    {
        tls::certificate_set const* set;
        tls::certificate_store::number certificate;
        bool has_other_type; ///< Of key than the certificate that it replaces.
    };

    std::size_t added = 0;
    std::size_t removed = 0;
    std::size_t changed = 0;
    std::size_t skipped = 0;      ///< Files that cannot be used: see pem-dir-skip-broken.
    std::vector<entry> entries{}; ///< Those added or changed.
};

/// certificate_catalog is read-only once it is filled.
struct certificate_catalog
{
    catalog_layout layout;
    bool is_complete = false; ///< Else there was an error: do not serve it.
    std::unique_ptr<tls::certificate_store> store;
    std::unique_ptr<tls::certificate_set> shared; ///< Those of pem-dir and the global pem-files.
    std::vector<std::unique_ptr<tls::certificate_set>> own; ///< By their place in the layout.
    /// Of the shared ones; or none.
    tls::certificate_store::number default_certificate = tls::certificate_store::none;
    /// Those of pem-dirs that had changed too lately for a stamp: a later reload looks again.
    std::vector<tls::certificate_store::number> without_stamps{};
    std::size_t unremembered = 0; ///< Certificates that were read or removed since the index.
    /// From the catalog before, where it has the same layout.
    std::optional<catalog_changes> changes{};
};

/// scan_observer sees each certificate that is read for a catalog, with its description.
using scan_observer =
    std::function<void(tls::certificate_paths const& paths, tls::scanned_certificate const& found)>;

/// certificate_memory knows certificates that were read earlier: it sets `found` to the content
/// that the files had when they had these stamps. False: it does not know the certificate. Any
/// thread.
using certificate_memory = std::function<bool(
    tls::certificate_paths const& paths, tls::certificate_stamps const& stamps,
    tls::scanned_certificate& found)>;

/// catalog_sources is what a catalog is made from.
struct catalog_sources
{
    certificate_files::names const& shared; ///< As find_shared, or find_changed, has them.
    std::vector<certificate_files::names> const& own; ///< By their place in the layout.
    /// Null: there is none, so every certificate is read. With the same layout only changed
    /// certificates are read; for the others the stamps of their files are compared.
    certificate_catalog const* before = nullptr;
    /// `shared` is find_changed's: all other files are as they were before.
    bool is_partial = false;
    /// A pem-dir's file that cannot be used is a warning where `before` has the same layout.
    bool skip_broken = false;
    certificate_memory const& memory;
    scan_observer const& observer;
    /// See tls::scan_handlers.
    std::function<tls::certificate_stamps(tls::certificate_paths const& paths)> others_stamps{};
    file_opener opener{}; ///< Opens what this process may not, also for the store later.
};

/// fill_catalog looks at every certificate with all CPUs, and reads those that are not known. A
/// file that cannot be used is an error, or is skipped. On a terminal a line of standard error
/// shows the progress when it takes longer than a second.
[[nodiscard]] certificate_catalog fill_catalog(
    catalog_layout layout, catalog_sources const& sources, problem_list& problems);

/// memory_of remembers a catalog with another layout.
[[nodiscard]] certificate_memory memory_of(certificate_catalog const& catalog);

/// layout_of is that of the settings. Frontends and routes without a
/// certificate of their own have no set.
[[nodiscard]] catalog_layout layout_of(config const& settings);

} // namespace cleat::app
