#include "config/check.hpp"
#include "config/parser.hpp"
#include "snapshot/snapshot.hpp"

#include <cleat/core/temporary_folder_for_tests.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::app::tls_planning_test {
namespace {

using numbers = std::vector<std::size_t>;

struct tls_planning_fixture
{
    tls_planning_fixture()
    {
        write("site.pem", "site.test");
        write("other.pem", "other.test");
        folder.write("rules", "client-allow = { cn = alice }\n");
    }

    void write(std::string const& file, std::string const& name) const
    {
        tls::test_identity const made = tls::make_identity({.names = {name}});
        folder.write(file, made.certificate_pem + made.key_pem);
    }

    [[nodiscard]] std::string path(std::string_view file) const
    {
        return fmt::format("\"{}\"", (folder.path() / file).string());
    }

    // A frontend with these routes.
    [[nodiscard]] std::string frontend(
        int port, std::string_view settings, std::vector<std::string> const& routes) const
    {
        std::string text =
            fmt::format("frontend = {{ host = \"127.0.0.1\" port = {} {}\n", port, settings);
        for (std::size_t i = 0; i < routes.size(); ++i)
            text += fmt::format("route = {{ sni = n{}.test upstream = u {} }}\n", i, routes[i]);
        return text + "}\n";
    }

    void load_from(std::string const& frontends)
    {
        std::string const text =
            frontends + "pem-file = " + path("site.pem") +
            " client-verify = required client-verify-ca = " + path("site.pem") +
            " upstream = { name = u server = \"/s\" }\n";
        config settings;
        std::vector<problem> problems;
        parse_config(text, "c", dialect::hitch, settings, problems);
        check(settings, problems);
        for (problem const& each : problems)
            FAIL(to_string(each));
        loaded = load(settings);
    }

    // Whether the TLS library has this setting.
    bool takes(std::string const& setting)
    {
        load_from(frontend(1, "", {setting}));
        return loaded.problems.empty();
    }

    // The numbers of the plans of all routes.
    numbers plans(std::string const& frontends)
    {
        load_from(frontends);
        for (problem const& each : loaded.problems)
            FAIL(to_string(each));
        numbers found;
        for (frontend_plan const& each : loaded.made.frontends)
            for (planned_route const& route : each.routes->routes)
                found.push_back(route.tls);
        return found;
    }

    temporary_folder folder;
    loading loaded;
};

} // namespace

TEST_CASE_FIXTURE(
    tls_planning_fixture, "routes with the same settings share a plan with their frontend's rules")
{
    std::string const rule = "client-allow = { cn = alice }";
    std::vector<std::string> const routes(100, "tls-protos = TLSv1.3");
    CHECK(plans(frontend(1, rule, routes)) == numbers(100, 1));
    CHECK(loaded.made.tls.size() == 2);
    CHECK(loaded.made.tls[0].clients == loaded.made.tls[1].clients);

    // The rules of a file, too, and those of all frontends.
    CHECK(plans(frontend(1, "client-allow-file = " + path("rules"), routes)) == numbers(100, 1));
    CHECK(
        plans(frontend(1, "", routes) + rule + " client-allow-file = " + path("rules") + "\n") ==
        numbers(100, 1));
}

TEST_CASE_FIXTURE(tls_planning_fixture, "routes with rules of their own have plans of their own")
{
    CHECK(
        plans(frontend(
            1, "client-allow = { cn = alice }",
            {"client-allow = { cn = alice }", "client-allow = { cn = bob }",
             "client-allow-file = " + path("rules"),
             "client-allow = { cn = eve } client-allow-file = " + path("rules"),
             "client-allow-file = " + path("rules")})) == numbers{1, 2, 3, 4, 3});
}

TEST_CASE_FIXTURE(tls_planning_fixture, "each setting of TLS has its plan, in each frontend")
{
    std::string const other = "client-verify-ca = " + path("other.pem");
    std::vector<std::string> settings{
        "tls-protos = TLSv1.3",
        "tls-protos = TLSv1.2",
        "ciphers = ECDHE-ECDSA-AES256-GCM-SHA384",
        "ecdh-curve = X25519",
        "ecdh-curve = P-256",
        "prefer-server-ciphers = on",
        "client-verify = none",
        "client-verify = optional",
        "client-verify-depth = 1",
        "client-verify-depth = 2",
        "client-verify-sigalgs = ed25519",
        "client-allow-file = " + path("rules"),
        other,
        other + " client-verify-depth = 1"};
    for (std::string const each : {"zlib", "brotli"})
        if (takes("certificate-compression = " + each))
            settings.push_back("certificate-compression = " + each);
    std::string more;
    SUBCASE("with certificates of a route's own")
    {
        settings.push_back("pem-file = " + path("site.pem"));
        settings.push_back("pem-file = " + path("other.pem"));
        settings.push_back("pem-file = { cert = " + path("other.pem") + " client-verify = none }");
    }
    SUBCASE("with a catalog")
    {
        more = "certificate-cache = 1 pem-file = " + path("other.pem") + "\n";
    }
    std::vector<std::string> routes = settings;
    routes.insert(routes.end(), settings.begin(), settings.end());
    routes.emplace_back("client-verify = required"); // As the frontend.
    numbers const found = plans(frontend(1, "", routes) + frontend(2, "", routes) + more);
    REQUIRE(found.size() == 2 * routes.size());
    std::set<std::size_t> const different{found.begin(), found.end()};
    CHECK(different.size() == 2 * (settings.size() + 1));
    for (std::size_t i = 0; i < settings.size(); ++i)
        CHECK(found[i] == found[i + settings.size()]);
    CHECK(found[2 * settings.size()] == 0);
    CHECK(found.back() == 1);
}

} // namespace cleat::app::tls_planning_test
