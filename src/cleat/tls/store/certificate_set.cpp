#include <cleat/tls/store/certificate_set.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace cleat::tls {

void certificate_set::add(
    number certificate, key_type type, std::span<std::string const> names,
    on_replaced const& report)
{
    if (types_.size() <= certificate)
        types_.resize(certificate + std::size_t{1});
    types_[certificate] = type;
    ++size_;
    if (std::ranges::none_of(examples_, [&](number each) { return types_[each] == type; }))
        examples_.push_back(certificate);
    for (std::string const& name : names) {
        number const replaced = names_.add(name, type, certificate);
        if (replaced != name_index::none && replaced != certificate)
            report(name, replaced);
    }
}

void certificate_set::set_default(
    number certificate, key_type type, std::span<std::string const> names)
{
    defaults_.clear();
    if (!names.empty()) {
        std::span<candidate const> const first = find(names.front());
        defaults_.assign(first.begin(), first.end());
    }
    for (std::string const& name : names)
        std::erase_if(defaults_, [&](candidate each) {
            return std::ranges::find(find(name), each) == find(name).end();
        });
    std::erase_if(defaults_, [&](candidate each) { return each.kind() == kind_of(type); });
    defaults_.emplace_back(kind_of(type), certificate);
    std::ranges::sort(defaults_);
}

void certificate_set::shrink()
{
    names_.shrink();
    types_.shrink_to_fit();
}

std::string replaced_name_warning(
    std::string_view earlier, std::string_view later, std::string_view name)
{
    return fmt::format(
        "{} and {} both answer to {} with the same kind of key: {}, the later one, is used",
        earlier, later, name, later);
}

} // namespace cleat::tls
