#include "certificates/certificate_files.hpp"
#include "config/problem_list.hpp"
#include "inspect/inventory.hpp"
#include "system/progress_line.hpp"

#include <cleat/net/worker_pool.hpp>
#include <cleat/tls/store/certificate_set.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

namespace cleat::app {
namespace {

constexpr std::size_t names_shown_max = 5; // Of the names that two certificates have in common.

using numbers = std::vector<std::uint32_t>;

// A configuration may name a file twice.
void keep_once(std::vector<std::size_t>& places)
{
    std::ranges::sort(places);
    auto const rest = std::ranges::unique(places);
    places.erase(rest.begin(), rest.end());
}

class inventory_maker
{
public:
    inventory_maker(
        config const& settings, inspected_files const& known, std::chrono::sys_seconds now)
        : settings_{settings}, known_{known}, now_{now}
    {
    }

    inventory make()
    {
        find();
        read();
        for (group const& each : groups_)
            serve(each);
        for (std::size_t i = 0; i < made_.certificates.size(); ++i) {
            inspected_certificate& each = made_.certificates[i];
            if (each.frontends.empty() && types_[i])
                each.findings.push_back(
                    {finding_kind::not_served, finding_grade::notice, "no frontend serves it"});
            std::ranges::stable_sort(each.findings, {}, &finding::grade);
            keep_once(each.frontends);
            keep_once(each.default_in);
        }
        return std::move(made_);
    }

    std::vector<inspected_certificate> examine()
    {
        find();
        read();
        return std::move(made_.certificates);
    }

private:
    // The certificates that serve together, and where.
    struct group
    {
        numbers certificates;
        std::vector<std::size_t> frontends;
    };

    numbers number(certificate_files::names const& files)
    {
        numbers found;
        for (named_certificate const& each : files) {
            auto const [place, is_new] = by_origin_.try_emplace(
                tls::origin_of(each.paths), static_cast<std::uint32_t>(paths_.size()));
            if (is_new) { // load reports an OCSP response that cannot be used.
                paths_.push_back({each.paths.chain, each.paths.private_key});
                namings_.push_back({*each.where, each.key});
            }
            found.push_back(place->second);
        }
        return found;
    }

    void find()
    {
        std::vector<problem> reported; // By load.
        problem_list problems{reported};
        opener const none; // With the rights of this process.
        certificate_files files{settings_, problems, none};
        numbers const shared = number(files.find_shared());
        group all{shared, {}};
        for (frontend_config const& each : settings_.frontends) {
            std::size_t const frontend = made_.frontends.size();
            made_.frontends.push_back(to_string(each.address()));
            if (takes_plaintext(settings_, each))
                continue;
            numbers const own = number(certificate_files::names_of(each.pem_files));
            if (own.empty() && each.uses_global_certs()) {
                all.frontends.push_back(frontend);
                continue;
            }
            group together{each.uses_global_certs() ? shared : numbers{}, {frontend}};
            together.certificates.insert(together.certificates.end(), own.begin(), own.end());
            groups_.push_back(std::move(together));
        }
        for (frontend_config const& each : settings_.frontends)
            for (route_config const& route : each.routes)
                find_of_route(each, route);
        groups_.push_back(std::move(all));
    }

    // A route with certificates of its own is a place like a frontend.
    void find_of_route(frontend_config const& frontend, route_config const& route)
    {
        if (route.settings == nullptr || route.settings->own.pem_files.empty())
            return;
        group found{
            number(certificate_files::names_of(route.settings->own.pem_files)),
            {made_.frontends.size()}};
        made_.frontends.push_back(fmt::format(
            "{} route {}:{}", to_string(frontend.address()), route.location.source,
            route.location.line));
        groups_.push_back(std::move(found));
    }

    void read()
    {
        made_.certificates.resize(paths_.size());
        types_.resize(paths_.size());
        std::vector<std::size_t> unread;
        for (std::size_t i = 0; i < paths_.size(); ++i) {
            auto const known = known_.find(tls::origin_of(paths_[i]));
            if (known != known_.end()) {
                note(i, known->second);
                continue;
            }
            unread.push_back(i);
        }
        progress_line progress{"certificates inspected", unread.size()};
        tls::scan_list const list{
            .count = unread.size(),
            .paths = [&](std::size_t index) -> tls::certificate_paths const& {
                return paths_[unread[index]];
            }};
        tls::scan_certificates(
            list, net::worker_count(0),
            {.found =
                 [&](std::size_t index, tls::scanned_certificate const& found) {
                     note(unread[index], inspected(found));
                 },
             .progress = [&](std::size_t count) { progress.show(count); },
             .with_facts = true});
    }

    void note(std::size_t number, inspected_file const& file)
    {
        inspected_certificate& each = made_.certificates[number];
        each.paths = paths_[number];
        each.where = namings_[number].where;
        each.key = namings_[number].key;
        each.facts = file.facts;
        each.findings = findings_of(file.facts, file.error, now_);
        types_[number] = file.type;
    }

    // As fill_catalog does it, with the same index of names.
    void serve(group const& together)
    {
        if (together.frontends.empty())
            return;
        tls::certificate_store store{{}};
        tls::certificate_set set{store};
        numbers by_place; // By the number in the store.
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::string>> replaced;
        for (std::uint32_t const number : together.certificates) {
            if (!types_[number])
                continue;
            inspected_certificate& each = made_.certificates[number];
            each.frontends.insert(
                each.frontends.end(), together.frontends.begin(), together.frontends.end());
            by_place.push_back(number);
            set.add(
                store.add({.summary = {.type = *types_[number]}, .names = each.facts->names}),
                [&](std::string_view name, std::uint32_t earlier, std::uint32_t used) {
                    if (by_place[earlier] != by_place[used]) // A file may be named twice.
                        replaced[{by_place[earlier], by_place[used]}].emplace_back(name);
                });
        }
        for (auto const& [pair, names] : replaced)
            note_duplicate(pair.first, pair.second, names);
        if (together.certificates.empty() || !types_[together.certificates.back()])
            return;
        set.set_default(static_cast<std::uint32_t>(by_place.size() - 1));
        for (tls::candidate const& each : set.defaults()) {
            std::vector<std::size_t>& places = made_.certificates[by_place[each.number]].default_in;
            places.insert(places.end(), together.frontends.begin(), together.frontends.end());
        }
    }

    void note_duplicate(
        std::uint32_t earlier, std::uint32_t later, std::vector<std::string> const& names)
    {
        std::span<std::string const> const shown =
            std::span{names}.first(std::min(names.size(), names_shown_max));
        std::string text = fmt::format(
            "{} has the same type of key and is used for {}", tls::origin_of(paths_[later]),
            fmt::join(shown, ", "));
        if (shown.size() < names.size())
            text += fmt::format(" and {} more names", names.size() - shown.size());
        std::vector<finding>& all = made_.certificates[earlier].findings;
        if (std::ranges::find(all, text, &finding::text) == all.end())
            all.push_back({finding_kind::duplicate_name, finding_grade::warning, std::move(text)});
    }

    config const& settings_;
    inspected_files const& known_;
    std::chrono::sys_seconds now_;
    inventory made_;
    std::vector<tls::certificate_paths> paths_; // By number.
    std::vector<naming> namings_;               // By number.
    std::unordered_map<std::string, std::uint32_t> by_origin_;
    std::vector<std::optional<tls::key_type>> types_; // By number; empty: it cannot be served.
    std::vector<group> groups_;
};

} // namespace

inspected_file inspected(tls::scanned_certificate const& found)
{
    // load reports an OCSP response that cannot be used.
    bool const is_good = found.error.empty() || found.is_bad_response;
    return {
        found.facts, is_good ? std::string{} : found.error,
        is_good ? std::optional{found.summary.type} : std::nullopt};
}

inventory take_inventory(
    config const& settings, inspected_files const& known, std::chrono::sys_seconds now)
{
    return inventory_maker{settings, known, now}.make();
}

std::vector<inspected_certificate> examine_certificates(
    config const& settings, inspected_files const& known, std::chrono::sys_seconds now)
{
    return inventory_maker{settings, known, now}.examine();
}

} // namespace cleat::app
