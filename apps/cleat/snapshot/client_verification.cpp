#include "privileged/folder_listing.hpp"
#include "snapshot/client_verification.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/tls/store/certificate_store.hpp>
#include <cleat/tls/store/file_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace cleat::app {
namespace {

tls::peer_verification verification_of(client_verify mode) noexcept
{
    switch (mode) {
    case client_verify::none:
        break;
    case client_verify::optional:
        return tls::peer_verification::optional;
    case client_verify::required:
        return tls::peer_verification::required;
    }
    return tls::peer_verification::none;
}

} // namespace

std::optional<tls::client_rule> client_verification::rule(
    setting<client_verify> const& mode, setting<std::string> const& authorities) const
{
    if (*mode == client_verify::none)
        return tls::client_rule{};
    if (authorities->empty())
        return std::nullopt;
    std::optional<tls::secret_text> const text =
        files_.read_text(authorities.location, "client-verify-ca", *authorities);
    if (!text)
        return std::nullopt;
    return tls::client_rule{verification_of(*mode), std::string{text->view()}, *authorities};
}

void client_verification::fill(
    tls::context_spec& spec, problem_list& problems, opener const& root_files) const
{
    fill_crls(spec, problems, root_files);
    spec.verify_schemes = *effective(
        scope_.own(&frontend_config::client_verify_sigalgs), settings_.client_verify_sigalgs);
    std::optional<tls::client_rule> its = rule(mode(), authorities());
    if (!its)
        return;
    spec.verify = its->verify;
    spec.verify_authorities = std::move(its->authorities);
    spec.verify_origin = *authorities();
}

namespace {

// The files of client-verify-crl: itself, or those in the folder, in the order of their names.
std::vector<std::string> crl_files(
    setting<std::string> const& path, problem_list& problems, opener const& root_files)
{
    namespace fs = std::filesystem;
    std::error_code unknown;
    if (!fs::is_directory(*path, unknown))
        return {*path};
    std::vector<std::string> found;
    folder_listing const listing = list_folder(*path, root_files);
    for (folder_entry const& each : listing.entries)
        if (each.name.front() != '.' && !each.is_folder)
            found.push_back((fs::path{*path} / each.name).string());
    if (!listing.fault.empty())
        problems.error(
            path.location, "client-verify-crl",
            fmt::format("cannot read {}: {}", *path, listing.fault),
            "Check the path and who may read it.");
    else if (found.empty()) // Without a CRL, revoked clients would be let in.
        problems.error(
            path.location, "client-verify-crl", fmt::format("{} has no file", *path),
            "Put the CRLs of the clients' authorities there, in PEM or DER.");
    std::ranges::sort(found);
    return found;
}

} // namespace

void client_verification::fill_crls(
    tls::context_spec& spec, problem_list& problems, opener const& root_files) const
{
    if (!asks_clients(settings_, scope_))
        return;
    setting<int> const& depth =
        effective(scope_.own(&frontend_config::client_verify_depth), settings_.client_verify_depth);
    if (*depth != *config{}.client_verify_depth)
        spec.verify_depth = *depth;
    spec.accept_stale_crls = *effective(
                                 scope_.own(&frontend_config::client_verify_crl_stale),
                                 settings_.client_verify_crl_stale) == stale_crls::accept;
    setting<std::string> const& path =
        effective(scope_.own(&frontend_config::client_verify_crl), settings_.client_verify_crl);
    if (path->empty())
        return;
    for (std::string const& file : crl_files(path, problems, root_files)) {
        tls::file_text const text =
            tls::read_file(file, root_files.for_files(), limits::crl_file_max);
        if (text.fault == tls::file_fault::none)
            spec.verify_crls.push_back({std::string{text.text.view()}, file});
        else
            problems.error(
                path.location, "client-verify-crl", tls::description(text, file),
                std::string{tls::cure(text)});
    }
}

std::map<std::string, tls::client_rule> client_verification::own_rules() const
{
    std::map<std::string, tls::client_rule> found;
    auto const add = [&](std::vector<pem_file> const& pems) {
        for (pem_file const& pem : pems) {
            bool const has_own = pem.client_verify || pem.client_verify_ca;
            if (!has_own && found.empty()) // As most are, of perhaps thousands.
                continue;
            std::string const origin = tls::origin_of({*pem.cert, *pem.private_key});
            found.erase(origin);
            setting<client_verify> const& its = effective(pem.client_verify, mode());
            setting<std::string> const& ca = effective(pem.client_verify_ca, authorities());
            bool const is_same_mode = *its == *mode();
            if (is_same_mode && (*its == client_verify::none || *ca == *authorities()))
                continue;
            if (std::optional<tls::client_rule> own = rule(its, ca))
                found.emplace(origin, *std::move(own));
        }
    };
    if (scope_.uses_global_certs())
        add(settings_.pem_files);
    add(scope_.pem_files());
    return found;
}

} // namespace cleat::app
