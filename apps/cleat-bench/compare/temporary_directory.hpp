// temporary_directory: where a comparison keeps its certificates, configurations and logs.

#pragma once

#include <csignal>
#include <filesystem>
#include <map>
#include <string>

namespace cleat::bench {

/// temporary_directory is made under the system's, and removed with all its contents by the
/// destructor.
class temporary_directory
{
public:
    /// `mask` is the signal mask for openssl. Throws std::runtime_error.
    explicit temporary_directory(sigset_t const& mask);
    temporary_directory(temporary_directory&&) = delete;
    ~temporary_directory();

    [[nodiscard]] std::filesystem::path const& path() const noexcept { return path_; }

    /// make_folder makes a new one for a server, named after it and numbered.
    [[nodiscard]] std::filesystem::path make_folder(std::string const& name);

    /// certificate is a file with a certificate for localhost and its key; the first call for a
    /// key makes it. `key` is a scenario's: "ecdsa-p256", "rsa-2048". Throws std::runtime_error.
    [[nodiscard]] std::filesystem::path certificate(std::string const& key);

private:
    sigset_t mask_;
    std::filesystem::path path_;
    std::map<std::string, std::filesystem::path> certificates_;
    int folders_made_ = 0;
};

} // namespace cleat::bench
