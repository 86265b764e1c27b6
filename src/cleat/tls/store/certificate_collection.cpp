#include <cleat/core/cpu_topology.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/store/certificate_collection.hpp>
#include <cleat/tls/store/certificate_proof.hpp>
#include <cleat/tls/store/certificate_scan.hpp>
#include <cleat/tls/store/folder_rule.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace cleat::tls {
namespace {

namespace fs = std::filesystem;

std::string absolute(std::string const& path)
{
    return fs::absolute(path).lexically_normal().string();
}

std::size_t cpu_count()
{
    result<cpu_topology> const machine = read_cpu_topology();
    return machine ? machine->workers_auto() : std::thread::hardware_concurrency();
}

/// folder_listing is the files of one certificate_folder, by path.
class folder_listing
{
public:
    folder_listing(certificate_folder const& folder, std::vector<std::string>& mistakes)
        : folder_{folder}, mistakes_{mistakes}
    {
    }

    [[nodiscard]] std::vector<std::string> list()
    {
        std::size_t const mistakes_before = mistakes_.size();
        left_.emplace_back(absolute(folder_.path));
        while (!left_.empty()) {
            fs::path const next = std::move(left_.back());
            left_.pop_back();
            add(next);
        }
        if (found_.empty() && mistakes_.size() == mistakes_before)
            mistakes_.push_back(fmt::format(
                "{} has no file that counts. Put PEM files there, or see "
                "certificate_folder::glob and recursive.",
                folder_.path));
        std::ranges::sort(found_);
        return std::move(found_);
    }

private:
    void add(fs::path const& folder)
    {
        std::error_code failed;
        fs::directory_iterator each{folder, failed};
        for (; !failed && each != fs::directory_iterator{}; each.increment(failed)) {
            std::string const name = each->path().filename().string();
            if (name.front() == '.')
                continue;
            std::error_code unknown; // A dead link, for example, is reported when it is read.
            if (!each->is_directory(unknown)) {
                if (is_certificate_name(name, folder_.glob))
                    found_.push_back(each->path().string());
            } else if (folder_.recursive && !each->is_symlink(unknown)) {
                left_.push_back(each->path());
            }
        }
        if (failed)
            mistakes_.push_back(fmt::format(
                "cannot read {}: {}. Check the path and who may read it.", folder.string(),
                failed.message()));
    }

    certificate_folder const& folder_;
    std::vector<std::string>& mistakes_;
    std::vector<fs::path> left_; // Folders to look at.
    std::vector<std::string> found_;
};

class collection_reader
{
public:
    collection_reader(
        certificate_store_spec const& spec, certificate_collection const* before,
        std::vector<std::string>& mistakes)
        : spec_{spec}
        , before_{before}
        , mistakes_{mistakes}
        , made_{
              before == nullptr ? std::make_shared<certificate_collection>()
                                : std::make_shared<certificate_collection>(*before)}
    {
    }

    [[nodiscard]] std::shared_ptr<certificate_collection const> read()
    {
        find_files();
        if (!mistakes_.empty())
            return nullptr;
        remove_the_others(); // First: a file that has moved shares its names with none.
        scan();
        if (!mistakes_.empty())
            return nullptr;
        made_->set.set_default(wanted_[default_].known);
        made_->store.seal();
        made_->set.seal();
        return made_;
    }

private:
    struct wanted
    {
        certificate_source_number source;
        bool is_in_folder;
        certificate_store::number known = certificate_store::none; // Its number in the store.
    };

    void find_files()
    {
        certificate_source_number source = 0;
        for (certificate_folder const& each : spec_.folders) {
            for (std::string& path : folder_listing{each, mistakes_}.list())
                want({std::move(path), {}}, {source, true});
            ++source;
        }
        for (certificate_file const& each : spec_.files)
            want(
                {absolute(each.chain),
                 each.private_key.empty() ? std::string{} : absolute(each.private_key)},
                {source++, false});
        if (wanted_.empty() && mistakes_.empty())
            mistakes_.emplace_back(
                "certificate_store: it has neither folders nor files. Name one of them.");
        default_ = spec_.files.empty() ? 0 : wanted_.size() - 1;
    }

    void want(certificate_paths paths, wanted item)
    {
        item.known = made_->store.find(paths, item.source);
        paths_.push_back(std::move(paths));
        wanted_.push_back(item);
    }

    void scan()
    {
        scan_handlers handlers{
            .found = [&](std::size_t index,
                         scanned_certificate const& found) { take(index, found); },
            .progress = {}};
        if (before_ != nullptr)
            handlers.recall = [this](
                                  std::size_t index, certificate_stamps const& stamps,
                                  scanned_certificate& found) {
                return recall(index, stamps, found);
            };
        scan_list const list{
            .count = paths_.size(), .paths = [this](std::size_t index) -> certificate_paths const& {
                return paths_[index];
            }};
        scan_certificates(list, cpu_count(), handlers);
    }

    // On any thread. The collection before does not change.
    [[nodiscard]] bool recall(
        std::size_t index, certificate_stamps const& stamps, scanned_certificate& found) const
    {
        certificate_store const& store = before_->store;
        if (certificate_store::number const known = wanted_[index].known;
            known != certificate_store::none) {
            found.is_unchanged = store.stamps(known) == stamps;
            return found.is_unchanged;
        }
        // Another folder in front of its own has given it another source.
        for (certificate_store::number const each : store.with_file(paths_[index].chain)) {
            if (store.stamps(each) != stamps || store.paths(each) != paths_[index])
                continue;
            found.summary = store.summary(each);
            store.for_each_name(
                each, [&](std::string_view name) { found.names.emplace_back(name); });
            return true;
        }
        return false;
    }

    void take(std::size_t index, scanned_certificate const& found)
    {
        wanted const& item = wanted_[index];
        if (found.is_unchanged)
            return;
        if (!found.is_recalled)
            ++made_->read;
        for (std::string const& warning : found.warnings)
            warn(warning);
        if (found.error.empty())
            return keep(index, found);
        std::string sentence = found.error;
        if (!found.cure.empty())
            sentence.append(". ").append(found.cure);
        if (may_skip(index))
            skip(item, sentence);
        else
            mistakes_.push_back(std::move(sentence));
    }

    // A default certificate must be there.
    [[nodiscard]] bool may_skip(std::size_t index) const noexcept
    {
        wanted const& item = wanted_[index];
        return spec_.skip_broken && before_ != nullptr && item.is_in_folder &&
               (index != default_ || item.known != certificate_store::none);
    }

    // Each reload looks at the file again.
    void skip(wanted const& item, std::string const& sentence)
    {
        warn(fmt::format("skipped: {}", sentence));
        if (item.known != certificate_store::none)
            made_->store.set_stamps(item.known, {});
    }

    void keep(std::size_t index, scanned_certificate const& found)
    {
        wanted& item = wanted_[index];
        certificate_store& store = made_->store;
        certificate_stamps const stamps = found.lasting_stamps();
        bool const is_new = item.known == certificate_store::none;
        if (!is_new && store.summary(item.known).digest == found.summary.digest)
            return store.set_stamps(item.known, stamps);
        bool has_other_type = false;
        if (is_new) {
            item.known =
                store.add({paths_[index], item.source, found.summary, found.names, stamps});
        } else {
            has_other_type = store.summary(item.known).type != found.summary.type;
            made_->set.remove(item.known);
            store.replace(item.known, found.summary, found.names, stamps);
        }
        made_->set.add(item.known, [&](std::string_view name, auto replaced, auto used) {
            warn(shared_name_warning(store.origin(replaced), store.origin(used), name));
        });
        if (before_ != nullptr)
            made_->changes.push_back({item.known, has_other_type});
    }

    void remove_the_others()
    {
        if (before_ == nullptr)
            return;
        std::vector<bool> stays(before_->store.number_end());
        for (wanted const& each : wanted_)
            if (each.known != certificate_store::none)
                stays[each.known] = true;
        before_->store.for_each([&](certificate_store::number each) {
            if (stays[each])
                return;
            made_->set.remove(each);
            made_->store.remove(each);
        });
    }

    void warn(std::string_view finding) const
    {
        if (spec_.on_warning)
            spec_.on_warning(finding);
    }

    certificate_store_spec const& spec_;
    certificate_collection const* before_;
    std::vector<std::string>& mistakes_;
    std::shared_ptr<certificate_collection> made_;
    std::vector<certificate_paths> paths_;
    std::vector<wanted> wanted_; // In the order of paths_.
    std::size_t default_ = 0;    // In wanted_.
};

} // namespace

std::shared_ptr<certificate_collection const> read_collection(
    certificate_store_spec const& spec, certificate_collection const* before,
    std::vector<std::string>& mistakes)
{
    try {
        return collection_reader{spec, before, mistakes}.read();
    } catch (std::length_error const& too_long) { // A file's name, or all names.
        mistakes.push_back(fmt::format("certificate_store: {}", too_long.what()));
        return nullptr;
    }
}

std::shared_ptr<certificate_collection const> read_collection(
    context_spec const& server, certificate_collection const* before)
{
    std::vector<std::string> mistakes = find_store_mistakes(server);
    std::shared_ptr<certificate_collection const> made;
    if (mistakes.empty())
        made = read_collection(*server.certificate_store, before, mistakes);
    if (made == nullptr) {
        std::size_t const others = mistakes.size() - 1;
        throw spec_error{
            others == 0
                ? mistakes.front()
                : fmt::format(
                      "{} (and {} more: see tls::find_mistakes)", mistakes.front(), others)};
    }
    return made;
}

std::vector<std::string> find_store_mistakes(context_spec const& server)
{
    std::vector<std::string> mistakes;
    if (server.role != role::server)
        mistakes.emplace_back(
            "certificate_store: only a server has one. A client names its certificate in "
            "`certificates`.");
    if (!server.certificates.empty())
        mistakes.emplace_back(
            "certificate_store: `certificates` has some, too. Name the files of all in the store.");
    if (server.certificate_store->cache == 0)
        mistakes.emplace_back(
            "certificate_store: its cache is 0. A worker keeps at least 1 certificate loaded.");
    return mistakes;
}

void prove_changes(context_spec const& server, certificate_collection const& collection)
{
    if (collection.changes.empty())
        return;
    certificate_proof const proof{server};
    std::size_t const count = std::min(collection.changes.size(), limits::certificates_proved_max);
    for (std::size_t i = 0; i < count; ++i) {
        certificate_collection::change const& each = collection.changes[i];
        std::vector<std::string> warnings;
        bool const is_good = proof.try_out(collection.store, each.certificate, warnings);
        if (!is_good && each.has_other_type)
            throw spec_error{warnings.front()};
        for (std::string const& warning : warnings)
            if (server.certificate_store->on_warning)
                server.certificate_store->on_warning(warning);
    }
}

} // namespace cleat::tls
