// Templates of configurations: values, conditions, and the embedded templates.

#include "compare/config_template.hpp"
#include "compare/preset.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

namespace cleat::bench::config_template_test {
namespace {

TEST_CASE("each occurrence of a name is replaced by its value")
{
    template_values const values{{"PORT", "8443"}, {"PEM", "/a@b/c.pem"}};
    CHECK(
        fill_template("listen @PORT@;\ncert @PEM@ @PORT@;", "x", values) ==
        "listen 8443;\ncert /a@b/c.pem 8443;\n");
    CHECK(
        fill_template("someone@example.org @ @x@ @", "x", values) ==
        "someone@example.org @ @x@ @\n");
}

TEST_CASE("a line depends on whether a name has a value")
{
    char const* const text = "always\n"
                             "#with IDS: cache @IDS@\n"
                             "#without IDS: no cache\n"
                             "#with care: a comment\n";
    CHECK(fill_template(text, "x", {{"IDS", "on"}}) == "always\ncache on\n#with care: a comment\n");
    CHECK(fill_template(text, "x", {{"IDS", ""}}) == "always\nno cache\n#with care: a comment\n");
}

TEST_CASE("an unknown name is an error, not an empty value")
{
    CHECK_THROWS_WITH_AS(
        static_cast<void>(fill_template("a\nb @PROT@\n", "nginx.conf", {{"PORT", "1"}})),
        "nginx.conf:2: there is no value for PROT", std::runtime_error);
    CHECK_THROWS_WITH_AS(
        static_cast<void>(fill_template("#with PROT: x\n", "nginx.conf", {})),
        "nginx.conf:1: there is no value for PROT", std::runtime_error);
}

TEST_CASE("comments are left out of a table of settings")
{
    CHECK(without_comments("# a\n\nb = 1 # c\n  # d\n  e\n") == "b = 1 # c\n  e\n");
}

TEST_CASE("every preset's template can be filled, for every kind of scenario")
{
    for (server_preset const& each : presets())
        for (bool const ids : {false, true})
            for (unsigned const workers : {1U, 2U}) {
                CAPTURE(each.name);
                server_settings settings;
                settings.tls = ids ? "1.2" : "1.3";
                settings.ciphers = ids ? "ECDHE-ECDSA-AES128-SHA" : "";
                settings.session_ids = ids;
                settings.alpn = ids ? "" : "h2";
                settings.workers = workers;
                settings.cores = {0, 1};
                template_values const values = values_for(settings);
                std::string const text = fill_template(each.config, each.config_name, values);
                CHECK(text.find("#with") == std::string::npos);
                CHECK((each.config.empty() || text.find("8443") != std::string::npos));
                for (std::string const& argument : each.arguments)
                    CHECK(
                        fill_template(argument, each.name, values).find('@') == std::string::npos);
            }
}

} // namespace
} // namespace cleat::bench::config_template_test
