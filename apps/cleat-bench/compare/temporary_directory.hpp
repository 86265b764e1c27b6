// workshop: the folder in which a comparison works, with its certificates.

#pragma once

#include <csignal>
#include <filesystem>
#include <map>
#include <string>

namespace cleat::bench {

/// workshop is a temporary folder; it goes when its owner does.
class workshop
{
public:
    /// Throws std::runtime_error.
    explicit workshop(sigset_t const& mask);
    workshop(workshop&&) = delete;
    ~workshop();

    [[nodiscard]] std::filesystem::path const& folder() const noexcept { return folder_; }

    /// own_folder is a new one for a server.
    [[nodiscard]] std::filesystem::path own_folder(std::string const& name);

    /// certificate is a file with a certificate for localhost and its key, made when it is first
    /// asked for. `key` is a scenario's: "ecdsa-p256", "rsa-2048". Throws std::runtime_error.
    [[nodiscard]] std::filesystem::path certificate(std::string const& key);

private:
    sigset_t mask_;
    std::filesystem::path folder_;
    std::map<std::string, std::filesystem::path> certificates_;
    int folders_ = 0;
};

} // namespace cleat::bench
