#include <cleat/tls/store/certificate_store.hpp>

#include <stdexcept>
#include <utility>

namespace cleat::tls {

certificate_store::number certificate_store::add(
    certificate_paths const& paths, certificate_summary const& summary)
{
    entry added{.summary = summary, .chain = keep(paths.chain), .key = {}};
    if (!paths.private_key.empty())
        added.key = keep(paths.private_key);
    entries_.push_back(added);
    return static_cast<number>(entries_.size() - 1);
}

certificate_store::place certificate_store::keep(std::string_view path)
{
    std::size_t const slash = path.rfind('/');
    std::size_t const begin = slash == std::string_view::npos ? 0 : slash + 1;
    if (path.size() - begin > text_arena::text_max)
        throw std::length_error{"a file's name is longer than 255 bytes"};
    return {keep_folder(path.substr(0, begin)), names_.append(path.substr(begin))};
}

std::uint32_t certificate_store::keep_folder(std::string_view folder)
{
    // Files come in the order of their folders.
    if (!entries_.empty() && folders_[entries_.back().chain.folder] == folder)
        return entries_.back().chain.folder;
    auto const [found, is_new] = folder_numbers_.try_emplace(
        std::string{folder}, static_cast<std::uint32_t>(folders_.size()));
    if (is_new)
        folders_.emplace_back(folder);
    return found->second;
}

void certificate_store::shrink()
{
    entries_.shrink_to_fit();
    folders_.shrink_to_fit();
    names_.shrink();
    folder_numbers_ = {};
}

std::string certificate_store::path(place const& kept) const
{
    return kept.folder == none ? std::string{}
                               : folders_[kept.folder] + std::string{names_.at(kept.name)};
}

certificate_paths certificate_store::paths(number certificate) const
{
    entry const& found = entries_[certificate];
    return {path(found.chain), path(found.key)};
}

std::string certificate_store::origin(number certificate) const
{
    return origin_of(paths(certificate));
}

std::string origin_of(certificate_paths const& paths)
{
    return paths.private_key.empty() ? paths.chain : paths.chain + " with " + paths.private_key;
}

} // namespace cleat::tls
