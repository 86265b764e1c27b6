// A catalog that follows another one with the same layout begins as its copy, and shares with it
// what stays the same.

#include "certificates/certificate_catalog.hpp"
#include "config/route_settings.hpp"
#include "system/progress_line.hpp"

#include <cleat/core/steady_yield.hpp>
#include <cleat/net/worker_pool.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <utility>

namespace cleat::app {
namespace {

using number = tls::certificate_store::number;

// Sources of frontends' own certificates: a range for each set.
constexpr unsigned own_sources_bits = 20;

tls::certificate_source_number own_source(std::size_t set, std::size_t place) noexcept
{
    return static_cast<tls::certificate_source_number>(((set + 1) << own_sources_bits) + place);
}

// begin makes the store and the sets of `made`: copies of the catalog before, or empty where there
// is none.
void begin(certificate_catalog& made, certificate_catalog const* before, file_opener const& opener)
{
    using store = tls::certificate_store;
    using set = tls::certificate_set;
    bool const copies = before != nullptr;
    made.store = copies ? std::make_unique<store>(*before->store)
                        : std::make_unique<store>(std::filesystem::current_path().string(), opener);
    made.shared = copies ? std::make_unique<set>(*before->shared, *made.store, nullptr)
                         : std::make_unique<set>(*made.store);
    for (std::size_t i = 0; i < made.layout.own.size(); ++i) {
        set const* const below = made.layout.own[i].with_shared ? made.shared.get() : nullptr;
        made.own.push_back(
            copies ? std::make_unique<set>(*before->own[i], *made.store, below)
                   : std::make_unique<set>(*made.store, below));
    }
}

void report_warnings(
    named_certificate const& file, tls::scanned_certificate const& found, problem_list& problems)
{
    for (std::string const& warning : found.warnings)
        problems.warning(*file.where, std::string{file.key}, warning);
    for (std::string const& warning : found.response_warnings)
        problems.warning(*file.ocsp_where, "ocsp-resp-file", warning);
}

void report_error(
    named_certificate const& file, tls::scanned_certificate const& found, problem_list& problems)
{
    bool const is_response = found.is_bad_response;
    problems.error(
        is_response ? *file.ocsp_where : *file.where,
        is_response ? "ocsp-resp-file" : std::string{file.key}, found.error,
        std::string{found.cure});
}

class catalog_maker
{
public:
    catalog_maker(catalog_layout layout, catalog_sources const& sources, problem_list& problems)
        : sources_{sources}, problems_{problems}
    {
        made_.layout = std::move(layout);
        follows_ = follows();
        begin(made_, follows_ ? sources.before : nullptr, sources.opener);
        append(sources.shared, std::nullopt);
        for (std::size_t i = 0; i < sources.own.size(); ++i)
            append(sources.own[i], i);
    }

    certificate_catalog make()
    {
        seen_.resize(made_.store->number_end());
        scan();
        if (problems_.has_errors())
            return std::move(made_);
        remove_the_others();
        choose_defaults();
        made_.store->seal();
        made_.shared->seal();
        for (std::unique_ptr<tls::certificate_set> const& each : made_.own)
            each->seal();
        if (follows_)
            made_.changes = std::move(changes_);
        made_.is_complete = true;
        return std::move(made_);
    }

private:
    struct wanted
    {
        named_certificate const* file;
        tls::certificate_source_number source;
        std::optional<std::size_t> own; // The set; nothing: the shared one.
        number found = tls::certificate_store::none;
    };

    [[nodiscard]] bool follows() const noexcept
    {
        return sources_.before != nullptr && sources_.before->store != nullptr &&
               sources_.before->layout == made_.layout;
    }

    void append(certificate_files::names const& more, std::optional<std::size_t> own)
    {
        steady_yield others_first;
        wanted_.reserve(wanted_.size() + more.size());
        for (std::size_t i = 0; i < more.size(); ++i, others_first.count_step()) {
            wanted next{&more[i], own ? own_source(*own, i) : more[i].source, own};
            if (follows_)
                next.found = find_known(next);
            wanted_.push_back(next);
        }
    }

    // Another file may be the default certificate now.
    number find_known(wanted const& item)
    {
        tls::certificate_paths const& paths = item.file->paths;
        number const found = made_.store->find(paths, item.source);
        bool const has_moved = item.source == 0 || item.source == default_source;
        if (found != tls::certificate_store::none || !has_moved)
            return found;
        number const moved = made_.store->find(paths, item.source == 0 ? default_source : 0);
        if (moved != tls::certificate_store::none) {
            set_of(item).remove(moved);
            made_.store->set_source(moved, item.source);
            set_of(item).add(moved, {});
        }
        return moved;
    }

    void scan()
    {
        progress_line progress{"certificates read", wanted_.size()};
        tls::scan_handlers handlers{
            .found = [&](std::size_t index,
                         tls::scanned_certificate const& found) { take(index, found); },
            .progress = [&](std::size_t read) { progress.show(read); },
            .with_facts = static_cast<bool>(sources_.observer),
            .opener = made_.store->opener()};
        if (!sources_.observer && (follows_ || sources_.memory))
            handlers.recall = [this](
                                  std::size_t index, tls::certificate_stamps const& stamps,
                                  tls::scanned_certificate& found) {
                return recall(index, stamps, found);
            };
        handlers.others_stamps = sources_.others_stamps;
        tls::scan_list const list{
            .count = wanted_.size(),
            .paths = [this](std::size_t index) -> tls::certificate_paths const& {
                return wanted_[index].file->paths;
            }};
        tls::scan_certificates(list, net::worker_count(0), handlers);
    }

    // On any thread. The catalog before does not change.
    [[nodiscard]] bool recall(
        std::size_t index, tls::certificate_stamps const& stamps,
        tls::scanned_certificate& found) const
    {
        number const same = wanted_[index].found;
        if (same != tls::certificate_store::none) {
            found.is_unchanged = sources_.before->store->stamps(same) == stamps;
            return found.is_unchanged;
        }
        return sources_.memory && sources_.memory(wanted_[index].file->paths, stamps, found);
    }

    void take(std::size_t index, tls::scanned_certificate const& found)
    {
        wanted const& item = wanted_[index];
        if (item.found != tls::certificate_store::none)
            seen_[item.found] = true;
        if (found.is_unchanged)
            return;
        if (!found.is_recalled && item.file->paths.ocsp_response.empty())
            ++made_.unremembered;
        if (sources_.observer)
            sources_.observer(item.file->paths, found);
        report_warnings(*item.file, found, problems_);
        if (!found.error.empty())
            return may_skip(item) ? skip(item, found) : report_error(*item.file, found, problems_);
        number const kept = keep(item, found);
        if (!found.has_warnings() && !found.stamps.is_known() && !item.own)
            made_.without_stamps.push_back(kept);
    }

    // Something must serve as the default certificate.
    [[nodiscard]] bool may_skip(wanted const& item) const noexcept
    {
        bool const is_in_folder =
            item.source == default_source || item.source < made_.layout.folders.size();
        bool const is_new_default =
            item.source == default_source && item.found == tls::certificate_store::none;
        return sources_.skip_broken && follows_ && !item.own && is_in_folder && !is_new_default;
    }

    // The file's certificate from before stays. Each reload looks at the file again.
    void skip(wanted const& item, tls::scanned_certificate const& found)
    {
        problems_.warning(
            *item.file->where, std::string{item.file->key}, found.error + ": skipped",
            std::string{found.cure});
        ++changes_.skipped;
        if (item.found == tls::certificate_store::none)
            return;
        made_.store->set_stamps(item.found, {});
        made_.without_stamps.push_back(item.found);
    }

    number keep(wanted const& item, tls::scanned_certificate const& found)
    {
        if (item.found == tls::certificate_store::none)
            return add(item, found);
        if (made_.store->summary(item.found).digest == found.summary.digest) {
            made_.store->set_stamps(item.found, found.lasting_stamps());
            return item.found;
        }
        bool const has_other_type = made_.store->summary(item.found).type != found.summary.type;
        set_of(item).remove(item.found);
        made_.store->replace(
            item.found, found.summary, found.names, found.lasting_stamps(), found.response_digest);
        add_to_set(item, item.found, has_other_type);
        ++changes_.changed;
        return item.found;
    }

    number add(wanted const& item, tls::scanned_certificate const& found)
    {
        number const added = made_.store->add(
            {item.file->paths, item.source, found.summary, found.names, found.lasting_stamps(),
             found.response_digest});
        if (seen_.size() <= added)
            seen_.resize(added + std::size_t{1});
        seen_[added] = true;
        add_to_set(item, added, false);
        ++changes_.added;
        return added;
    }

    void add_to_set(wanted const& item, number added, bool has_other_type)
    {
        set_of(item).add(added, [&](std::string_view name, number replaced, number used) {
            problems_.warning(
                {}, "",
                tls::shared_name_warning(
                    made_.store->origin(replaced), made_.store->origin(used), name));
        });
        if (follows_)
            changes_.entries.push_back({&set_of(item), added, has_other_type});
    }

    [[nodiscard]] tls::certificate_set& set_of(wanted const& item) const noexcept
    {
        return item.own ? *made_.own[*item.own] : *made_.shared;
    }

    // Frontends' own certificates are all there, because the layout is the same.
    void remove_the_others()
    {
        if (!follows_ || sources_.is_partial)
            return;
        sources_.before->store->for_each([&](number each) {
            if (seen_[each])
                return;
            made_.shared->remove(each);
            made_.store->remove(each);
            ++changes_.removed;
            ++made_.unremembered;
        });
    }

    // The last one of each list.
    void choose_defaults()
    {
        if (sources_.is_partial)
            made_.default_certificate = sources_.before->default_certificate;
        else if (!sources_.shared.empty())
            made_.default_certificate =
                made_.store->find(sources_.shared.back().paths, sources_.shared.back().source);
        if (made_.default_certificate != tls::certificate_store::none)
            made_.shared->set_default(made_.default_certificate);
        for (std::size_t i = 0; i < sources_.own.size(); ++i)
            made_.own[i]->set_default(made_.store->find(
                sources_.own[i].back().paths, own_source(i, sources_.own[i].size() - 1)));
    }

    catalog_sources const& sources_;
    problem_list& problems_;
    certificate_catalog made_;
    catalog_changes changes_;
    bool follows_ = false;
    std::vector<wanted> wanted_;
    std::vector<bool> seen_; // By number.
};

} // namespace

certificate_catalog fill_catalog(
    catalog_layout layout, catalog_sources const& sources, problem_list& problems)
{
    return catalog_maker{std::move(layout), sources, problems}.make();
}

certificate_memory memory_of(certificate_catalog const& catalog)
{
    return [store = catalog.store.get()](
               tls::certificate_paths const& paths, tls::certificate_stamps const& stamps,
               tls::scanned_certificate& found) {
        for (number const each : store->with_file(paths.chain)) {
            if (store->stamps(each) != stamps || store->paths(each) != paths)
                continue;
            found.summary = store->summary(each);
            found.response_digest = store->response_digest(each);
            store->for_each_name(
                each, [&](std::string_view name) { found.names.emplace_back(name); });
            return true;
        }
        return false;
    };
}

catalog_layout layout_of(config const& settings)
{
    auto const files_of = [](std::vector<pem_file> const& pems) {
        std::vector<tls::certificate_paths> files;
        for (pem_file const& each : pems)
            files.push_back({*each.cert, *each.private_key, *each.ocsp_resp_file});
        return files;
    };
    catalog_layout layout;
    for (setting<std::string> const& each : settings.pem_dirs)
        layout.folders.push_back(*each);
    layout.glob = *settings.pem_dir_glob;
    layout.is_recursive = *settings.pem_dir_recursive;
    layout.files = files_of(settings.pem_files);
    for (own_certificates const& each : own_certificates_of(settings))
        layout.own.push_back({each.with_global, files_of(*each.files)});
    return layout;
}

} // namespace cleat::app
