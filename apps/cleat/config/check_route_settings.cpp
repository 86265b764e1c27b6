#include "config/check_route_settings.hpp"
#include "config/route_settings.hpp"
#include "config/tls_scope.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cleat::app {
namespace {

// One route that has settings.
class settings_check
{
public:
    settings_check(
        config const& c, frontend_config const& frontend, route_config const& route,
        std::vector<problem>& problems)
        : config_{c}
        , frontend_{frontend}
        , route_{route}
        , own_{*route.settings}
        , takes_plaintext_{takes_plaintext(c, frontend)}
        , problems_{problems}
    {
    }

    void run()
    {
        if (takes_plaintext_)
            check_plaintext();
        else if (*route_.passthrough)
            check_passthrough();
        else if (!route_.certificate_rules.empty())
            check_order();
        if (!takes_plaintext_)
            check_certificates();
        check_ways();
        check_parts();
    }

private:
    void refuse(location const& where, std::string_view key, std::string text, std::string cure)
    {
        problems_.push_back(
            {problem::severity::error, where, std::string{key}, std::move(text), std::move(cure),
             true});
    }

    void check_plaintext()
    {
        for (named_place const& each : tls_settings_of(route_))
            refuse(
                *each.where, each.key,
                "this is for clients that speak TLS, and the route's frontend takes plaintext",
                "Leave it out, or turn client off in the frontend.");
        for (auto const& [key, setting] : std::array{
                 std::pair{std::string_view{"proxy-tlv"}, &own_.proxy_tlv},
                 std::pair{std::string_view{"proxy-authority"}, &own_.proxy_authority},
                 std::pair{std::string_view{"proxy-client-cert"}, &own_.proxy_client_cert}})
            if (*setting)
                refuse(
                    (*setting)->location, key,
                    "there is no fact of TLS: the route's frontend takes plaintext from clients",
                    "Leave it out, or turn client off in the frontend.");
    }

    void check_passthrough()
    {
        for (named_place const& each : tls_settings_of(route_))
            refuse(
                *each.where, each.key, "this has no effect: with passthrough the upstream ends TLS",
                "Leave it or passthrough out.");
        for (auto const& [key, setting] : std::array{
                 std::pair{std::string_view{"proxy-tlv"}, &own_.proxy_tlv},
                 std::pair{std::string_view{"proxy-client-cert"}, &own_.proxy_client_cert}})
            if (*setting)
                refuse(
                    (*setting)->location, key,
                    "cleat knows no fact of TLS here: with passthrough the upstream ends it",
                    "Leave it or passthrough out.");
    }

    // TLS begins before the client shows its certificate.
    void check_order()
    {
        std::string const where = to_string(route_.certificate_rules.front().location);
        for (named_place const& each : tls_settings_of(route_))
            refuse(
                *each.where, each.key,
                fmt::format(
                    "TLS begins before the client shows the certificate that client-certificate at "
                    "{} asks for",
                    where),
                "Write this into a route for the same clients without client-certificate, behind "
                "this one, or into the frontend.");
        frontend_config const& own = own_.own;
        check_limit_order(own.max_connections, "max-connections", where);
        for (auto const& [key, limit] :
             {std::pair{"client-max-connections", &own.client_max_connections},
              std::pair{"client-handshake-rate", &own.client_handshake_rate},
              std::pair{"client-handshake-burst", &own.client_handshake_burst}})
            if (*limit)
                check_limit_order(**limit, key, where);
    }

    void check_limit_order(
        setting<int> const& limit, std::string_view key, std::string_view certificate_rule)
    {
        if (*limit != 0)
            refuse(
                limit.location, key,
                fmt::format(
                    "connections are counted before the client shows the certificate that "
                    "client-certificate at {} asks for",
                    certificate_rule),
                "Write this into a route for the same clients without client-certificate, behind "
                "this one, or into the frontend.");
    }

    // A certificate of the frontend's with a rule for its clients would leave the route's without
    // effect.
    void check_certificates()
    {
        setting<client_verify> const* const mode =
            own_.own.client_verify ? &*own_.own.client_verify : nullptr;
        setting<std::string> const* const authorities =
            own_.own.client_verify_ca ? &*own_.own.client_verify_ca : nullptr;
        if ((mode == nullptr && authorities == nullptr) || !own_.own.pem_files.empty())
            return;
        std::vector<pem_file> const none;
        for (std::vector<pem_file> const* pems :
             {&frontend_.pem_files, frontend_.uses_global_certs() ? &config_.pem_files : &none})
            for (pem_file const& each : *pems)
                if (each.client_verify || each.client_verify_ca)
                    return refuse(
                        mode != nullptr ? mode->location : authorities->location,
                        mode != nullptr ? "client-verify" : "client-verify-ca",
                        fmt::format(
                            "the certificate {}, by {}, has a rule for its clients, which would "
                            "hold instead",
                            *each.cert, to_string(each.location)),
                        "Give the route certificates of its own, or write that rule into a route.");
    }

    // At most one way to announce the client, as for all routes.
    void check_ways()
    {
        std::string_view chosen;
        location const* first = nullptr;
        for (auto const& [key, asked] : std::array{
                 std::pair{std::string_view{"write-ip"}, &own_.write_ip},
                 std::pair{std::string_view{"write-proxy-v1"}, &own_.write_proxy_v1},
                 std::pair{std::string_view{"write-proxy-v2"}, &own_.write_proxy_v2},
                 std::pair{std::string_view{"proxy-proxy"}, &own_.proxy_proxy}}) {
            if (!*asked || !***asked)
                continue;
            if (first == nullptr) {
                chosen = key;
                first = &(*asked)->location;
                continue;
            }
            refuse(
                (*asked)->location, key,
                fmt::format("{} excludes {}, which is on by {}", key, chosen, to_string(*first)),
                fmt::format("Turn one of them off: {} = off.", key));
        }
        bool const has_header = *config_.announce == announcement::proxy_proxy ||
                                effective(frontend_.proxy_from, config_.proxy_from)->is_on();
        if (own_.proxy_proxy && **own_.proxy_proxy && !has_header)
            refuse(
                own_.proxy_proxy->location, "proxy-proxy",
                "there is no header to pass on: the frontend expects none",
                "Name the load balancers that send one with proxy-from.");
    }

    // Parts of a header that this route's upstream does not get.
    void check_parts()
    {
        bool const writes_v2 =
            announcement_rule_of(config_, route_).way == announcement::write_proxy_v2;
        auto const check = [&](auto const& part, std::string_view key) {
            if (part && !writes_v2)
                refuse(
                    part->location, key,
                    "this is a part of the header of write-proxy-v2, which is off for this route",
                    "Turn write-proxy-v2 on, or leave this out.");
        };
        check(own_.proxy_checksum, "proxy-checksum");
        check(own_.proxy_inbound_tlvs, "proxy-inbound-tlvs");
        if (!takes_plaintext_)
            check(own_.proxy_authority, "proxy-authority");
        bool const expects = effective(frontend_.proxy_from, config_.proxy_from)->is_on() ||
                             *config_.announce == announcement::proxy_proxy;
        if (own_.proxy_inbound_tlvs && writes_v2 && !expects)
            refuse(
                own_.proxy_inbound_tlvs->location, "proxy-inbound-tlvs",
                "there are no TLVs: the frontend expects no PROXY header",
                "Set proxy-from, or leave this out.");
        if (*route_.passthrough || takes_plaintext_) // The others have been refused already.
            return;
        check(own_.proxy_tlv, "proxy-tlv");
        check(own_.proxy_client_cert, "proxy-client-cert");
        bool const asks_for_certificate = own_.proxy_client_cert && **own_.proxy_client_cert;
        if (asks_for_certificate && writes_v2 && !asks_clients(config_, {frontend_, route_}) &&
            route_.certificate_rules.empty())
            refuse(
                own_.proxy_client_cert->location, "proxy-client-cert",
                "no client is asked for a certificate: client-verify is none",
                "Set client-verify to optional or required, or leave this out.");
    }

    config const& config_;
    frontend_config const& frontend_;
    route_config const& route_;
    route_settings const& own_;
    bool takes_plaintext_;
    std::vector<problem>& problems_;
};

} // namespace

void check_route_settings(config const& settings, std::vector<problem>& problems)
{
    for (frontend_config const& frontend : settings.frontends)
        for (route_config const& route : frontend.routes)
            if (route.settings != nullptr)
                settings_check{settings, frontend, route, problems}.run();
}

} // namespace cleat::app
