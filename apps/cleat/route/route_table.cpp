#include "route/route_table.hpp"

#include <algorithm>
#include <array>

namespace cleat::app {
namespace {

constexpr std::size_t host_name_size_max = 253; // RFC 1035, section 2.3.4.

// A client's name as patterns have it. Empty: it is too long for any.
class lower_name
{
public:
    explicit lower_name(std::string_view name) noexcept
    {
        if (name.ends_with('.'))
            name.remove_suffix(1);
        if (name.size() > bytes_.size())
            return;
        for (char const c : name)
            bytes_[size_++] = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }

    [[nodiscard]] std::string_view text() const noexcept { return {bytes_.data(), size_}; }

    // The name without its first label; empty: it has one label.
    [[nodiscard]] std::string_view parent() const noexcept { return parent_of(text()); }

    [[nodiscard]] static std::string_view parent_of(std::string_view name) noexcept
    {
        std::size_t const dot = name.find('.');
        return dot == std::string_view::npos || dot == 0 ? std::string_view{}
                                                         : name.substr(dot + 1);
    }

private:
    std::array<char, host_name_size_max> bytes_; // NOLINT: the first size_
    std::size_t size_ = 0;
};

bool has_protocol(std::vector<std::string> const& protocols, std::string_view one) noexcept
{
    return std::ranges::find(protocols, one) != protocols.end();
}

// Whether the client offers one of them.
bool offers_any(
    std::span<unsigned char const> offered, std::vector<std::string> const& protocols) noexcept
{
    while (!offered.empty() && offered.front() < offered.size()) {
        std::size_t const size = offered.front();
        if (has_protocol(protocols, {reinterpret_cast<char const*>(offered.data() + 1), size}))
            return true;
        offered = offered.subspan(1 + size);
    }
    return false;
}

} // namespace

route_table::route_table(std::span<route_rule const> rules)
{
    for (route_rule const& each : rules) {
        number const route = static_cast<number>(routes_.size());
        for (server_name_pattern const& name : each.names)
            if (numbers& group = group_of(name); group.empty() || group.back() != route)
                group.push_back(route);
        if (each.names.empty())
            any_name_.push_back(route);
        routes_.push_back(
            {each.protocols, address_set{each.clients}, allow_rules{each.certificates},
             each.is_passthrough});
        has_passthrough_ |= each.is_passthrough;
        asks_for_clients_ |= !each.clients.empty();
        asks_for_certificates_ |= !each.certificates.empty();
    }
}

route_table::numbers& route_table::group_of(server_name_pattern const& pattern)
{
    switch (pattern.what) {
    case server_name_pattern::kind::exact:
        return exact_[pattern.name];
    case server_name_pattern::kind::wildcard:
        return wildcard_[pattern.name];
    case server_name_pattern::kind::none:
        break;
    }
    return without_name_;
}

std::span<route_table::number const> route_table::find(
    numbers_by_name const& all, std::string_view name) noexcept
{
    auto const found = all.find(name);
    return found == all.end() ? std::span<number const>{} : std::span<number const>{found->second};
}

bool route_table::takes(number route, route_question const& question) const noexcept
{
    conditions const& wanted = routes_[route];
    if (!wanted.clients.empty() && !(question.client && wanted.clients.contains(*question.client)))
        return false;
    if (wanted.is_passthrough && question.is_established)
        return false;
    // Before the handshake any certificate may come, so TLS ends here.
    if (!wanted.certificates.empty() && question.is_established &&
        (question.certificate == nullptr ||
         wanted.certificates.find(*question.certificate) == nullptr))
        return false;
    if (wanted.protocols.empty())
        return true;
    return wanted.is_passthrough ? offers_any(question.offered, wanted.protocols)
                                 : has_protocol(wanted.protocols, question.agreed);
}

// The groups of routes that a name may have.
template <class Use>
void route_table::each_group(std::string_view server_name, Use use) const
{
    use(std::span<number const>{any_name_});
    if (server_name.empty())
        return use(std::span<number const>{without_name_});
    lower_name const name{server_name};
    use(find(exact_, name.text()));
    use(find(wildcard_, name.parent()));
}

void route_table::choose_among(
    std::span<number const> group, route_question const& question,
    std::optional<number>& chosen) const noexcept
{
    for (number const each : group) {
        if (chosen && *chosen < each)
            return;
        if (takes(each, question)) {
            chosen = each;
            return;
        }
    }
}

std::optional<route_table::number> route_table::choose(
    route_question const& question) const noexcept
{
    std::optional<number> chosen;
    each_group(question.server_name, [&](std::span<number const> group) {
        choose_among(group, question, chosen);
    });
    return chosen;
}

std::vector<route_table::number> route_table::routes_by_certificate(route_question question) const
{
    question.certificate = nullptr;
    question.is_established = true;
    std::optional<number> const without = choose(question);
    question.is_established = false; // Any certificate may come.
    std::vector<number> found;
    each_group(question.server_name, [&](std::span<number const> group) {
        for (number const each : group) {
            bool const is_before = !without || each < *without;
            if (is_before && !routes_[each].certificates.empty() && takes(each, question))
                found.push_back(each);
        }
    });
    std::ranges::sort(found);
    auto const twins = std::ranges::unique(found); // Of an exact name and a wildcard.
    found.erase(twins.begin(), twins.end());
    return found;
}

// Whether `one` takes every client that `other` would take, if its names allow it. A protocol that
// was agreed on was offered, but not the other way round.
bool route_table::covers(number one, number other) const
{
    conditions const& wide = routes_[one];
    conditions const& narrow = routes_[other];
    // Rules are not compared with each other. Where TLS begins, it does so before one is looked at,
    // and then no passthrough takes the client.
    bool const ends_tls_first = narrow.is_passthrough && !wide.is_passthrough;
    if (!wide.certificates.empty() && !ends_tls_first)
        return false;
    if (!wide.clients.empty() && (narrow.clients.empty() || !wide.clients.covers(narrow.clients)))
        return false;
    if (wide.protocols.empty())
        return true;
    if (narrow.protocols.empty() || ends_tls_first)
        return false;
    return std::ranges::all_of(narrow.protocols, [&](std::string const& each) {
        return has_protocol(wide.protocols, each);
    });
}

bool share_a_name(server_name_pattern const& one, server_name_pattern const& other) noexcept
{
    using kind = server_name_pattern::kind;
    if (one.what == other.what)
        return one.name == other.name;
    if (one.what == kind::none || other.what == kind::none)
        return false;
    bool const is_first = one.what == kind::exact;
    return lower_name::parent_of(is_first ? one.name : other.name) ==
           (is_first ? other.name : one.name);
}

std::optional<route_table::number> route_table::find_cover(
    number route, server_name_pattern const* name) const
{
    std::optional<number> found;
    auto const look_in = [&](std::span<number const> group) {
        for (number const each : group) {
            if (each >= route || (found && *found < each))
                return;
            if (covers(each, route)) {
                found = each;
                return;
            }
        }
    };
    look_in(any_name_);
    if (name == nullptr)
        return found;
    switch (name->what) {
    case server_name_pattern::kind::exact:
        look_in(find(exact_, name->name));
        look_in(find(wildcard_, lower_name::parent_of(name->name)));
        break;
    case server_name_pattern::kind::wildcard:
        look_in(find(wildcard_, name->name));
        break;
    case server_name_pattern::kind::none:
        look_in(without_name_);
        break;
    }
    return found;
}

std::size_t route_table::count_alike(server_name_pattern const* name) const noexcept
{
    if (name == nullptr)
        return any_name_.size();
    switch (name->what) {
    case server_name_pattern::kind::exact:
        return find(exact_, name->name).size();
    case server_name_pattern::kind::wildcard:
        return find(wildcard_, name->name).size();
    case server_name_pattern::kind::none:
        break;
    }
    return without_name_.size();
}

} // namespace cleat::app
