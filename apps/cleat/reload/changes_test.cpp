#include "reload/changes.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cleat::app::changes_test {
namespace {

// A configuration with one frontend, which has these certificates: {"a.pem", "its text"}.
struct pem_text
{
    std::string origin;
    std::string text;
};

snapshot with_certificates(std::vector<pem_text> const& certificates)
{
    snapshot made;
    frontend_plan& plan = made.frontends.emplace_back();
    plan.name = "[*]:443";
    tls_plan& speaks = made.tls.emplace_back();
    for (pem_text const& each : certificates) {
        speaks.spec.certificates.push_back({{}, {}, each.origin}); // See drop_texts.
        made.ends[each.origin].digest.fill(static_cast<std::byte>(each.text.size()));
    }
    return made;
}

} // namespace

TEST_CASE("two equal configurations differ in nothing")
{
    snapshot const one = with_certificates({{"a.pem", "a"}});
    configuration_changes const found = compare(one, with_certificates({{"a.pem", "a"}}));
    CHECK(found.keys.empty());
    CHECK(found.frontends_added + found.frontends_removed == 0);
    CHECK(found.certificates_added + found.certificates_removed == 0);
    CHECK(found.certificates_changed == 0);
}

TEST_CASE("certificates are counted by their files, also in several frontends")
{
    snapshot before = with_certificates({{"a.pem", "a"}, {"b.pem", "b"}, {"c.pem", "c"}});
    snapshot after = with_certificates({{"b.pem", "renewed"}, {"c.pem", "c"}, {"d.pem", "d"}});
    after.frontends.push_back(after.frontends.front());
    after.tls.push_back(after.tls.front());
    after.frontends.back().name = "[*]:8443";
    configuration_changes const found = compare(before, after);
    CHECK(found.certificates_added == 1);
    CHECK(found.certificates_removed == 1);
    CHECK(found.certificates_changed == 1);
    CHECK(found.frontends_added == 1);
    CHECK(found.frontends_removed == 0);
    CHECK(compare(after, before).frontends_removed == 1);
}

TEST_CASE("keys are named as the configuration spells them")
{
    snapshot const before = with_certificates({});
    snapshot after = with_certificates({});
    after.settings.idle_timeout.value = std::chrono::seconds{5};
    after.settings.backlog.value = 5;
    CHECK(compare(before, after).keys == std::vector<std::string>{"backlog", "idle-timeout"});
}

TEST_CASE("a key is named whose file has another content")
{
    auto const made = [](std::string const& authorities, std::string const& crl, char const* net) {
        snapshot one = with_certificates({});
        one.tls.front().spec.verify_authorities = authorities;
        one.tls.front().spec.verify_origin = "ca.pem";
        one.tls.front().spec.verify_crls = {{crl, "crl.pem"}};
        prefixes denied;
        CHECK_FALSE(add_prefix(denied, net));
        admission lists;
        lists.denied = std::make_shared<address_list const>(std::move(denied));
        one.frontends.front().admission = std::make_shared<admission const>(std::move(lists));
        return one;
    };
    using keys = std::vector<std::string>;
    snapshot const before = made("one", "one", "192.0.2.0/24");
    CHECK(compare(before, made("one", "one", "192.0.2.0/24")).keys == keys{});
    CHECK(compare(before, made("two", "one", "192.0.2.0/24")).keys == keys{"client-verify-ca"});
    CHECK(compare(before, made("one", "two", "192.0.2.0/24")).keys == keys{"client-verify-crl"});
    CHECK(compare(before, made("one", "one", "192.0.2.0/25")).keys == keys{"deny-from"});
    CHECK(compare(before, with_certificates({})).keys.size() == 3);

    snapshot after = made("one", "one", "192.0.2.0/24");
    upstream_plan& upstream = after.upstreams.emplace_back();
    upstream.name = "app";
    upstream.tls.emplace().spec.verify_authorities = "one";
    snapshot renewed = made("one", "one", "192.0.2.0/24");
    renewed.upstreams = after.upstreams;
    renewed.upstreams.front().tls->spec.verify_authorities = "two";
    CHECK(compare(after, renewed).keys == keys{"upstream"});
}

TEST_CASE("an upstream is named of which any setting has changed")
{
    snapshot before = with_certificates({});
    upstream_plan& app = before.upstreams.emplace_back();
    app.name = "app";
    app.servers.push_back({.name = "[192.0.2.1]:80", .addresses = {}});
    auto const is_named = [&](auto change) {
        snapshot after = with_certificates({});
        after.upstreams = before.upstreams;
        change(after.upstreams.front());
        return compare(before, after).keys == std::vector<std::string>{"upstream"};
    };
    CHECK_FALSE(is_named([](upstream_plan&) {}));
    // DNS has answered with another address.
    CHECK_FALSE(
        is_named([](upstream_plan& changed) { changed.servers[0].addresses.emplace_back(); }));

    CHECK(is_named([](upstream_plan& changed) { changed.servers[0].tls_name = "app.example"; }));
    CHECK(is_named([](upstream_plan& changed) { changed.servers[0].weight = 2; }));
    CHECK(is_named([](upstream_plan& changed) { changed.servers[0].is_backup = true; }));
    CHECK(is_named([](upstream_plan& changed) { changed.servers[0].connections_max = 5; }));
    CHECK(is_named([](upstream_plan& changed) { changed.strategy = balance::client_hash; }));
    CHECK(is_named([](upstream_plan& changed) { changed.eject_after = 5; }));
    CHECK(is_named([](upstream_plan& changed) { changed.eject_time *= 2; }));
    CHECK(is_named([](upstream_plan& changed) { changed.slow_start = std::chrono::seconds{1}; }));
    CHECK(is_named([](upstream_plan& changed) { changed.check.expect = "PONG"; }));
    CHECK(is_named([](upstream_plan& changed) { changed.check.header = "PROXY "; }));
    CHECK(is_named(
        [](upstream_plan& changed) { changed.check.tls = std::make_shared<check_tls const>(); }));
    CHECK(is_named([](upstream_plan& changed) { changed.preconnect.connections = 1; }));
    CHECK(is_named([](upstream_plan& changed) { changed.sources.emplace_back(); }));
    CHECK(is_named([](upstream_plan& changed) { changed.tls.emplace(); }));

    CHECK(is_named([](upstream_plan& changed) { changed.name = "web"; }));

    app.tls.emplace();
    CHECK_FALSE(is_named([](upstream_plan&) {}));
    CHECK(is_named([](upstream_plan& changed) { changed.tls->spec.groups = "X25519"; }));
    CHECK(is_named([](upstream_plan& changed) { changed.tls->spec.alpn = {"h2"}; }));
    CHECK(is_named([](upstream_plan& changed) { changed.tls->offers_clients_protocol = true; }));
    CHECK(is_named(
        [](upstream_plan& changed) { changed.tls->proxy_header = proxy_place::inside_tls; }));
}

TEST_CASE("an upstream is not named where DNS has changed a service")
{
    snapshot before = with_certificates({});
    upstream_plan& app = before.upstreams.emplace_back();
    app.name = "app";
    app.servers.push_back({.name = "srv:app", .addresses = {}, .weight = 10});
    app.servers.push_back({.name = "srv:app/2", .addresses = {}, .is_place = true});
    planned_name& service = app.names.emplace_back();
    service.targets = {"one.test", ""};
    snapshot after = with_certificates({});
    after.upstreams = before.upstreams;
    upstream_plan& changed = after.upstreams.front();
    changed.servers[0].weight = 20;
    changed.servers[0].is_backup = true;
    changed.servers[1].weight = 30;
    CHECK(compare(before, after).keys.empty());
    changed.names[0].weight = 2;
    CHECK(compare(before, after).keys == std::vector<std::string>{"upstream"});
}

} // namespace cleat::app::changes_test
