// Templates of configurations: values, conditions, and the ones that the program carries.

#include "compare/config_template.hpp"
#include "compare/preset.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

namespace cleat::bench {
namespace {

TEST_CASE("a value stands where its name stood, however often")
{
    template_values const values{{"PORT", "8443"}, {"PEM", "/a@b/c.pem"}};
    CHECK(
        fill_template("listen @PORT@;\ncert @PEM@ @PORT@;", "x", values) ==
        "listen 8443;\ncert /a@b/c.pem 8443;\n");
    CHECK(
        fill_template("someone@example.org @ @x@ @", "x", values) ==
        "someone@example.org @ @x@ @\n");
}

TEST_CASE("a line is there with a value, or without one")
{
    char const* const text = "always\n"
                             "#with IDS: cache @IDS@\n"
                             "#without IDS: no cache\n"
                             "#with care: a comment\n";
    CHECK(fill_template(text, "x", {{"IDS", "on"}}) == "always\ncache on\n#with care: a comment\n");
    CHECK(fill_template(text, "x", {{"IDS", ""}}) == "always\nno cache\n#with care: a comment\n");
}

TEST_CASE("a name that nobody knows is a mistake, not an empty place")
{
    CHECK_THROWS_WITH_AS(
        static_cast<void>(fill_template("a\nb @PROT@\n", "nginx.conf", {{"PORT", "1"}})),
        "nginx.conf:2: nobody knows a value for PROT", std::runtime_error);
    CHECK_THROWS_WITH_AS(
        static_cast<void>(fill_template("#with PROT: x\n", "nginx.conf", {})),
        "nginx.conf:1: nobody knows a value for PROT", std::runtime_error);
}

TEST_CASE("comments are left out of a table of settings")
{
    CHECK(without_comments("# a\n\nb = 1 # c\n  # d\n  e\n") == "b = 1 # c\n  e\n");
}

TEST_CASE("every preset's template can be filled, for every kind of scenario")
{
    for (preset const& each : presets())
        for (bool const ids : {false, true})
            for (unsigned const workers : {1U, 2U}) {
                CAPTURE(each.name);
                setting use;
                use.tls = ids ? "1.2" : "1.3";
                use.ciphers = ids ? "ECDHE-ECDSA-AES128-SHA" : "";
                use.session_ids = ids;
                use.workers = workers;
                use.cores = {0, 1};
                template_values const values = values_for(use);
                std::string const text = fill_template(each.config, each.config_name, values);
                CHECK(text.find("#with") == std::string::npos);
                CHECK((each.config.empty() || text.find("8443") != std::string::npos));
                for (std::string const& argument : each.arguments)
                    CHECK(
                        fill_template(argument, each.name, values).find('@') == std::string::npos);
            }
}

} // namespace
} // namespace cleat::bench
