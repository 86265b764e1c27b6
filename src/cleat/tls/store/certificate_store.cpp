#include <cleat/tls/store/certificate_store.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace cleat::tls {
namespace {

constexpr std::size_t garbage_max = 4096; // Bytes of a block's texts.

struct split_path
{
    std::string_view folder; // With the slash.
    std::string_view name;
};

split_path parts_of(std::string_view path) noexcept
{
    std::size_t const slash = path.rfind('/');
    std::size_t const begin = slash == std::string_view::npos ? 0 : slash + 1;
    return {path.substr(0, begin), path.substr(begin)};
}

// Two texts, each in two pieces.
bool is_less(split_path first, split_path second) noexcept
{
    auto const byte = [](split_path text, std::size_t i) {
        return i < text.folder.size() ? text.folder[i] : text.name[i - text.folder.size()];
    };
    std::size_t const first_size = first.folder.size() + first.name.size();
    std::size_t const second_size = second.folder.size() + second.name.size();
    for (std::size_t i = 0; i < std::min(first_size, second_size); ++i)
        if (byte(first, i) != byte(second, i))
            return static_cast<unsigned char>(byte(first, i)) <
                   static_cast<unsigned char>(byte(second, i));
    return first_size < second_size;
}

} // namespace

certificate_store::number certificate_store::take_number()
{
    if (!free_.empty()) {
        number const taken = free_.back();
        free_.pop_back();
        return taken;
    }
    if (end_ == blocks_.size() * block_size)
        blocks_.append();
    blocks_.edit(end_ / block_size).entries.emplace_back();
    return end_++;
}

certificate_store::number certificate_store::add(new_certificate const& added)
{
    certificate_paths const& paths = added.paths;
    for (std::string const* const each : {&paths.chain, &paths.private_key, &paths.ocsp_response})
        if (parts_of(*each).name.size() > text_arena::text_max)
            throw std::length_error{"a file's name is longer than 255 bytes"};
    number const certificate = take_number();
    block& target = blocks_.edit(certificate / block_size);
    entry& made = target.entries[certificate % block_size];
    made.summary = added.summary;
    made.stamps = added.stamps;
    made.source = added.source;
    made.is_used = true;
    keep_names(target, made, added.names);
    target.soonest_end = std::min(target.soonest_end, added.summary.valid_until);
    ++size_;
    if (paths.chain.empty())
        return certificate;
    made.chain = keep(target, paths.chain);
    files_.insert(hash_of(paths.chain), certificate);
    if (!paths.private_key.empty()) {
        made.key = keep(target, paths.private_key);
        files_.insert(hash_of(paths.private_key), certificate);
    }
    if (!paths.ocsp_response.empty())
        target.responses.push_back(
            {certificate, keep(target, paths.ocsp_response), added.response_digest});
    return certificate;
}

void certificate_store::keep_names(block& target, entry& owner, std::span<std::string const> names)
{
    owner.names = static_cast<text_arena::offset>(target.texts.size());
    owner.name_count = 0;
    for (std::string const& each : names) {
        target.texts.append(name_key(each));
        ++owner.name_count;
    }
}

void certificate_store::drop_names(block& target, entry& owner)
{
    text_arena::offset end = owner.names;
    for (; owner.name_count != 0; --owner.name_count)
        end = target.texts.next(end);
    target.garbage += end - owner.names;
}

// Texts anew, without garbage.
void certificate_store::tidy(block& changed)
{
    if (changed.garbage <= garbage_max)
        return;
    text_arena const before = std::exchange(changed.texts, {});
    for (entry& each : changed.entries) {
        for (place* const file : {&each.chain, &each.key})
            if (file->folder != no_folder)
                file->name = changed.texts.append(before.at(file->name));
        text_arena::offset from = each.names;
        each.names = static_cast<text_arena::offset>(changed.texts.size());
        for (std::uint32_t i = 0; i < each.name_count; ++i, from = before.next(from))
            changed.texts.append(before.at(from));
    }
    for (response& each : changed.responses)
        each.file.name = changed.texts.append(before.at(each.file.name));
    changed.garbage = 0;
}

void certificate_store::find_soonest_end(block& changed) noexcept
{
    changed.soonest_end = INT64_MAX;
    for (entry const& each : changed.entries)
        if (each.is_used)
            changed.soonest_end = std::min(changed.soonest_end, each.summary.valid_until);
}

void certificate_store::replace(
    number certificate, certificate_summary const& summary, std::span<std::string const> names,
    certificate_stamps const& stamps, file_digest const& response_digest)
{
    block& target = blocks_.edit(certificate / block_size);
    entry& changed = target.entries[certificate % block_size];
    drop_names(target, changed);
    changed.summary = summary;
    changed.stamps = stamps;
    if (response* const staple = find_response(target.responses, certificate); staple != nullptr)
        staple->digest = response_digest;
    keep_names(target, changed, names);
    tidy(target);
    find_soonest_end(target);
}

void certificate_store::set_stamps(number certificate, certificate_stamps const& stamps)
{
    edit(certificate).stamps = stamps;
}

void certificate_store::set_source(number certificate, certificate_source_number source)
{
    edit(certificate).source = source;
}

void certificate_store::remove(number certificate)
{
    certificate_paths const gone = paths(certificate);
    for (std::string const& each : {gone.chain, gone.private_key})
        if (!each.empty())
            files_.erase(hash_of(each), certificate);
    block& target = blocks_.edit(certificate / block_size);
    entry& removed = target.entries[certificate % block_size];
    drop_names(target, removed);
    for (std::string const& each : {gone.chain, gone.private_key, gone.ocsp_response})
        if (!each.empty())
            target.garbage += 1 + parts_of(each).name.size();
    std::erase_if(
        target.responses, [&](response const& each) { return each.owner == certificate; });
    removed = {};
    tidy(target);
    find_soonest_end(target);
    free_.push_back(certificate);
    --size_;
}

certificate_store::place certificate_store::keep(block& target, std::string_view path)
{
    split_path const parts = parts_of(path);
    return {keep_folder(parts.folder), target.texts.append(parts.name)};
}

std::uint32_t certificate_store::keep_folder(std::string_view folder)
{
    std::uint32_t found = no_folder;
    folder_numbers_.for_each(hash_of(folder), [&](std::uint32_t each) {
        if (folders_[each / folders_in_block][each % folders_in_block] == folder)
            found = each;
    });
    if (found != no_folder)
        return found;
    if (folder_count_ == folders_.size() * folders_in_block)
        folders_.append();
    folders_.edit(folders_.size() - 1).emplace_back(folder);
    folder_numbers_.insert(hash_of(folder), folder_count_);
    return folder_count_++;
}

void certificate_store::seal()
{
    blocks_.seal([](block& changed) {
        changed.entries.shrink_to_fit();
        changed.responses.shrink_to_fit();
        changed.texts.shrink();
    });
    folders_.seal([](folder_block& changed) { changed.shrink_to_fit(); });
    folder_numbers_.seal();
    files_.seal();
}

std::string_view certificate_store::folder(place const& kept) const noexcept
{
    return folders_[kept.folder / folders_in_block][kept.folder % folders_in_block];
}

std::string certificate_store::path(block const& b, place const& kept) const
{
    if (kept.folder == no_folder)
        return {};
    std::string whole{folder(kept)};
    return whole.append(b.texts.at(kept.name));
}

certificate_paths certificate_store::paths(number certificate) const
{
    block const& b = blocks_[certificate / block_size];
    entry const& found = entry_of(certificate);
    response const* const staple = response_of(certificate);
    return {
        path(b, found.chain), path(b, found.key), staple == nullptr ? "" : path(b, staple->file)};
}

certificate_store::response const* certificate_store::response_of(number certificate) const noexcept
{
    return find_response(blocks_[certificate / block_size].responses, certificate);
}

file_digest certificate_store::response_digest(number certificate) const noexcept
{
    response const* const staple = response_of(certificate);
    return staple == nullptr ? file_digest{} : staple->digest;
}

expected_files certificate_store::expected(number certificate) const
{
    certificate_summary const& known = summary(certificate);
    expected_files found{
        paths(certificate), known.digest, response_digest(certificate), known.type};
    for_each_name(certificate, [&](std::string_view name) { found.names.emplace_back(name); });
    return found;
}

std::string certificate_store::origin(number certificate) const
{
    return origin_of(paths(certificate));
}

std::vector<certificate_store::number> certificate_store::with_file(std::string_view path) const
{
    std::vector<number> found;
    files_.for_each(hash_of(path), [&](number each) {
        certificate_paths const its = paths(each);
        if (its.chain == path || its.private_key == path)
            found.push_back(each);
    });
    return found;
}

certificate_store::number certificate_store::find(
    certificate_paths const& wanted, certificate_source_number source) const
{
    split_path const chain = parts_of(wanted.chain);
    split_path const key = parts_of(wanted.private_key);
    split_path const wanted_response = parts_of(wanted.ocsp_response);
    number found = none;
    files_.for_each(hash_of(wanted.chain), [&](number each) {
        block const& b = blocks_[each / block_size];
        entry const& e = entry_of(each);
        auto const is_at = [&](place const& kept, split_path const& path) {
            return kept.folder == no_folder
                       ? path.name.empty()
                       : folder(kept) == path.folder && b.texts.at(kept.name) == path.name;
        };
        response const* const staple = response_of(each);
        if (e.source == source && is_at(e.chain, chain) && is_at(e.key, key) &&
            is_at(staple == nullptr ? place{} : staple->file, wanted_response))
            found = each;
    });
    return found;
}

bool certificate_store::has_name(number certificate, std::string_view key) const noexcept
{
    bool found = false;
    for_each_name(certificate, [&](std::string_view each) {
        found = found || (each.size() == key.size() && is_same_name(key, each));
    });
    return found;
}

bool certificate_store::is_later(number first, number second) const noexcept
{
    entry const& one = entry_of(first);
    entry const& other = entry_of(second);
    if (one.source != other.source)
        return one.source > other.source;
    if (one.chain.folder == no_folder || other.chain.folder == no_folder)
        return first > second;
    return is_less(
        {folder(other.chain), blocks_[second / block_size].texts.at(other.chain.name)},
        {folder(one.chain), blocks_[first / block_size].texts.at(one.chain.name)});
}

std::string whole_path(std::string const& path, std::string const& folder)
{
    bool const is_whole = path.starts_with('/') || folder.empty();
    return is_whole ? path : folder + '/' + path;
}

std::string origin_of(certificate_paths const& paths)
{
    return paths.private_key.empty() ? paths.chain : paths.chain + " with " + paths.private_key;
}

} // namespace cleat::tls
