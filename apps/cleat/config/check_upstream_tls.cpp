#include "config/check_upstream_tls.hpp"
#include "config/route_settings.hpp"
#include "config/upstream_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace cleat::app {
namespace {

// Some route, at least.
bool sends_header(config const& c)
{
    return std::ranges::any_of(announcement_rules_of(c), [](announcement_rule const& each) {
        return each.way != announcement::nothing;
    });
}

// The TLS settings of one upstream.
class upstream_tls_check
{
public:
    upstream_tls_check(
        config const& c, upstream_config const& upstream, std::vector<problem>& problems)
        : config_{c}, upstream_{upstream}, tls_{upstream.tls}, problems_{problems}
    {
    }

    void run()
    {
        if (!*tls_.enabled)
            return refuse_all();
        if (!*tls_.verify && !tls_.ca->empty())
            refuse(
                tls_.ca.location, "tls-ca", "no server is verified: tls-verify is off",
                "Turn tls-verify on, or leave this out.");
        if (tls_.cert->empty() && !tls_.key->empty())
            refuse(
                tls_.key.location, "tls-key", "this is the key of tls-cert, which is not set",
                "Set tls-cert, or leave this out.");
        if (tls_.alpn->as_client && config_.alpn_protos->empty())
            refuse(
                tls_.alpn.location, "tls-alpn",
                "no client agrees on a protocol: alpn-protos is not set",
                "Set alpn-protos, or list the protocols here.");
        warn_of_choice();
        if (!tls_.proxy_header.location.is_built_in() && !sends_header(config_))
            refuse(
                tls_.proxy_header.location, "tls-proxy-header", "there is no header to send",
                "Turn write-proxy-v2 on, or leave this out.");
        bool const has_text =
            !upstream_.check_send->bytes.empty() || !upstream_.check_expect->bytes.empty();
        if (*upstream_.check == check_kind::tcp && has_text)
            refuse(
                upstream_.check_expect.location, "check-expect",
                "a check with check = tcp speaks no TLS, and the servers speak nothing else",
                "Write check = tls.");
        check_length(tls_.name);
        for (upstream_server const& each : upstream_.servers) {
            check_length(each.tls_name);
            check_name(each);
        }
    }

private:
    void refuse(location const& where, std::string_view key, std::string text, std::string cure)
    {
        problems_.push_back(
            {problem::severity::error, where, std::string{key}, std::move(text), std::move(cure),
             true});
    }

    // A server may choose h2 for a client of HTTP/1.1.
    void warn_of_choice()
    {
        if (tls_.alpn->fixed.size() < 2)
            return;
        problems_.push_back(
            {problem::severity::warning, tls_.alpn.location, "tls-alpn",
             "the server chooses one of these protocols, whichever the client speaks",
             config_.alpn_protos->empty()
                 ? "List the one that clients speak."
                 : "Write tls-alpn = client, or list the one that clients speak."});
    }

    [[nodiscard]] bool is_backend() const { return upstream_.name->empty(); }

    void refuse_without_tls(location const& where, std::string_view key)
    {
        if (!where.is_built_in())
            refuse(
                where, key,
                is_backend() ? "this is for a backend that speaks TLS, and client is off"
                             : "this is for servers that speak TLS, and tls is off here",
                is_backend() ? "Write it into an upstream block with tls = on, or turn client on."
                             : fmt::format(
                                   "Write tls = on into the upstream {}, or leave this out.",
                                   *upstream_.name));
    }

    void refuse_all()
    {
        refuse_without_tls(tls_.verify.location, "tls-verify");
        refuse_without_tls(tls_.ca.location, "tls-ca");
        refuse_without_tls(tls_.name.location, "tls-name");
        refuse_without_tls(tls_.alpn.location, "tls-alpn");
        refuse_without_tls(tls_.cert.location, "tls-cert");
        refuse_without_tls(tls_.key.location, "tls-key");
        refuse_without_tls(tls_.protos.location, "tls-protos");
        refuse_without_tls(tls_.groups.location, "ecdh-curve");
        refuse_without_tls(tls_.proxy_header.location, "tls-proxy-header");
        for (upstream_server const& each : upstream_.servers)
            refuse_without_tls(each.tls_name.location, "tls-name");
    }

    // RFC 1035, section 2.3.4: 255 bytes on the wire are 253 of text. SNI takes no more than 255.
    void check_length(setting<std::string> const& name)
    {
        constexpr std::size_t name_max = 253;
        if (name->size() > name_max)
            refuse(
                name.location, "tls-name",
                fmt::format("the name has {} bytes, and may have {}", name->size(), name_max),
                "Write the name that the server's certificate has.");
    }

    void check_name(upstream_server const& server)
    {
        bool const has_host = std::holds_alternative<host_port>(*server.address);
        if (*tls_.verify && !has_host && server.tls_name->empty() && tls_.name->empty())
            refuse(
                server.address.location, is_backend() ? "backend" : "server",
                fmt::format(
                    "the certificate of {} cannot be verified: this is no name of a host",
                    to_string(*server.address)),
                "Set tls-name to the name that the certificate has.");
    }

    config const& config_;
    upstream_config const& upstream_;
    upstream_tls_config const& tls_;
    std::vector<problem>& problems_;
};

} // namespace

void check_upstream_tls(config const& settings, std::vector<problem>& problems)
{
    upstream_config const backend = backend_block(settings);
    upstream_tls_check{settings, backend, problems}.run();
    for (upstream_config const& each : settings.upstreams)
        upstream_tls_check{settings, each, problems}.run();
    upstream_index const index{settings};
    for (frontend_config const& frontend : settings.frontends)
        for (route_config const& route : frontend.routes) {
            upstream_config const* const upstream = index.find(*route.upstream);
            if (!*route.passthrough || upstream == nullptr || !*upstream->tls.enabled)
                continue;
            problems.push_back(
                {problem::severity::error, route.passthrough.location, "passthrough",
                 fmt::format(
                     "the client's own TLS goes to the upstream {}, which has tls = on",
                     *upstream->name),
                 "Turn one of them off: TLS within TLS is no passthrough.", true});
        }
}

} // namespace cleat::app
