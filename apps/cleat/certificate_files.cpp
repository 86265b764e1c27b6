#include "certificate_files.hpp"

#include <cleat/tls/store/file_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include <fnmatch.h>

namespace cleat::app {

namespace fs = std::filesystem;

certificate_files::names certificate_files::find_shared()
{
    names found;
    for (setting<std::string> const& folder : settings_.pem_dirs)
        for (std::string& path : find_in_folder(folder))
            found.push_back({{std::move(path), {}}, &folder.location});
    // Alone, the first of them is the default, whose place is the last.
    if (settings_.pem_files.empty() && !found.empty())
        std::rotate(found.begin(), found.begin() + 1, found.end());
    std::ranges::move(names_of(settings_.pem_files), std::back_inserter(found));
    return found;
}

certificate_files::names certificate_files::names_of(std::vector<pem_file> const& pems)
{
    names found;
    for (pem_file const& pem : pems)
        found.push_back({{*pem.cert, *pem.private_key}, &pem.location, &pem.ocsp_resp_file});
    return found;
}

void certificate_files::read_certificates(names const& wanted, sources& found)
{
    for (named_certificate const& each : wanted) {
        auto const& [paths, where, ocsp_resp_file] = each;
        std::optional<std::string> chain = read_text(*where, "pem-file", paths.chain);
        std::optional<std::string> key =
            paths.private_key.empty() ? chain : read_text(*where, "private-key", paths.private_key);
        if (!chain || !key)
            continue;
        std::string const origin = tls::origin_of(paths);
        namings_.try_emplace(origin, naming{*where, "pem-file"});
        found.push_back({std::move(*chain), std::move(*key), origin});
        if (each.has_ocsp_response())
            read_ocsp_response(each, found.back());
    }
}

void certificate_files::read_ocsp_response(
    named_certificate const& wanted, tls::certificate_source& found)
{
    setting<std::string> const& file = *wanted.ocsp_resp_file;
    std::optional<std::string> der = read_text(file.location, "ocsp-resp-file", *file);
    if (!der)
        return;
    if (der->empty())
        problems_.error(
            file.location, "ocsp-resp-file", fmt::format("{} is empty", *file),
            "Write an OCSP response in DER form to it, or leave it out.");
    namings_.try_emplace(*file, naming{file.location, "ocsp-resp-file"});
    found.ocsp_response = *std::move(der);
    found.ocsp_origin = *file;
}

void certificate_files::refuse_ocsp_responses(names const& all, std::size_t count)
{
    for (named_certificate const& each : all)
        if (each.has_ocsp_response())
            problems_.error(
                each.ocsp_resp_file->location, "ocsp-resp-file",
                "not built yet: an OCSP response with more certificates than certificate-cache",
                fmt::format("Set certificate-cache to at least {}, or leave it out.", count));
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
    std::error_code ec;
    std::string const& glob = *settings_.pem_dir_glob;
    for (fs::directory_iterator i{folder, ec}, end; !ec && i != end; i.increment(ec)) {
        std::string const name = i->path().filename().string();
        if (name.front() == '.')
            continue;
        // A dead link, for example, is reported when it is read.
        std::error_code unknown;
        if (i->is_directory(unknown)) {
            if (*settings_.pem_dir_recursive && !i->is_symlink(unknown))
                subfolders.push_back(i->path().string());
        } else if (glob.empty() || ::fnmatch(glob.c_str(), name.c_str(), 0) == 0) {
            found.push_back(i->path().string());
        }
    }
    if (ec)
        problems_.error(
            top.location, "pem-dir", fmt::format("cannot read {}: {}", folder, ec.message()),
            "Check the path and who may read it.");
}

std::optional<std::string> certificate_files::read_text(
    location const& where, std::string const& key, std::string const& path)
{
    auto const [found, is_new] = texts_.try_emplace(path);
    if (!is_new)
        return found->second;
    tls::file_text const read = tls::read_file(path);
    if (read.fault == tls::file_fault::none)
        found->second.emplace(read.text.view());
    else
        problems_.error(where, key, tls::description(read, path), std::string{tls::cure(read)});
    return found->second;
}

} // namespace cleat::app
