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

std::vector<std::string> words_for(std::string const& key)
{
    if (key == "ecdsa-p256")
        return {"-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"};
    if (key == "ed25519")
        return {"-newkey", "ed25519"};
    return {"-newkey", "rsa:" + key.substr(key.find('-') + 1)};
}

std::string find_openssl()
{
    for (char const* const at : {"/usr/bin/openssl", "/usr/local/bin/openssl", "/bin/openssl"})
        if (::access(at, X_OK) == 0)
            return at;
    throw std::runtime_error{"the program openssl is missing, which makes the certificates: "
                             "install the package openssl"};
}

std::string contents(fs::path const& of)
{
    std::ifstream file{of, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

} // namespace

workshop::workshop(sigset_t const& mask) : mask_{mask}
{
    std::error_code none;
    fs::path const where = fs::temp_directory_path(none);
    std::string made =
        ((where.empty() ? fs::path{"/tmp"} : where) / "cleat-compare-XXXXXX").string();
    if (::mkdtemp(made.data()) == nullptr)
        throw std::runtime_error{fmt::format("{}: {}", made, std::strerror(errno))};
    folder_ = made;
    ::chmod(folder_.c_str(), 0755); // Servers that become somebody else look in here.
}

workshop::~workshop()
{
    std::error_code none; // What cannot be removed is the system's to clean up.
    fs::remove_all(folder_, none);
}

fs::path workshop::own_folder(std::string const& name)
{
    fs::path const made = folder_ / fmt::format("{}-{}", name, ++folders_);
    fs::create_directory(made);
    return made;
}

fs::path workshop::certificate(std::string const& key)
{
    auto const found = certificates_.find(key);
    if (found != certificates_.end())
        return found->second;
    fs::path const secret = folder_ / (key + ".key");
    fs::path const shown = folder_ / (key + ".crt");
    fs::path const both = folder_ / (key + ".pem");
    launch how{
        .words =
            {find_openssl(), "req", "-x509", "-nodes", "-days", "30", "-subj", "/CN=localhost",
             "-addext", "subjectAltName=DNS:localhost", "-keyout", secret.string(), "-out",
             shown.string()},
        .cores = {},
        .log = folder_ / "openssl.log",
        .mask = mask_};
    std::ranges::copy(words_for(key), std::back_inserter(how.words));
    static_cast<void>(run_to_end(how));
    std::ofstream file{both, std::ios::binary};
    ::chmod(both.c_str(), 0600);
    file << contents(shown) << contents(secret) << std::flush;
    if (!file)
        throw std::runtime_error{fmt::format("{}: cannot be written", both.string())};
    return certificates_.emplace(key, both).first->second;
}

} // namespace cleat::bench
