#include "certificate_files.hpp"

#include <cleat/core/limits.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include <fnmatch.h>

namespace cleat::app {

namespace fs = std::filesystem;

certificate_files::sources certificate_files::read_shared()
{
    sources found;
    if (!settings_.pem_dir->empty())
        read_directory(found);
    for (pem_file const& pem : settings_.pem_files)
        read_certificate(pem, found);
    return found;
}

void certificate_files::read_certificate(pem_file const& pem, sources& found)
{
    tls::certificate_source source;
    source.origin = *pem.cert;
    std::optional<std::string> chain = read_text(pem.location, "pem-file", *pem.cert);
    std::optional<std::string> key =
        pem.private_key->empty() ? chain : read_text(pem.location, "private-key", *pem.private_key);
    if (!chain || !key)
        return;
    source.chain = std::move(*chain);
    source.private_key = std::move(*key);
    if (!pem.private_key->empty())
        source.origin += " with " + *pem.private_key;
    locations_.try_emplace(source.origin, pem.location);
    found.push_back(std::move(source));
}

// In the order of names.
void certificate_files::read_directory(sources& found)
{
    std::error_code ec;
    std::vector<std::string> names;
    for (fs::directory_iterator i{*settings_.pem_dir, ec}, end; !ec && i != end; i.increment(ec)) {
        std::string const name = i->path().filename().string();
        std::string const& glob = *settings_.pem_dir_glob;
        bool const counts = glob.empty() || ::fnmatch(glob.c_str(), name.c_str(), 0) == 0;
        if (counts && name.front() != '.' && !i->is_directory(ec))
            names.push_back(i->path().string());
    }
    if (ec)
        return problems_.error(
            settings_.pem_dir.location, "pem-dir",
            fmt::format("cannot read {}: {}", *settings_.pem_dir, ec.message()),
            "Check the path and who may read it.");
    if (names.empty())
        return problems_.error(
            settings_.pem_dir.location, "pem-dir",
            fmt::format("{} has no file that counts", *settings_.pem_dir),
            "Put PEM files there, or see pem-dir-glob.");
    std::sort(names.begin(), names.end());
    // Alone, the first of them is the default, whose place is the last.
    if (settings_.pem_files.empty())
        std::rotate(names.begin(), names.begin() + 1, names.end());
    for (std::string const& path : names)
        read_certificate(
            {settings_.pem_dir.location, {path, settings_.pem_dir.location}, {}, {}, {}}, found);
}

std::optional<std::string> certificate_files::read_text(
    location const& where, std::string const& key, std::string const& path)
{
    auto const [found, is_new] = texts_.try_emplace(path);
    if (is_new)
        found->second = read_new_text(where, key, path);
    return found->second;
}

std::optional<std::string> certificate_files::read_new_text(
    location const& where, std::string const& key, std::string const& path)
{
    std::error_code ec;
    if (fs::is_directory(path, ec)) {
        problems_.error(
            where, key, fmt::format("{} is a directory", path),
            "Name a file, or use pem-dir for a directory of them.");
        return {};
    }
    std::ifstream file{path, std::ios::binary};
    if (!file) {
        problems_.error(
            where, key, fmt::format("cannot read {}: {}", path, std::strerror(errno)),
            "Check the path and who may read it.");
        return {};
    }
    std::string text(limits::pem_file_max + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.size() > limits::pem_file_max) {
        problems_.error(
            where, key, fmt::format("{} is larger than 1 MiB", path),
            "A PEM file of a certificate, its chain and its key is far smaller.");
        return {};
    }
    return text;
}

} // namespace cleat::app
