// certificate_catalog: the store of a configuration with many certificates, and the set of each
// frontend.

#pragma once

#include "certificate_files.hpp"
#include "config/problem_list.hpp"

#include <cleat/tls/store/certificate_scan.hpp>
#include <cleat/tls/store/certificate_set.hpp>
#include <cleat/tls/store/certificate_store.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace cleat::app {

/// certificate_catalog is read-only once it is filled. Frontends without a certificate of their own
/// share a set.
struct certificate_catalog
{
    std::unique_ptr<tls::certificate_store> store;
    std::vector<std::unique_ptr<tls::certificate_set>> sets;
};

/// set_plan is which certificates a set has: the shared ones, or none of them, and then a
/// frontend's own.
struct set_plan
{
    bool with_shared = true;
    certificate_files::names own;
};

/// scan_observer sees each certificate that is read for a catalog, with its description.
using scan_observer =
    std::function<void(tls::certificate_paths const& paths, tls::scanned_certificate const& found)>;

/// fill_catalog reads every certificate, the shared ones once, with all CPUs; and makes a set for
/// each plan. A file that cannot be used is an error. On a terminal a line of standard error shows
/// the progress when it takes longer than a second.
[[nodiscard]] certificate_catalog fill_catalog(
    certificate_files::names const& shared, std::vector<set_plan> const& plans,
    problem_list& problems, scan_observer const& observer = {});

} // namespace cleat::app
