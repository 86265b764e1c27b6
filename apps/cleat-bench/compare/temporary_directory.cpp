#include "compare/child.hpp"
#include "compare/temporary_directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

namespace cleat::bench {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> key_arguments(std::string const& key)
{
    if (key == "ecdsa-p256")
        return {"-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"};
    if (key == "ed25519")
        return {"-newkey", "ed25519"};
    return {"-newkey", "rsa:" + key.substr(key.find('-') + 1)};
}

std::string text_of_file(fs::path const& path)
{
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

} // namespace

temporary_directory::temporary_directory(sigset_t const& mask) : mask_{mask}
{
    std::error_code ignored;
    fs::path const parent = fs::temp_directory_path(ignored);
    std::string made =
        ((parent.empty() ? fs::path{"/tmp"} : parent) / "cleat-compare-XXXXXX").string();
    if (::mkdtemp(made.data()) == nullptr)
        throw std::runtime_error{fmt::format("{}: {}", made, std::strerror(errno))};
    path_ = made;
    ::chmod(path_.c_str(), 0755); // Servers that drop privileges read in here.
}

temporary_directory::~temporary_directory()
{
    std::error_code ignored; // The system cleans up what cannot be removed.
    fs::remove_all(path_, ignored);
}

fs::path temporary_directory::make_folder(std::string const& name)
{
    fs::path const made = path_ / fmt::format("{}-{}", name, ++folders_made_);
    fs::create_directory(made);
    return made;
}

fs::path temporary_directory::certificate(std::string const& key)
{
    auto const found = certificates_.find(key);
    if (found != certificates_.end())
        return found->second;
    fs::path const key_file = path_ / (key + ".key");
    fs::path const certificate_file = path_ / (key + ".crt");
    fs::path const combined_file = path_ / (key + ".pem");
    launch openssl{
        .command =
            {system_program("openssl", "makes the certificates"), "req", "-x509", "-nodes", "-days",
             "30", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout",
             key_file.string(), "-out", certificate_file.string()},
        .cores = {},
        .log = path_ / "openssl.log",
        .mask = mask_};
    std::ranges::copy(key_arguments(key), std::back_inserter(openssl.command));
    static_cast<void>(run_to_end(openssl));
    std::ofstream file{combined_file, std::ios::binary};
    ::chmod(combined_file.c_str(), 0600);
    file << text_of_file(certificate_file) << text_of_file(key_file) << std::flush;
    if (!file)
        throw std::runtime_error{fmt::format("{}: cannot be written", combined_file.string())};
    return certificates_.emplace(key, combined_file).first->second;
}

} // namespace cleat::bench
