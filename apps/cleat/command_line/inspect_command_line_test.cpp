#include "command_line/command_line.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <variant>
#include <vector>

namespace cleat::app::inspect_command_line_test {
namespace {

using strings = std::vector<std::string>;

command parse(std::initializer_list<char const*> words)
{
    std::vector<char const*> all{"cleat"};
    all.insert(all.end(), words);
    return parse_command_line(all);
}

strings mistakes_in(std::initializer_list<char const*> words)
{
    command const made = parse(words);
    REQUIRE(std::holds_alternative<refused>(made));
    strings lines;
    for (problem const& each : std::get<refused>(made).problems)
        lines.push_back(to_string(each));
    return lines;
}

explain_client explained(std::initializer_list<char const*> words)
{
    command const made = parse(words);
    REQUIRE(std::holds_alternative<explain_client>(made));
    return std::get<explain_client>(made);
}

} // namespace

TEST_CASE("check takes the flags of a start, and its own")
{
    command const made = parse({"check", "--json", "-f", "[::1]:443", "--all", "a.pem"});
    REQUIRE(std::holds_alternative<report_certificates>(made));
    auto const& found = std::get<report_certificates>(made);
    CHECK((found.json && found.all));
    CHECK(found.settings.frontends.front().address() == host_port{"::1", 443});
    CHECK(*found.settings.pem_files.front().cert == "a.pem");
}

TEST_CASE("an unknown flag of check is an error with the nearest one")
{
    CHECK(
        mistakes_in({"check", "--al", "a.pem"}) ==
        strings{"--al: error: there is no such flag. Did you mean --all?"});
    CHECK(
        mistakes_in({"check", "--zzzzzzzzzz"}) ==
        strings{"--zzzzzzzzzz: error: there is no such flag. cleat check --help lists all flags."});
}

TEST_CASE("the flags of check are none of a start")
{
    CHECK(std::holds_alternative<refused>(parse({"--json", "a.pem"})));
    CHECK(std::holds_alternative<refused>(parse({"check", "-t", "a.pem"})));
}

TEST_CASE("explain takes a name, protocols, an address and a frontend")
{
    explain_client const found = explained(
        {"explain", "--sni", "a.example", "--alpn", "h2,http/1.1", "--alpn", "imap", "--from",
         "192.0.2.1", "--to", "[*]:8443", "--json", "a.pem"});
    CHECK(found.server_name == "a.example");
    CHECK(found.alpn == strings{"h2", "http/1.1", "imap"});
    CHECK(found.address == "192.0.2.1");
    CHECK(found.to == host_port{"*", 8443});
    CHECK(found.json);
    CHECK(explained({"explain", "--sni=", "a.pem"}).server_name.empty());
}

TEST_CASE("every mistake of explain is reported")
{
    CHECK(
        mistakes_in({"explain", "--alpn", "h2,", "--from", "here", "--to", "[*]:1", "a.pem"}) ==
        strings{
            "--sni: error: it is missing. Name the host that the client asks for; an empty name is "
            "a client without SNI.",
            "--alpn: error: a protocol's name has 1 to 255 bytes. Write names such as h2,http/1.1.",
            "--from: error: \"here\" is no IP address. Write 192.0.2.1 or 2001:db8::1.",
            "--to: error: \"[*]:1\" is no frontend. The frontends are [*]:8443."});
    CHECK(
        mistakes_in({"explain", "--sni", "a", "--sni", "b", "a.pem"}) ==
        strings{"--sni: error: it is given more than once. Give it once."});
    CHECK(
        mistakes_in({"explain", "--sn", "a", "a.pem"}).front() ==
        "--sn: error: there is no such flag. Did you mean --sni?");
}

TEST_CASE("both have a help")
{
    for (char const* each : {"check", "explain"}) {
        command const made = parse({each, "--help"});
        REQUIRE(std::holds_alternative<print_text>(made));
        CHECK(std::get<print_text>(made).exit_code == 0);
        CHECK(std::get<print_text>(made).text.starts_with(std::string{"Usage: cleat "} + each));
    }
}

} // namespace cleat::app::inspect_command_line_test
