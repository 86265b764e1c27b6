// Other builds of a server: NAME=SERVER:PROGRAM, and what is wrong with such a text.

#include "compare/peer.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

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
    CHECK(found.preset == find_preset("cleat"));
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
    CHECK(error_of("before:cleat=/bin/sh").starts_with("write NAME=SERVER:PROGRAM"));
    CHECK(error_of("=cleat:/bin/sh").starts_with("'' cannot be the name of a build"));
    CHECK(error_of("a b=cleat:/bin/sh").starts_with("'a b' cannot be the name of a build"));
    CHECK(error_of("-a=cleat:/bin/sh").starts_with("'-a' cannot be the name of a build"));
    CHECK(
        error_of("a=apache:/bin/sh").starts_with("there is no server 'apache': take one of cleat"));
    CHECK(error_of("a=cleat:") == "'' cannot be run: it is empty: name the program's file");
    CHECK(
        error_of("a=cleat:/bin") ==
        "'/bin' cannot be run: it is a folder: name the program's file");
    CHECK(error_of("a=cleat:/etc/passwd").starts_with("'/etc/passwd' cannot be run: Permission"));
}

} // namespace
} // namespace cleat::bench::peer_test
