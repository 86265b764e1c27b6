#include <cleat/core/assert.hpp>
#include <cleat/tls/store/certificate_set.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace cleat::tls {
namespace {

std::size_t place_of(key_type type) noexcept
{
    return static_cast<std::size_t>(type);
}

// A wildcard's name begins with its dot in the store.
std::string shown_name(std::string_view name)
{
    return name.starts_with('.') ? '*' + std::string{name} : std::string{name};
}

} // namespace

number_table::number certificate_set::find_entry(
    number_table::hash key, std::string_view name, key_type type) const noexcept
{
    number_table::number found = certificate_store::none;
    names_.for_each(key, [&](number_table::number entry) {
        number const latest = latest_of(entry);
        if (store_->summary(latest).type == type && store_->has_name(latest, name))
            found = entry;
    });
    return found;
}

bool certificate_set::has(number certificate, std::string_view name) const noexcept
{
    number_table::number const entry =
        find_entry(hash_of(name), name, store_->summary(certificate).type);
    if (entry == certificate_store::none || !is_group(entry))
        return entry == certificate;
    return groups_.contains(entry & ~group_flag, certificate, later());
}

// A certificate may have a name twice.
void certificate_set::insert_name(std::string_view name, number certificate)
{
    number_table::hash const key = hash_of(name);
    number_table::number const entry = find_entry(key, name, store_->summary(certificate).type);
    if (entry == certificate_store::none)
        names_.insert(key, certificate);
    else if (is_group(entry))
        groups_.insert(entry & ~group_flag, certificate, later());
    else if (entry != certificate) {
        number_groups::id const group = groups_.add(entry, certificate, later());
        names_.erase(key, entry);
        names_.insert(key, group | group_flag);
    }
}

void certificate_set::erase_name(std::string_view name, number certificate)
{
    number_table::hash const key = hash_of(name);
    number_table::number const entry = find_entry(key, name, store_->summary(certificate).type);
    if (entry == certificate)
        names_.erase(key, entry);
    if (entry == certificate_store::none || !is_group(entry))
        return;
    number_groups::id const group = entry & ~group_flag;
    if (!groups_.erase(group, certificate, later()) || groups_[group].size() > 1)
        return;
    number const last = groups_[group].front();
    groups_.remove(group);
    names_.erase(key, entry);
    names_.insert(key, last);
}

void certificate_set::add(number certificate, on_shared_name const& report)
{
    key_type const type = store_->summary(certificate).type;
    std::size_t& count = counts_[place_of(type)];
    if (count == 0 || examples_[place_of(type)] == certificate_store::none)
        examples_[place_of(type)] = certificate;
    ++count;
    store_->for_each_name(certificate, [&](std::string_view name) {
        candidates const before = find_key(name);
        candidate const* const other = before.find(type);
        insert_name(name, certificate);
        if (other == nullptr || other->number == certificate || !report)
            return;
        bool const is_used = find_key(name).find(type)->number == certificate;
        report(
            shown_name(name), is_used ? other->number : certificate,
            is_used ? certificate : other->number);
    });
}

void certificate_set::remove(number certificate)
{
    std::size_t const place = place_of(store_->summary(certificate).type);
    --counts_[place];
    store_->for_each_name(
        certificate, [&](std::string_view name) { erase_name(name, certificate); });
    if (examples_[place] == certificate)
        examples_[place] = certificate_store::none;
}

// Those whose example was removed. A certificate without a name is none.
void certificate_set::find_examples()
{
    for (std::size_t i = 0; i < key_type_count; ++i) {
        if (counts_[i] == 0 || examples_[i] != certificate_store::none)
            continue;
        store_->for_each([&](number each) {
            bool const is_found = examples_[i] != certificate_store::none;
            if (is_found || place_of(store_->summary(each).type) != i)
                return;
            store_->for_each_name(each, [&](std::string_view name) {
                if (has(each, name))
                    examples_[i] = each;
            });
        });
    }
}

void certificate_set::seal()
{
    find_examples();
    names_.seal();
    groups_.seal();
}

void certificate_set::set_default(number certificate)
{
    defaults_ = {};
    bool is_first = true;
    store_->for_each_name(certificate, [&](std::string_view name) {
        candidates const here = find_key(name);
        candidates const before = std::exchange(defaults_, {});
        for (candidate const& each : is_first ? here : before)
            if (candidate const* const same = here.find(each.type); same && *same == each)
                defaults_.put(each);
        is_first = false;
    });
    defaults_.put({certificate, store_->summary(certificate).type});
}

// The certificates with a name, or with its wildcard's.
void certificate_set::find_own(candidates& found, std::string_view key) const noexcept
{
    names_.for_each(hash_of(key), [&](number_table::number entry) {
        number const latest = latest_of(entry);
        if (store_->has_name(latest, key))
            found.put({latest, store_->summary(latest).type});
    });
}

candidates certificate_set::find_key(std::string_view key) const noexcept
{
    candidates found;
    find_own(found, key);
    if (below_ == nullptr)
        return found;
    for (candidate const& each : below_->find_key(key))
        if (found.find(each.type) == nullptr)
            found.put(each);
    return found;
}

found_name certificate_set::lookup(std::string_view name) const noexcept
{
    name = without_final_dot(name);
    // A name with a dot in front would find the wildcard's text.
    if (name.empty() || name.front() == '.' || name.size() > host_name_size_max)
        return {};
    if (candidates const exact = find_key(name); !exact.empty())
        return {exact, name_match::exact};
    std::size_t const dot = name.find('.');
    if (dot == std::string_view::npos)
        return {};
    candidates const wide = find_key(name.substr(dot));
    return {wide, wide.empty() ? name_match::none : name_match::wildcard};
}

std::size_t certificate_set::size() const noexcept
{
    std::size_t const own = std::accumulate(counts_.begin(), counts_.end(), std::size_t{0});
    return own + (below_ == nullptr ? 0 : below_->size());
}

candidates certificate_set::examples() const
{
    candidates found = below_ == nullptr ? candidates{} : below_->examples();
    for (std::size_t i = 0; i < key_type_count; ++i)
        if (counts_[i] != 0 && examples_[i] != certificate_store::none)
            found.put({examples_[i], static_cast<key_type>(i)});
    return found;
}

bool certificate_set::can_follow(certificate_set const& before) const
{
    if (before.defaults().empty() || defaults().empty())
        return false;
    candidates const old_examples = before.examples();
    candidates const new_examples = examples();
    return before.store().summary(before.defaults().front().number).digest ==
               store().summary(defaults().front().number).digest &&
           std::ranges::all_of(new_examples, [&](candidate const& each) {
               return old_examples.find(each.type) != nullptr;
           });
}

std::string shared_name_warning(
    std::string_view replaced, std::string_view used, std::string_view name)
{
    return fmt::format(
        "{} and {} both answer to {} with the same type of key: {}, the later one, is used",
        replaced, used, name, used);
}

} // namespace cleat::tls
