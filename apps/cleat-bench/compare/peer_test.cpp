// Other builds of a server, NAME=SERVER:PROGRAM, servers of the user's own, NAME=COMMAND, and what
// is wrong with such a text.

#include "compare/own_command.hpp"
#include "compare/peer.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace cleat::bench::peer_test {
namespace {

std::string error_of(std::string_view text)
{
    try {
        static_cast<void>(parse_build(text));
    } catch (std::runtime_error const& e) {
        return e.what();
    }
    return "none";
}

TEST_CASE("a build has a name of its own, and the settings of a server")
{
    peer const found = parse_build("before=cleat:/bin/sh");
    CHECK(found.name == "before");
    CHECK(found.preset.name == "cleat");
    CHECK(found.program == "/bin/sh");
    CHECK(program_of(found, "/none") == std::filesystem::path{"/bin/sh"});
    // A server's own name is free where the server itself does not take part.
    CHECK(parse_build("epoll=epoll:/bin/sh").name == "epoll");
}

TEST_CASE("only the first '=' and the first ':' behind it separate")
{
    CHECK(error_of("a=cleat:/none/x=y:z").starts_with("'/none/x=y:z' cannot be run: No such file"));
}

TEST_CASE("a text that names no build is refused, with the cure")
{
    CHECK(error_of("").starts_with("write NAME=SERVER:PROGRAM"));
    CHECK(error_of("before").starts_with("write NAME=SERVER:PROGRAM"));
    CHECK(error_of("before=/bin/sh").starts_with("write NAME=SERVER:PROGRAM"));
    CHECK(error_of("before:cleat=/bin/sh").starts_with("'before:cleat' cannot be the name"));
    CHECK(error_of("=cleat:/bin/sh").starts_with("'' cannot be the name of a server"));
    CHECK(error_of("a b=cleat:/bin/sh").starts_with("'a b' cannot be the name of a server"));
    CHECK(error_of("-a=cleat:/bin/sh").starts_with("'-a' cannot be the name of a server"));
    CHECK(
        error_of("a=apache:/bin/sh").starts_with("there is no server 'apache': take one of cleat"));
    CHECK(error_of("a=cleat:") == "'' cannot be run: it is empty: name the program's file");
    CHECK(
        error_of("a=cleat:/bin") ==
        "'/bin' cannot be run: it is a folder: name the program's file");
    CHECK(error_of("a=cleat:/etc/passwd").starts_with("'/etc/passwd' cannot be run: Permission"));
}

TEST_CASE("the words of a command become a template, with quotes and without a shell")
{
    peer const found = parse_start("mine=/bin/sh --listen=127.0.0.1:{port}\t'a  b' \"it's\" {pem} "
                                   "{origin} -w{workers} {} {A} '' ");
    CHECK(found.name == "mine");
    CHECK(found.program == "/bin/sh");
    CHECK(
        found.preset.arguments == std::vector<std::string>{
                                      "--listen=127.0.0.1:@PORT@", "a  b", "it's", "@PEM@",
                                      "127.0.0.1:@UPSTREAM@", "-w@WORKERS@", "{}", "{A}", ""});
    CHECK(!found.preset.one_worker);
    CHECK(parse_start("mine=/bin/sh {port} {cert} {key}").preset.one_worker);
    CHECK(parse_start("mine=sh {port} {pem}").program.filename() == "sh");
}

TEST_CASE("a command that cannot start a server is refused, with the cure")
{
    auto const error = [](std::string_view text) {
        try {
            static_cast<void>(parse_start(text));
        } catch (std::runtime_error const& e) {
            return std::string{e.what()};
        }
        return std::string{"none"};
    };
    CHECK(error("mine").starts_with("write NAME='COMMAND'"));
    CHECK(error("mine=").starts_with("write NAME='COMMAND'"));
    CHECK(error("mine= ") == "the command is empty");
    CHECK(error("a b=sh {port}").starts_with("'a b' cannot be the name of a server"));
    CHECK(error("mine='sh {port}").ends_with("has no end"));
    CHECK(error("mine=/none {port} {pem}").starts_with("'/none' cannot be run"));
    CHECK(error("mine=sh {pem}").starts_with("the command has no {port}"));
    CHECK(error("mine=sh {port} {cert}").starts_with("the command has neither {pem} nor"));
    CHECK(
        error("mine=sh {port} {pem} {certs}").starts_with("there is no value for {certs}: these"));
}

} // namespace
} // namespace cleat::bench::peer_test
