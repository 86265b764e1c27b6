#include "certificates/certificate_loading.hpp"
#include "config/route_settings.hpp"
#include "privileged/folder_listing.hpp"
#include "process/process.hpp"
#include "watch/file_watch.hpp"

#include <cleat/core/limits.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace cleat::app {

namespace {

// A rule that a certificate has for its clients, and files that a chroot hides, need all of them in
// memory.
bool needs_all(config const& settings)
{
    auto const has_rule = [](pem_file const& each) { return each.client_verify.has_value(); };
    return !settings.chroot->empty() || std::ranges::any_of(settings.pem_files, has_rule) ||
           std::ranges::any_of(own_certificates_of(settings), [&](own_certificates const& each) {
               return std::ranges::any_of(*each.files, has_rule);
           });
}

std::size_t count_own(config const& settings)
{
    std::size_t count = 0;
    for (own_certificates const& each : own_certificates_of(settings))
        count += each.files->size();
    return count;
}

} // namespace

std::size_t counted_for_cache(config const& settings, std::size_t shared)
{
    std::size_t const own = count_own(settings);
    if (needs_all(settings))
        return own + shared;
    auto const frontends =
        std::ranges::count_if(settings.frontends, [&](frontend_config const& each) {
            return !takes_plaintext(settings, each) && each.uses_global_certs();
        });
    return own + shared * static_cast<std::size_t>(frontends);
}

std::string how_to_load_all(config const& settings, tls::certificate_store const& store)
{
    std::size_t const own = std::min(count_own(settings), store.size()); // Some may be broken.
    std::size_t const count = counted_for_cache(settings, store.size() - own);
    std::string text;
    if (count > static_cast<std::size_t>(*settings.certificate_cache))
        text = fmt::format("Set certificate-cache to at least {}", count);
    if (*settings.pem_dir_skip_broken)
        text += text.empty() ? "Turn pem-dir-skip-broken off" : " and turn pem-dir-skip-broken off";
    return text;
}

certificate_loading::certificate_loading(
    config const& settings, problem_list& problems, certificates_before before,
    scan_observer const& observer, opener const& root_files)
    : settings_{settings}
    , problems_{problems}
    , before_{std::move(before)}
    , observer_{observer}
    , root_files_{root_files}
    , files_{settings, problems, root_files}
{
}

void certificate_loading::run()
{
    if (*settings_.reload_on_change && read_changes())
        return;
    if (*settings_.reload_on_change) // Before the files are read: a later change is noticed.
        watched_ = std::make_shared<watch_plan const>(
            plan_watching(settings_, root_folders_of(root_files_)));
    read_all();
}

// Reads only the files that have changed. False: that is not enough, and all must be read.
bool certificate_loading::read_changes()
{
    file_changes const& changes = before_.changed;
    if (before_.catalog == nullptr || !changes.is_complete || changes.elsewhere)
        return false;
    tls::certificate_store const& store = *before_.catalog->store;
    tls::certificate_store::number const present_default = before_.catalog->default_certificate;
    std::shared_ptr<watch_plan const> const& watched = before_.watched;
    catalog_layout layout = layout_of(settings_);
    if (!watched || watched->has_links || layout != before_.catalog->layout ||
        present_default == tls::certificate_store::none)
        return false;
    std::optional<certificate_files::changed_names> changed =
        files_.find_changed(changes.in_folders, watched->pem_dirs, store.paths(present_default));
    if (!changed)
        return false;
    for (named_certificate const& gone : changed->gone)
        if (store.find(gone.paths, gone.source) != tls::certificate_store::none)
            return false; // Its folder may be empty now, which is an error.
    add_without_stamps(changed->found);
    watched_ = watched;
    fill(std::move(layout), changed->found, true);
    return true;
}

// Adds files that had changed too lately for a stamp at the last reload. A file may be among the
// changed ones already.
void certificate_loading::add_without_stamps(certificate_files::names& names) const
{
    tls::certificate_store const& store = *before_.catalog->store;
    std::set<std::string> known;
    for (named_certificate const& each : names)
        known.insert(each.paths.chain);
    std::size_t left = limits::certificates_looked_at_again;
    for (tls::certificate_store::number const each : before_.catalog->without_stamps) {
        tls::certificate_source_number const source = store.source(each);
        std::size_t const folder = source == default_source ? 0 : source;
        named_certificate again{store.paths(each), nullptr, nullptr, source, "pem-dir"};
        if (folder >= settings_.pem_dirs.size() || left == 0 || known.contains(again.paths.chain))
            continue;
        --left;
        again.where = &settings_.pem_dirs[folder].location;
        names.push_back(std::move(again));
    }
}

// Few certificates are loaded now, and their text is kept; many get a catalog, and so do those of
// which a reload may keep some as they were.
void certificate_loading::read_all()
{
    certificate_files::names const shared = files_.find_shared();
    std::size_t const count = counted_for_cache(settings_, shared.size());
    if (count <= static_cast<std::size_t>(*settings_.certificate_cache) &&
        !*settings_.pem_dir_skip_broken)
        return files_.read_certificates(shared, shared_);

    if (before_.catalog == nullptr)
        read_index();
    fill(layout_of(settings_), shared, false);
}

void certificate_loading::read_index()
{
    std::string const& path = *settings_.certificate_index;
    if (path.empty())
        return;
    std::vector<problem> reported; // By others.
    std::optional<identity> const owner = find_identity(settings_, reported);
    std::string fault;
    index_ = tls::certificate_index::read(path, owner ? owner->uid : 0, fault);
    if (!fault.empty())
        problems_.warning(
            settings_.certificate_index.location, "certificate-index",
            fmt::format("{} is not used: {}; every certificate is read", path, fault));
}

certificate_memory certificate_loading::memory()
{
    if (before_.catalog != nullptr)
        return memory_of(*before_.catalog);
    if (index_.size() == 0)
        return {};
    return [this, folder = std::filesystem::current_path().string()](
               tls::certificate_paths const& paths, tls::certificate_stamps const& stamps,
               tls::scanned_certificate& found) {
        return index_.recall(paths, folder, stamps, found);
    };
}

void certificate_loading::fill(
    catalog_layout layout, certificate_files::names const& shared, bool is_partial)
{
    std::vector<certificate_files::names> own;
    for (own_certificates const& each : own_certificates_of(settings_))
        own.push_back(certificate_files::names_of(*each.files));
    certificate_memory const known = memory();
    catalog_ = fill_catalog(
        std::move(layout),
        {shared, own, before_.catalog, is_partial, *settings_.pem_dir_skip_broken, known, observer_,
         [this](tls::certificate_paths const& paths) { return files_.others_stamps(paths); },
         root_files_.for_files()},
        problems_);
}

tls::certificate_set const* certificate_loading::assign(
    tls_scope const& scope, tls::context_spec& spec)
{
    if (has_catalog())
        return scope.pem_files().empty() ? catalog_.shared.get()
                                         : catalog_.own[next_own_set_++].get();
    if (scope.uses_global_certs())
        spec.certificates = shared_;
    files_.read_certificates(certificate_files::names_of(scope.pem_files()), spec.certificates);
    return nullptr;
}

} // namespace cleat::app
