#include "config/read_files.hpp"

#include <utility>

namespace cleat::app {
namespace {

class file_collection
{
public:
    explicit file_collection(config const& settings) : settings_{settings} {}

    std::vector<read_file> run()
    {
        if (settings_.file != "-")
            add(file_use::configuration, location{"--config", 0, 0}, "config", settings_.file);
        add(settings_.pem_files);
        for (setting<std::string> const& each : settings_.pem_dirs)
            add(file_use::pem_dir, "pem-dir", each);
        add(file_use::challenges, "acme-challenges", settings_.acme_challenges);
        add(file_use::ticket_secret, "ticket-secret", settings_.ticket_secret);
        for (named_list const& each : address_lists_of(settings_))
            for (std::string const& file : (*each.list)->files)
                add(file_use::address_list, each.list->location, each.key, file);
        add(file_use::upstream_tls, upstream_files_of(settings_));
        add(file_use::verification, "client-verify-ca", settings_.client_verify_ca);
        for (frontend_config const* const each : own_settings_of(settings_)) {
            add(each->pem_files);
            if (each->client_verify_ca)
                add(file_use::verification, "client-verify-ca", *each->client_verify_ca);
        }
        add(file_use::verification, client_allow_files_of(settings_));
        add(file_use::crls, client_crls_of(settings_));
        return std::move(found_);
    }

private:
    void add(file_use use, location const& where, std::string_view key, std::string const& path)
    {
        if (!path.empty())
            found_.push_back({use, where, key, path});
    }

    void add(file_use use, std::string_view key, setting<std::string> const& path)
    {
        add(use, path.location, key, *path);
    }

    void add(file_use use, std::vector<named_path> const& paths)
    {
        for (named_path const& each : paths)
            add(use, each.key, *each.path);
    }

    void add(std::vector<pem_file> const& files)
    {
        for (pem_file const& each : files) {
            add(file_use::certificate, each.location, "pem-file", *each.cert);
            add(file_use::certificate, each.location, "private-key", *each.private_key);
            add(file_use::certificate, "ocsp-resp-file", each.ocsp_resp_file);
            if (each.client_verify_ca)
                add(file_use::verification, "client-verify-ca", *each.client_verify_ca);
        }
    }

    config const& settings_;
    std::vector<read_file> found_;
};

} // namespace

std::vector<read_file> read_files_of(config const& settings)
{
    return file_collection{settings}.run();
}

} // namespace cleat::app
