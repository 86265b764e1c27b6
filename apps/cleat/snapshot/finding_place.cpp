#include "snapshot/finding_place.hpp"

#include <filesystem>
#include <vector>

namespace cleat::app {

finding_place place_of_finding(
    config const& settings, tls_scope const& l, certificate_files const& files,
    std::string const& finding)
{
    struct suspect
    {
        std::string about;
        std::string_view key;
        location const& where;
    };
    setting<std::string> const& authorities =
        effective(l.own(&frontend_config::client_verify_ca), settings.client_verify_ca);
    std::vector<suspect> suspects{
        {"ciphers", "ciphers",
         effective(l.own(&frontend_config::ciphers), settings.ciphers).location},
        {"ciphersuites", "ciphersuites",
         effective(l.own(&frontend_config::ciphersuites), settings.ciphersuites).location},
        {"groups", "ecdh-curve",
         effective(l.own(&frontend_config::ecdh_curve), settings.ecdh_curve).location},
        {"tickets-resumed", "tickets-resumed", settings.tickets_resumed.location},
        {"certificate compression", "certificate-compression",
         effective(
             l.own(&frontend_config::certificate_compression), settings.certificate_compression)
             .location},
        {"client signature schemes", "client-verify-sigalgs",
         effective(l.own(&frontend_config::client_verify_sigalgs), settings.client_verify_sigalgs)
             .location},
        {*authorities, "client-verify-ca", authorities.location}};
    for (std::vector<pem_file> const* pems : {&settings.pem_files, &l.pem_files()})
        for (pem_file const& each : *pems)
            if (each.client_verify_ca)
                suspects.push_back(
                    {**each.client_verify_ca, "client-verify-ca", each.client_verify_ca->location});
    setting<std::string> const& crl =
        effective(l.own(&frontend_config::client_verify_crl), settings.client_verify_crl);
    if (!crl->empty() && finding.starts_with(*crl)) // Or a file in that folder.
        return {crl.location, "client-verify-crl", finding};
    for (auto const& [name, named] : files.namings())
        suspects.push_back({name, named.key, named.where});
    for (std::vector<pem_file> const* pems : {&settings.pem_files, &l.pem_files()})
        for (pem_file const& each : *pems) // Those of a catalog have no naming.
            suspects.push_back(
                {tls::origin_of({*each.cert, *each.private_key}), "pem-file", each.location});
    for (suspect const& each : suspects) {
        // "a.pem and b.pem both answer to ..."
        bool const is_about =
            finding.starts_with(each.about + ": ") || finding.starts_with(each.about + " and ");
        if (!is_about || each.where.is_built_in())
            continue;
        // A file's name stays: the line of the setting may not have it.
        bool const is_file = each.key == "pem-file" || each.key == "pem-dir" ||
                             each.key == "client-verify-ca" || each.key == "ocsp-resp-file";
        return {
            each.where, std::string{each.key},
            is_file ? finding : finding.substr(each.about.size() + 2)};
    }
    for (setting<std::string> const& folder : settings.pem_dirs)
        if (finding.starts_with((std::filesystem::path{*folder} / "").string()))
            return {folder.location, "pem-dir", finding};
    return {l.place(), "", finding};
}

} // namespace cleat::app
