// certificate_loading: the certificates of a configuration: few as text, many as a catalog.

#pragma once

#include "certificates/certificate_catalog.hpp"
#include "certificates/certificate_files.hpp"
#include "config/config.hpp"
#include "config/problem_list.hpp"
#include "config/tls_scope.hpp"
#include "watch/watched_files.hpp"

#include <cleat/tls/store/certificate_index.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace cleat::app {

/// certificates_before is those of the configuration that another one follows.
struct certificates_before
{
    certificate_catalog const* catalog = nullptr; ///< Null: there is none.
    std::shared_ptr<watch_plan const> watched{};
    file_changes changed{}; ///< Since then.
};

/// counted_for_cache is the number of certificates that is compared with certificate-cache: each of
/// the `shared` ones counts once for each frontend that serves it. Each counts only once where one
/// of them has a rule for its clients, and with chroot: these need all certificates in memory.
[[nodiscard]] std::size_t counted_for_cache(config const& settings, std::size_t shared);

/// how_to_load_all says how to have all certificates of a store loaded at the start, instead of
/// while cleat serves.
[[nodiscard]] std::string how_to_load_all(
    config const& settings, tls::certificate_store const& store);

/// certificate_loading reads what has changed since the configuration before, and everything where
/// there is none. root_files opens what this process may not. All that it is made with outlives it.
class certificate_loading
{
public:
    certificate_loading(
        config const& settings, problem_list& problems, certificates_before before,
        scan_observer const& observer, opener const& root_files);

    /// run reads the certificates. With reload-on-change it first plans which files to watch.
    void run();

    /// assign gives a scope its certificates: a set of the catalog, or else null, and their
    /// texts in the spec. Call it for each frontend in their order, and then for those of the
    /// routes that have certificates of their own.
    [[nodiscard]] tls::certificate_set const* assign(
        tls_scope const& scope, tls::context_spec& spec);

    [[nodiscard]] certificate_files& files() noexcept { return files_; }
    [[nodiscard]] certificate_files const& files() const noexcept { return files_; }
    [[nodiscard]] bool has_catalog() const noexcept { return catalog_.store != nullptr; }
    [[nodiscard]] certificate_catalog const& catalog() const noexcept { return catalog_; }
    [[nodiscard]] certificate_catalog take_catalog() noexcept { return std::move(catalog_); }
    [[nodiscard]] std::shared_ptr<watch_plan const> const& watched() const noexcept
    {
        return watched_;
    }

private:
    [[nodiscard]] bool read_changes();
    void add_without_stamps(certificate_files::names& names) const;
    void read_all();
    void fill(catalog_layout layout, certificate_files::names const& shared, bool is_partial);
    void read_index();
    [[nodiscard]] certificate_memory memory();

    config const& settings_;
    problem_list& problems_;
    certificates_before before_;
    scan_observer const& observer_;
    opener const& root_files_;
    certificate_files files_;
    certificate_files::sources shared_; // Where there is no catalog.
    certificate_catalog catalog_;
    std::shared_ptr<watch_plan const> watched_;
    tls::certificate_index index_;
    std::size_t next_own_set_ = 0; // In the catalog.
};

} // namespace cleat::app
