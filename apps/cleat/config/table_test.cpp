#include "config/help.hpp"
#include "config/key_text.hpp"
#include "config/reference.hpp"
#include "config/table.hpp"
#include "config/values.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

namespace cleat::app::table_test {
namespace {

std::vector<problem> give(config& settings, std::string_view key, std::string_view text)
{
    key_row const* const row = find_key(key);
    REQUIRE(row);
    location const place{"test.conf", 7, 3};
    std::vector<problem> problems;
    apply(settings, {*row, key, text, place, dialect::hitch}, problems);
    return problems;
}

std::string only_problem(std::string_view key, std::string_view text)
{
    config c;
    std::vector<problem> const problems = give(c, key, text);
    INFO(key << " = " << text);
    REQUIRE(problems.size() == 1);
    return to_string(problems.front());
}

bool is_silent(std::string_view key, std::string_view text)
{
    config c;
    return give(c, key, text).empty();
}

TEST_CASE("every row is whole")
{
    std::set<std::string_view> names;
    std::set<std::string_view> short_flags;
    for (key_row const& row : config_table()) {
        INFO(row.name);
        CHECK(names.insert(row.name).second);
        CHECK((row.short_flag.empty() || short_flags.insert(row.short_flag).second));
        CHECK((row.short_flag.empty() || row.where.flag));
        CHECK(row.help.ends_with('.'));
        CHECK((row.note.empty() || row.note.ends_with('.')));
        CHECK_FALSE(default_of(row).empty());
        CHECK((row.value.empty() == (row.kind == value_kind::boolean)));
        CHECK(find_key(row.name) == &row);

        // A key takes effect where it may stand, and nowhere else; if it does not, it says what
        // does.
        bool const is_supported = row.status == key_status::supported;
        CHECK(
            (row.set_global != nullptr) == (is_supported && (row.where.global || row.where.flag)));
        bool const takes_effect = is_supported && row.frontend_cure.empty();
        CHECK((row.set_frontend != nullptr) == (takes_effect && row.where.frontend));
        CHECK((row.set_pem_file != nullptr) == (is_supported && row.where.pem_file));
        // stud's `tls` takes effect in an upstream block only.
        bool const in_upstream = is_supported || row.name == "tls";
        CHECK((row.set_upstream != nullptr) == (in_upstream && row.where.upstream));
        CHECK((row.set_server != nullptr) == (is_supported && row.where.server));
        CHECK((row.set_route != nullptr) == (is_supported && row.where.route));
        CHECK((row.set_allow != nullptr) == (is_supported && row.where.allow));
        CHECK(row.cure.empty() == is_supported);
        CHECK((is_supported || row.cure.ends_with('.')));

        bool const is_numeric = row.kind == value_kind::number && is_supported;
        CHECK((!is_numeric || row.lowest < row.highest));
    }
}

TEST_CASE("every default that is shown can be set, and says the same then")
{
    for (key_row const& row : config_table()) {
        if (!row.show || row.show(config{}).empty())
            continue;
        INFO(row.name);
        config c;
        CHECK(give(c, row.name, row.show(config{})).empty());
        CHECK(row.show(c) == row.show(config{}));
    }
}

TEST_CASE("the defaults are those of the manual")
{
    auto const says = [](std::string_view key) { return default_of(*find_key(key)); };
    CHECK(says("backend") == "[127.0.0.1]:8000");
    CHECK(says("workers") == "1");
    CHECK(says("keepalive") == "3600");
    CHECK(says("ssl-handshake-timeout") == "30");
    CHECK(says("backend-connect-timeout") == "30");
    CHECK(says("idle-timeout") == "0");
    CHECK(says("shutdown-timeout") == "30");
    CHECK(says("tls-protos") == "TLSv1.2 TLSv1.3");
    CHECK(says("ecdh-curve") == "X25519MLKEM768:X25519:P-256");
    CHECK(says("recv-bufsize") == "-1");
    CHECK(says("log-level") == "1");
    CHECK(says("proxy-tlv") == "on");
    CHECK(says("proxy-authority") == "on");
    CHECK(says("syslog-facility") == "daemon");
}

TEST_CASE("a size of memory has a unit, and is shown as it was written")
{
    config c;
    for (std::string_view const size : {"64M", "512M", "1G", "1048575G", "70001K", "auto", "off"}) {
        INFO(size);
        CHECK(give(c, "max-memory", size).empty());
        CHECK(find_key("max-memory")->show(c) == size);
    }
    CHECK(give(c, "max-memory", "2048M").empty());
    CHECK(c.max_memory->bytes == std::uint64_t{2} << 30);
    CHECK(find_key("max-memory")->show(c) == "2G");
    for (std::string_view const size :
         {"M", "512", "1.5G", "-1M", "512MB", "63M", "1048577G", "18446744073709551615K"}) {
        INFO(size);
        CHECK_FALSE(give(c, "max-memory", size).empty());
    }
}

TEST_CASE("a value remembers where it came from")
{
    config c;
    CHECK(c.backlog.location.is_built_in());
    REQUIRE(give(c, "backlog", "7").empty());
    CHECK(*c.backlog == 7);
    CHECK(to_string(c.backlog.location) == "test.conf:7:3");
    REQUIRE(give(c, "frontend", "[*]:443+own.pem").empty());
    CHECK(to_string(c.frontends.at(0).pem_files.at(0).cert.location) == "test.conf:7:3");
}

TEST_CASE("a refused value leaves the one before it")
{
    config c;
    REQUIRE(give(c, "backlog", "7").empty());
    CHECK(give(c, "backlog", "0").size() == 1);
    CHECK(*c.backlog == 7);
}

TEST_CASE("an empty text brings the default back, for what is a text")
{
    config c;
    REQUIRE(give(c, "ciphers", "X").empty());
    REQUIRE(give(c, "ciphers", "").empty());
    CHECK(*c.ciphers == *config{}.ciphers);
    CHECK(c.ciphers.location.is_built_in());
    REQUIRE(give(c, "pem-file", "").empty());
    REQUIRE(give(c, "frontend", "").empty());
    CHECK(c.pem_files.empty());
    CHECK(c.frontends.empty());
    CHECK(only_problem("backlog", "").find("\"\" is not a whole number") != std::string::npos);
    CHECK(only_problem("daemon", "").find("neither on nor off") != std::string::npos);
}

TEST_CASE("on and off have hitch's many names")
{
    for (std::string_view const word : {"on", "ON", "yes", "Yes", "y", "true", "t", "T", "1"}) {
        config c;
        CHECK(give(c, "daemon", word).empty());
        CHECK(*c.daemon);
    }
    for (std::string_view const word : {"off", "Off", "no", "n", "false", "f", "0"}) {
        config c;
        CHECK(give(c, "proxy-tlv", word).empty());
        CHECK_FALSE(*c.proxy_tlv);
    }
    CHECK(
        only_problem("daemon", "maybe") ==
        "test.conf:7:3: error: daemon: \"maybe\" is neither on nor off. Write on or off.");
}

TEST_CASE("numbers keep to their range")
{
    CHECK(is_silent("workers", "1"));
    CHECK(is_silent("workers", "1024"));
    CHECK(is_silent("workers", "auto"));
    CHECK(
        only_problem("workers", "1025") ==
        "test.conf:7:3: error: workers: 1025 is out of range. Write auto, or a number from 1 to "
        "1024.");
    CHECK(is_silent("recv-bufsize", "-1"));
    CHECK(only_problem("recv-bufsize", "-2").find("-1 to 1073741824") != std::string::npos);
    for (std::string_view const text : {"1x", "x", " 1", "+1", "0x10", "1.5", "30s"})
        CHECK(only_problem("keepalive", text).find("is not a whole number") != std::string::npos);
    CHECK(
        only_problem("keepalive", "99999999999999999999999").find("is out of range") !=
        std::string::npos);
}

TEST_CASE("tls-protos takes what is safe and names what is not")
{
    config c;
    REQUIRE(give(c, "tls-protos", "tlsv1.3").empty());
    CHECK(c.tls_protos->tls_1_3);
    CHECK_FALSE(c.tls_protos->tls_1_2);
    CHECK(is_silent("tls-protos", "TLSv1.2, TLSv1.3"));
    CHECK(
        only_problem("tls-protos", "SSLv3 TLSv1.0 TLSv1.2") ==
        "test.conf:7:3: warning: tls-protos: not offered: SSLv3 and TLSv1.0, which are not safe "
        "any "
        "more (RFC 7568, RFC 8996). Clients that speak nothing newer are refused: leave them out.");
    REQUIRE(give(c, "tls-protos", "TLSv1.1, TLSv1.2").size() == 1);
    CHECK(c.tls_protos->tls_1_2);
    CHECK_FALSE(c.tls_protos->tls_1_3);
    CHECK(only_problem("tls-protos", "SSLv3").find("SSLv3 is not built") != std::string::npos);
    CHECK(only_problem("tls-protos", "TLSv1.4").find("is not a version") != std::string::npos);
    for (std::string_view const nothing : {" ", ",", " , "})
        CHECK(
            only_problem("tls-protos", nothing) ==
            "test.conf:7:3: error: tls-protos: no version of TLS is named. Write TLSv1.2 and "
            "TLSv1.3.");
}

TEST_CASE("alpn-protos is a list without gaps")
{
    config c;
    REQUIRE(give(c, "alpn-protos", " h2 , http/1.1,").empty());
    CHECK(*c.alpn_protos == std::vector<std::string>{"h2", "http/1.1"});
    for (std::string_view const text : {",", "h2,,http/1.1", ",h2", " "})
        CHECK(only_problem("alpn-protos", text).find("between two commas") != std::string::npos);
    for (std::string_view const text : {"h2 http/1.1", "h2;http/1.1", "h2:http/1.1", "h2|http/1.1"})
        CHECK(only_problem("alpn-protos", text).find("with commas") != std::string::npos);
    CHECK(is_silent("alpn-protos", std::string(255, 'a')));
    CHECK(
        only_problem("alpn-protos", std::string(256, 'a')).find("255 bytes") != std::string::npos);
}

TEST_CASE("names are taken from their lists only")
{
    CHECK(is_silent("client-verify", "required"));
    CHECK(
        only_problem("client-verify", "Required").find("none, optional or required") !=
        std::string::npos);
    CHECK(is_silent("syslog-facility", "local7"));
    CHECK(only_problem("syslog-facility", "local8").find("local0 to local7") != std::string::npos);
}

TEST_CASE("the names that a shell offers are taken")
{
    std::size_t keys = 0;
    for (key_row const& row : config_table()) {
        keys += row.names.empty() ? 0U : 1U;
        std::istringstream names{std::string{row.names}};
        for (std::string name; names >> name;)
            CHECK_MESSAGE(is_silent(row.name, name), row.name << " = " << name);
    }
    CHECK(keys == 4);
}

TEST_CASE("times of DNS are seconds, from 1 on")
{
    CHECK(is_silent("backend-refresh", "0"));
    CHECK(is_silent("dns-min-ttl", "1"));
    CHECK(only_problem("dns-min-ttl", "0").find("1 to 86400") != std::string::npos);
    CHECK(only_problem("dns-max-ttl", "90000").find("1 to 86400") != std::string::npos);
}

TEST_CASE("servers of DNS are numbers, with or without a port")
{
    for (char const* const each :
         {"192.0.2.53", "127.0.0.1:5353", "::1", "[::1]", "[::1]:5353", "192.0.2.1, [::1]:54"}) {
        CAPTURE(each);
        CHECK(is_silent("dns-servers", each));
    }
    CHECK(only_problem("dns-servers", "ns.example").find("is not an address") != std::string::npos);
    CHECK(
        only_problem("dns-servers", "ns.example:53").find("is not the number of an address") !=
        std::string::npos);
    CHECK(only_problem("dns-servers", "127.0.0.1:0").find("port 0") != std::string::npos);
}

TEST_CASE("a sandbox is a list of its parts, auto or off")
{
    for (char const* const each :
         {"auto", "off", "landlock", "landlock ports", "landlock seccomp", "auto seccomp",
          "landlock ports seccomp", "seccomp"})
        CHECK(is_silent("sandbox", each));
    for (char const* const each : {"jail", "off seccomp", "auto ports", "ports", "landlock jail"})
        CHECK(only_problem("sandbox", each).find("error: sandbox: ") != std::string::npos);
}

TEST_CASE("what has no meaning is a warning, unless nothing is asked for")
{
    CHECK(
        only_problem("ssl-engine", "auto") ==
        "test.conf:7:3: warning: ssl-engine: this has no effect. TLS libraries dropped engines: "
        "leave it out.");
    CHECK(is_silent("ssl-engine", ""));
    CHECK(only_problem("tls", "on").find("choose with tls-protos") != std::string::npos);
    CHECK(is_silent("ssl", "off"));
    CHECK(
        only_problem("shared-cache-listen", "a,1")
            .find("shared-cache-listen: this has no effect") != std::string::npos);
    CHECK(is_silent("shared-cache-listen", ""));
}

TEST_CASE("quiet is the old name for a log level")
{
    config c;
    REQUIRE(give(c, "quiet", "on").empty());
    CHECK(*c.log_level == 0);
    REQUIRE(give(c, "quiet", "off").empty());
    CHECK(*c.log_level == 1);
}

TEST_CASE("write-proxy is version 2 for hitch and version 1 for stud")
{
    location const place{"--write-proxy"};
    for (dialect const compat : {dialect::hitch, dialect::stud}) {
        config c;
        std::vector<problem> problems;
        apply(c, {*find_key("write-proxy"), "write-proxy", "on", place, compat}, problems);
        CHECK(problems.empty());
        CHECK(*c.write_proxy_v2 == (compat == dialect::hitch));
        CHECK(*c.write_proxy_v1 == (compat == dialect::stud));
    }
}

TEST_CASE("ecdh-curve auto keeps the licence to leave a group out")
{
    config c;
    REQUIRE(give(c, "ecdh-curve", "P-384").empty());
    CHECK_FALSE(c.ecdh_curve.location.is_built_in());
    REQUIRE(give(c, "ecdh-curve", "auto").empty());
    CHECK(c.ecdh_curve.location.is_built_in());
    CHECK(*c.ecdh_curve == *config{}.ecdh_curve);
}

TEST_CASE("a misspelt word finds the one that was meant")
{
    std::vector<std::string_view> const keys{"backend", "backlog", "ciphers", "pem-file"};
    CHECK(nearest("bakend", keys) == "backend");
    CHECK(nearest("backned", keys) == "backend"); // two letters swapped
    CHECK(nearest("cipher", keys) == "ciphers");
    CHECK(nearest("pemfile", keys) == "pem-file");
    CHECK(nearest("zzzzzz", keys).empty());
    CHECK(nearest("", keys).empty());
    CHECK(nearest(std::string(100'000, 'x'), keys).empty());
}

TEST_CASE("the overview fits a screen of 24 lines, and leads to everything")
{
    std::string const help = help_text("cleat");
    CHECK(std::ranges::count(help, '\n') <= 23); // The prompt has a line, too.
    std::istringstream lines{help};
    for (std::string line; std::getline(lines, line);) {
        INFO(line);
        CHECK(line.size() <= 80);
        CHECK((line.empty() || line.back() != ' '));
    }
    std::istringstream text{help};
    std::set<std::string> words;
    for (std::string word; text >> word;)
        words.insert(word);
    for (key_topic const& each : key_topics())
        CHECK(words.contains(std::string{each.name}));
    for (shown_command const& each : shown_commands())
        CHECK(words.contains(std::string{each.name}));
}

TEST_CASE("each key that takes effect as a flag is in the help of its topic")
{
    for (key_topic const& topic : key_topics()) {
        std::string const help = help_on("cleat", topic.name).value();
        for (key_row const& row : config_table()) {
            if (row.group != topic.group || !row.where.flag || row.status != key_status::supported)
                continue;
            INFO(row.name);
            char const* const next = row.kind == value_kind::boolean ? "[" : " ";
            CHECK(help.find("--" + std::string{row.name} + next) != std::string::npos);
        }
    }
}

TEST_CASE("the help names the flags that print a text")
{
    std::string const texts = help_on("cleat", "texts").value();
    for (char const* flag : {"--manual", "--config-manual", "--completion", "--reference"})
        CHECK(texts.find(flag) != std::string::npos);
    CHECK(texts.find("--config FILE") == std::string::npos);
}

TEST_CASE("the help of a topic or a key is there, and of no other word")
{
    std::string const tls = help_on("cleat", "tls").value();
    CHECK(tls.starts_with("TLS\n"));
    CHECK(tls.find("--ciphers") != std::string::npos);
    CHECK(tls.find("--workers") == std::string::npos);
    for (std::string_view const word : {"workers", "--workers"})
        CHECK(help_on("cleat", word).value().starts_with("-n, --workers"));
    CHECK(help_on("cleat", "host").value().find("frontend block") != std::string::npos);
    CHECK_FALSE(help_on("cleat", "zzz").has_value());
    CHECK(
        help_refusal("cleat", "cipher") ==
        "--help cipher: error: there is no such topic, command or key. Did you mean ciphers?\n");
    for (key_topic const& topic : key_topics())
        CHECK(help_on("cleat", topic.name).has_value());
    for (key_row const& row : config_table())
        CHECK(help_on("cleat", row.name).has_value());
}

TEST_CASE("the full help fits its width and names every flag")
{
    std::string const help = help_on("cleat", "all").value();
    std::istringstream lines{help};
    for (std::string line; std::getline(lines, line);) {
        INFO(line);
        CHECK(line.size() <= 96);
        CHECK((line.empty() || line.back() != ' '));
    }
    // The commands before it have flags of their own.
    std::size_t const options = help.find("\n\n");
    REQUIRE(options != std::string::npos);
    for (key_row const& row : config_table()) {
        INFO(row.name);
        // Another flag's name may begin with this one.
        constexpr std::string_view name_end = " ,=[\n";
        std::string const flag = "--" + std::string{row.name};
        bool is_named = false;
        for (std::size_t i = options; (i = help.find(flag, i)) != std::string::npos;
             i += flag.size())
            is_named |= i + flag.size() == help.size() ||
                        name_end.find(help[i + flag.size()]) != std::string_view::npos;
        CHECK(is_named == row.where.flag);
    }
}

TEST_CASE("the reference page in docs is the table's")
{
    std::ifstream page{CLEAT_CONFIGURATION_PAGE};
    REQUIRE(page);
    std::string const text{std::istreambuf_iterator<char>{page}, {}};
    INFO("make it again: cleat --reference > docs/reference/configuration.md");
    CHECK((text == reference_markdown())); // in parentheses: a failure shall not print both
}

} // namespace
} // namespace cleat::app::table_test
