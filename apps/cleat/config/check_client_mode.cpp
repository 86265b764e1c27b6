#include "config/check_client_mode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace cleat::app {
namespace {

// A setting of a frontend, or of all, for the TLS of clients. Null: it is not set.
struct tls_key
{
    std::string_view key;
    location const* (*global)(config const&) = nullptr;
    location const* (*own)(frontend_config const&) = nullptr;
};

// The default is no mistake: `cleat --default-config` writes it.
template <auto Member>
location const* place_of_global(config const& c)
{
    return *(c.*Member) == *(config{}.*Member) ? nullptr : &(c.*Member).location;
}

template <auto Member>
location const* place_of_own(frontend_config const& frontend)
{
    return frontend.*Member ? &(frontend.*Member)->location : nullptr;
}

template <auto Member, class Scope>
location const* place_of_first(Scope const& scope)
{
    return (scope.*Member).empty() ? nullptr : &(scope.*Member).front().location;
}

constexpr tls_key keys_for_clients[] = {
    {"pem-file", place_of_first<&config::pem_files, config>,
     place_of_first<&frontend_config::pem_files, frontend_config>},
    {"pem-dir", place_of_first<&config::pem_dirs, config>},
    {"pem-dir-glob", place_of_global<&config::pem_dir_glob>},
    {"pem-dir-recursive", place_of_global<&config::pem_dir_recursive>},
    {"pem-dir-skip-broken", place_of_global<&config::pem_dir_skip_broken>},
    {"certificate-cache", place_of_global<&config::certificate_cache>},
    {"certificate-index", place_of_global<&config::certificate_index>},
    {"certificate-compression", place_of_global<&config::certificate_compression>,
     place_of_own<&frontend_config::certificate_compression>},
    {"match-global-certs", nullptr, place_of_own<&frontend_config::match_global_certs>},
    {"sni-nomatch-abort", place_of_global<&config::sni_nomatch_abort>,
     place_of_own<&frontend_config::sni_nomatch_abort>},
    {"acme-challenges", place_of_global<&config::acme_challenges>},
    {"alpn-protos", place_of_global<&config::alpn_protos>},
    {"ticket-secret", place_of_global<&config::ticket_secret>},
    {"ticket-epoch", place_of_global<&config::ticket_epoch>},
    {"ticket-lifetime", place_of_global<&config::ticket_lifetime>},
    {"ticket-ratchet", place_of_global<&config::ticket_ratchet>},
    {"session-cache", place_of_global<&config::session_cache>},
    {"tickets", place_of_global<&config::tickets>},
    {"tickets-resumed", place_of_global<&config::tickets_resumed>},
    {"prefer-server-ciphers", place_of_global<&config::prefer_server_ciphers>,
     place_of_own<&frontend_config::prefer_server_ciphers>},
    {"client-verify", place_of_global<&config::client_verify>,
     place_of_own<&frontend_config::client_verify>},
    {"client-verify-ca", place_of_global<&config::client_verify_ca>,
     place_of_own<&frontend_config::client_verify_ca>},
    {"client-verify-sigalgs", place_of_global<&config::client_verify_sigalgs>,
     place_of_own<&frontend_config::client_verify_sigalgs>},
    {"client-verify-depth", place_of_global<&config::client_verify_depth>,
     place_of_own<&frontend_config::client_verify_depth>},
    {"client-verify-crl", place_of_global<&config::client_verify_crl>,
     place_of_own<&frontend_config::client_verify_crl>},
    {"client-verify-crl-stale", place_of_global<&config::client_verify_crl_stale>,
     place_of_own<&frontend_config::client_verify_crl_stale>},
    {"client-allow", place_of_first<&config::certificate_rules, config>,
     place_of_first<&frontend_config::certificate_rules, frontend_config>},
    {"client-allow-file", place_of_global<&config::client_allow_file>,
     place_of_own<&frontend_config::client_allow_file>},
    {"tls-protos", nullptr, place_of_own<&frontend_config::tls_protos>},
    {"ciphers", nullptr, place_of_own<&frontend_config::ciphers>},
    {"ciphersuites", nullptr, place_of_own<&frontend_config::ciphersuites>},
    {"ecdh-curve", nullptr, place_of_own<&frontend_config::ecdh_curve>},
};

// With the backend's TLS they are for that.
constexpr tls_key keys_for_both[] = {
    {"tls-protos", place_of_global<&config::tls_protos>},
    {"ciphers", place_of_global<&config::ciphers>},
    {"ciphersuites", place_of_global<&config::ciphersuites>},
    {"ecdh-curve", place_of_global<&config::ecdh_curve>},
};

class client_mode_check
{
public:
    client_mode_check(upstream_index const& index, std::vector<problem>& problems)
        : config_{index.settings()}, index_{index}, problems_{problems}
    {
    }

    void run()
    {
        if (!any_ends_tls(config_))
            check_global_keys();
        bool is_backend_used = false;
        for (frontend_config const& each : config_.frontends) {
            is_backend_used = is_backend_used || uses_backend(each);
            if (takes_plaintext(config_, each))
                check_frontend(each);
        }
        if (*config_.client && !is_backend_used)
            check_backend_keys();
    }

private:
    void refuse(location const& where, std::string_view key, std::string text, std::string cure)
    {
        problems_.push_back(
            {problem::severity::error, where, std::string{key}, std::move(text), std::move(cure),
             true});
    }

    [[nodiscard]] bool uses_backend(frontend_config const& frontend) const
    {
        return effective(frontend.upstream, config_.upstream)->empty();
    }

    void check_global_keys()
    {
        auto const check = [&](tls_key const& each) {
            location const* const where = each.global == nullptr ? nullptr : each.global(config_);
            if (where != nullptr)
                refuse(
                    *where, each.key,
                    "this is for clients that speak TLS, and every frontend takes plaintext",
                    each.key == "pem-file"
                        ? "Leave it out; tls-cert is cleat's certificate for servers that ask."
                    : each.key == "alpn-protos"
                        ? "Leave it out; tls-alpn has the protocols for the servers."
                        : "Leave it out, or turn client off in a frontend.");
        };
        std::ranges::for_each(keys_for_clients, check);
        if (!*config_.client) // The upstream blocks have their own.
            std::ranges::for_each(keys_for_both, check);
    }

    void check_backend_keys()
    {
        upstream_config const backend = backend_block(config_);
        auto const check = [&](location const& where, std::string_view key) {
            if (!where.is_built_in())
                refuse(
                    where, key, "this is for the backend, which no frontend uses",
                    "Write it into the upstream blocks.");
        };
        check(backend.tls.verify.location, "tls-verify");
        check(backend.tls.ca.location, "tls-ca");
        check(backend.tls.name.location, "tls-name");
        check(backend.tls.alpn.location, "tls-alpn");
        check(backend.tls.cert.location, "tls-cert");
        check(backend.tls.key.location, "tls-key");
        check(backend.tls.proxy_header.location, "tls-proxy-header");
    }

    void check_frontend(frontend_config const& frontend)
    {
        for (tls_key const& each : keys_for_clients)
            if (location const* const where = each.own == nullptr ? nullptr : each.own(frontend);
                where != nullptr)
                refuse(
                    *where, each.key,
                    "this is for clients that speak TLS, and this frontend takes plaintext",
                    "Leave it out, or turn client off in the frontend.");
        check_upstream(frontend, effective(frontend.upstream, config_.upstream));
        for (route_config const& each : frontend.routes)
            if (!each.upstream->empty()) // Or it has been reported.
                check_upstream(frontend, each.upstream);
    }

    void check_upstream(frontend_config const& frontend, setting<std::string> const& name)
    {
        upstream_config const* const block = index_.find(*name);
        if (block == nullptr && !name->empty())
            return; // It has been reported.
        upstream_tls_config const& tls = block == nullptr ? config_.backend_tls : block->tls;
        bool const speaks_tls = block == nullptr ? *config_.client : *tls.enabled;
        if (!speaks_tls)
            refuse(
                name.location.is_built_in() ? frontend.client->location : name.location, "client",
                fmt::format(
                    "the clients of {} send plaintext, and {} takes plaintext: nothing would be "
                    "encrypted",
                    to_string(frontend.address()),
                    block == nullptr ? "the backend" : "the upstream " + *name),
                block == nullptr
                    ? "Write client = on at the top, for a backend that speaks TLS, or an upstream "
                      "block with tls = on."
                    : fmt::format("Write tls = on into the upstream {}.", *name));
        else if (tls.alpn->as_client && !config_.alpn_protos->empty()) // Or it has been reported.
            refuse(
                tls.alpn.location, "tls-alpn",
                fmt::format(
                    "the clients of {} send plaintext, and agree on no protocol",
                    to_string(frontend.address())),
                "List the protocols here.");
    }

    config const& config_;
    upstream_index const& index_;
    std::vector<problem>& problems_;
};

} // namespace

bool any_ends_tls(config const& settings)
{
    return std::ranges::any_of(settings.frontends, [&](frontend_config const& each) {
        return !takes_plaintext(settings, each);
    });
}

void check_client_mode(upstream_index const& index, std::vector<problem>& problems)
{
    client_mode_check{index, problems}.run();
}

} // namespace cleat::app
