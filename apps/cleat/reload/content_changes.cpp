#include "reload/content_changes.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace cleat::app {
namespace {

// A hash of each file's content, by its key and its name. Several frontends may have the same file,
// which is the same text.
using file_contents = std::map<std::string_view, std::map<std::string, std::size_t>>;

void note_file(
    file_contents& found, std::string_view key, std::string const& origin, std::string_view text,
    std::string const& holder = {})
{
    auto const [place, is_new] = found[key].try_emplace(holder + origin);
    if (is_new)
        place->second = std::hash<std::string_view>{}(text);
}

void note_rules(file_contents& found, client_check const& check, std::set<std::string> const& files)
{
    for (allow_rule const& rule : check.rules.all()) {
        // A rule of the configuration itself is no file's.
        if (!files.contains(rule.origin.substr(0, rule.origin.rfind(':'))))
            continue;
        std::string text;
        for (allow_condition const& each : rule.conditions)
            text.append(name_of(each.part)).append("=").append(each.text).append(" ");
        note_file(found, "client-allow-file", rule.origin, text);
    }
}

file_contents contents_of(snapshot const& configuration)
{
    file_contents found;
    std::set<std::string> allow_files;
    for (named_path const& each : client_allow_files_of(configuration.settings))
        allow_files.insert(**each.path);
    for (tls_plan const& plan : configuration.tls) {
        if (!plan.spec.verify_authorities.empty())
            note_file(
                found, "client-verify-ca", plan.spec.verify_origin, plan.spec.verify_authorities);
        for (auto const& [certificate, rule] : plan.client_rules)
            note_file(found, "client-verify-ca", rule.origin, rule.authorities);
        for (tls::crl_source const& each : plan.spec.verify_crls)
            note_file(found, "client-verify-crl", each.origin, each.text);
        if (plan.clients)
            note_rules(found, *plan.clients, allow_files);
    }
    for (upstream_plan const& upstream : configuration.upstreams) {
        if (!upstream.tls)
            continue;
        tls::context_spec const& spec = upstream.tls->spec;
        note_file(
            found, "upstream", spec.verify_origin, spec.verify_authorities, upstream.name + " ");
        for (tls::crl_source const& each : spec.verify_crls)
            note_file(found, "upstream", each.origin, each.text, upstream.name + " ");
        auto const* const digest = reinterpret_cast<char const*>(upstream.tls->certificate.data());
        for (tls::certificate_source const& each : spec.certificates)
            note_file(
                found, "upstream", each.origin, {digest, upstream.tls->certificate.size()},
                upstream.name + " ");
    }
    return found;
}

// Frontends share lists, and a list may have a million prefixes: each pair is compared once.
class list_comparison
{
public:
    bool is_changed(
        std::shared_ptr<address_list const> const& one,
        std::shared_ptr<address_list const> const& other)
    {
        if (one == nullptr || other == nullptr)
            return one != other;
        auto const [known, is_new] = compared_.try_emplace({one.get(), other.get()});
        if (is_new)
            known->second = !(*one == *other);
        return known->second;
    }

private:
    std::map<std::pair<address_list const*, address_list const*>, bool> compared_;
};

// Of the frontends that are in both.
void add_lists(std::set<std::string_view>& keys, snapshot const& before, snapshot const& after)
{
    static admission const none;
    auto const lists_of = [](frontend_plan const& plan) -> admission const& {
        return plan.admission ? *plan.admission : none;
    };
    std::map<std::string_view, admission const*> known;
    for (frontend_plan const& each : before.frontends)
        known.emplace(each.name, &lists_of(each));
    list_comparison lists;
    for (frontend_plan const& each : after.frontends) {
        auto const old = known.find(each.name);
        if (old == known.end())
            continue;
        if (lists.is_changed(old->second->proxies, lists_of(each).proxies))
            keys.insert("proxy-from");
        if (lists.is_changed(old->second->allowed, lists_of(each).allowed))
            keys.insert("allow-from");
        if (lists.is_changed(old->second->denied, lists_of(each).denied))
            keys.insert("deny-from");
    }
}

} // namespace

std::vector<std::string_view> changed_contents(snapshot const& before, snapshot const& after)
{
    file_contents const old = contents_of(before);
    file_contents const present = contents_of(after);
    std::set<std::string_view> keys;
    add_lists(keys, before, after);
    for (std::string_view const key :
         {"client-verify-ca", "client-verify-crl", "client-allow-file", "upstream"}) {
        auto const one = old.find(key);
        auto const other = present.find(key);
        bool const is_same = one == old.end() || other == present.end()
                                 ? (one == old.end()) == (other == present.end())
                                 : one->second == other->second;
        if (!is_same)
            keys.insert(key);
    }
    return {keys.begin(), keys.end()};
}

} // namespace cleat::app
