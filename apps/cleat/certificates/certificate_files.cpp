#include "certificates/certificate_files.hpp"
#include "privileged/folder_listing.hpp"

#include <cleat/core/steady_yield.hpp>
#include <cleat/tls/store/file_text.hpp>
#include <cleat/tls/store/folder_rule.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <utility>

#include <unistd.h>

namespace cleat::app {

namespace fs = std::filesystem;

certificate_files::names certificate_files::find_shared()
{
    names found;
    for (std::size_t i = 0; i < settings_.pem_dirs.size(); ++i) {
        std::vector<std::string> paths = find_in_folder(settings_.pem_dirs[i]);
        found.reserve(found.size() + paths.size()); // A hundred thousand names are some MiB.
        for (std::string& path : paths)
            found.push_back(in_folder(i, std::move(path)));
    }
    // Alone, the first of them is the default, whose place is the last.
    if (settings_.pem_files.empty() && !found.empty()) {
        std::rotate(found.begin(), found.begin() + 1, found.end());
        found.back().source = default_source;
    }
    std::ranges::move(find_global(), std::back_inserter(found));
    return found;
}

named_certificate certificate_files::in_folder(std::size_t folder, std::string path) const
{
    return {
        {std::move(path), {}},
        &settings_.pem_dirs[folder].location,
        nullptr,
        static_cast<tls::certificate_source_number>(folder),
        "pem-dir"};
}

certificate_files::names certificate_files::find_global() const
{
    names found = names_of(settings_.pem_files);
    for (std::size_t i = 0; i < found.size(); ++i)
        found[i].source =
            static_cast<tls::certificate_source_number>(settings_.pem_dirs.size() + i);
    return found;
}

std::optional<certificate_files::changed_names> certificate_files::find_changed(
    std::set<std::string> const& paths, std::vector<std::string> const& folders,
    tls::certificate_paths const& present_default) const
{
    changed_names changed;
    for (std::string const& path : paths) {
        bool is_in_folder = false;
        for (std::size_t i = 0; i < folders.size(); ++i) {
            if (!path.starts_with(folders[i] + '/'))
                continue;
            is_in_folder = true;
            std::string const rest = path.substr(folders[i].size() + 1);
            if (rest.find('/') != std::string::npos && !*settings_.pem_dir_recursive)
                continue;
            if (!is_wanted_name(fs::path{rest}.filename().string()))
                continue;
            named_certificate each =
                in_folder(i, (fs::path{*settings_.pem_dirs[i]} / rest).string());
            bool const is_default = each.paths == present_default;
            if (settings_.pem_files.empty() && each.paths.chain <= present_default.chain) {
                if (!is_default)
                    return {}; // It may be the new default.
                each.source = default_source;
            }
            std::error_code ec;
            fs::file_status const status = fs::symlink_status(each.paths.chain, ec);
            if (status.type() == fs::file_type::regular)
                changed.found.push_back(std::move(each));
            else if (status.type() != fs::file_type::not_found || is_default)
                return {}; // A link, for example: its target is watched somewhere else.
            else
                changed.gone.push_back(std::move(each));
        }
        if (!is_in_folder)
            return {};
    }
    std::ranges::move(find_global(), std::back_inserter(changed.found));
    return changed;
}

bool certificate_files::is_wanted_name(std::string const& name) const
{
    return tls::is_certificate_name(name, *settings_.pem_dir_glob);
}

certificate_files::names certificate_files::names_of(std::vector<pem_file> const& pems)
{
    names found;
    for (pem_file const& pem : pems)
        found.push_back(
            {{*pem.cert, *pem.private_key, *pem.ocsp_resp_file},
             &pem.location,
             &pem.ocsp_resp_file.location});
    return found;
}

void certificate_files::read_certificates(names const& wanted, sources& found)
{
    for (named_certificate const& each : wanted) {
        tls::certificate_paths const& paths = each.paths;
        location const& where = *each.where;
        std::optional<tls::secret_text> const chain =
            read_text(where, std::string{each.key}, paths.chain);
        std::optional<tls::secret_text> const key =
            paths.private_key.empty() ? chain : read_text(where, "private-key", paths.private_key);
        if (!chain || !key)
            continue;
        std::string const origin = tls::origin_of(paths);
        namings_.try_emplace(origin, naming{where, each.key});
        found.push_back({*chain, *key, origin});
        if (!paths.ocsp_response.empty())
            read_ocsp_response(each, found.back());
    }
}

void certificate_files::read_ocsp_response(
    named_certificate const& wanted, tls::certificate_source& found)
{
    std::string const& file = wanted.paths.ocsp_response;
    location const& where = *wanted.ocsp_where;
    std::optional<tls::secret_text> const der = read_text(where, "ocsp-resp-file", file);
    if (!der)
        return;
    if (der->empty())
        problems_.error(
            where, "ocsp-resp-file", fmt::format("{} is empty", file),
            "Write an OCSP response in DER form to it, or leave it out.");
    namings_.try_emplace(file, naming{where, "ocsp-resp-file"});
    found.ocsp_response = der->view();
    found.ocsp_origin = file;
}

// In the order of their paths.
std::vector<std::string> certificate_files::find_in_folder(setting<std::string> const& folder)
{
    std::vector<std::string> found;
    std::vector<std::string> left{*folder};
    bool const had_errors = problems_.has_errors();
    while (!left.empty()) {
        std::string const next = std::move(left.back());
        left.pop_back();
        add_folder(folder, next, found, left);
    }
    if (found.empty() && had_errors == problems_.has_errors())
        problems_.error(
            folder.location, "pem-dir", fmt::format("{} has no file that counts", *folder),
            "Put PEM files there, or see pem-dir-glob.");
    std::ranges::sort(found);
    return found;
}

void certificate_files::add_folder(
    setting<std::string> const& top, std::string const& folder, std::vector<std::string>& found,
    std::vector<std::string>& subfolders)
{
    folder_listing const listing = list_folder(folder, root_files_);
    std::vector<std::string> file_names; // Of the files that count.
    steady_yield others_first;
    for (folder_entry const& each : listing.entries) {
        others_first.count_step();
        if (each.name.front() == '.')
            continue;
        // A dead link, for example, is reported when it is read.
        std::string const path = (fs::path{folder} / each.name).string();
        if (each.is_folder) {
            if (*settings_.pem_dir_recursive && !each.is_link)
                subfolders.push_back(path);
        } else if (is_wanted_name(each.name)) {
            found.push_back(path);
            file_names.push_back(each.name);
        }
    }
    ask_for_stamps(folder, file_names);
    if (!listing.fault.empty())
        problems_.error(
            top.location, "pem-dir", fmt::format("cannot read {}: {}", folder, listing.fault),
            "Check the path and who may read it.");
}

// In a folder that only root may search, a reload would have to read every file to see whether it
// has changed. Without stamps it does.
void certificate_files::ask_for_stamps(
    std::string const& folder, std::vector<std::string> const& file_names)
{
    if (file_names.empty() || root_files_.present_state() != opener::state::serves ||
        ::access(folder.c_str(), X_OK) == 0)
        return;
    result<std::vector<tls::file_facts>> const facts = root_files_.look_at(folder, file_names);
    if (!facts)
        return;
    std::time_t const now = std::time(nullptr);
    for (std::size_t i = 0; i < file_names.size(); ++i)
        stamps_[(fs::path{folder} / file_names[i]).string()] = tls::stamp_of((*facts)[i], now);
}

tls::certificate_stamps certificate_files::others_stamps(tls::certificate_paths const& paths) const
{
    auto const found = stamps_.find(paths.chain);
    if (found == stamps_.end() || !paths.private_key.empty() || !paths.ocsp_response.empty())
        return {};
    return {found->second, found->second};
}

std::optional<tls::secret_text> certificate_files::read_text(
    location const& where, std::string const& key, std::string const& path)
{
    auto const [found, is_new] = texts_.try_emplace(path);
    if (!is_new)
        return found->second;
    tls::file_text const read = tls::read_file(path, root_files_.for_files());
    if (read.fault == tls::file_fault::none)
        found->second = read.text;
    else
        problems_.error(where, key, tls::description(read, path), std::string{tls::cure(read)});
    return found->second;
}

} // namespace cleat::app
