#include "manual/manual.hpp"

#include <doctest/doctest.h>

namespace cleat::manual::manual_test {
namespace {

bool contains(std::string const& text, std::string_view part)
{
    return text.find(part) != std::string::npos;
}

page echo()
{
    option const count{.names = {"-n", "--count"}, .value = "NUM", .help = "Often. Or not."};
    option const colour{
        .names = {"--colour"}, .value = "WORD", .help = "[it's] a:b", .choices = {"red", "blue"}};
    option const quiet{.names = {"--quiet"}, .help = ".dot\\slash"};
    option const version{.names = {"--version"}, .help = "which", .is_of_one = true};
    option const log{
        .names = {"--log"},
        .value = "FILE|off",
        .help = "here",
        .choices = {"off"},
        .source = value_source::files};
    option const loud{.names = {"--loud"}, .help = "or not", .choices = {"on", "off"}};
    option const how{.names = {"HOW"}, .help = "how", .choices = {"slow", "fast"}};
    option const files{
        .names = {"FILE"},
        .value = "FILE",
        .help = "read",
        .source = value_source::files,
        .is_repeated = true};
    return {
        .name = "echo-it",
        .version = "echo-it 1",
        .summary = "says it \"again\"",
        .description = {"First.", "Second."},
        .commands = {
            {.synopses = {"[OPTIONS]"}, .sections = {{"", {quiet, version}}}},
            {.name = "twice",
             .summary = "two times. And more",
             .synopses = {"[OPTIONS] FILE"},
             .sections = {{"How", {count, colour, log, loud, how, files}}},
             .examples = "  .first\n\n  second\n"},
            {.name = "also", .summary = "as alone", .is_like_program = true}}};
}

TEST_CASE("roff sees no request and no escape in a text")
{
    CHECK(roff_text(".dot") == "\\&.dot\n");
    CHECK(roff_text("'quote") == "\\&'quote\n");
    CHECK(roff_text("a\\b --flag") == "a\\eb \\-\\-flag\n");
    CHECK(roff_text("a:b: c") == "a:\\:b: c\n");
    CHECK(roff_text("one\n\ntwo") == "one\n.PP\ntwo\n");
    CHECK(roff_heading("a \"b\"") == ".SH \"A \\(dqB\\(dq\"\n");
    CHECK(roff_example("a\n\n.b\n") == ".PP\n.RS 4\n.nf\na\n\\&\n\\&.b\n.fi\n.RE\n");
}

TEST_CASE("a manual page has every command and option")
{
    std::string const made = to_roff(echo());
    CHECK(contains(made, ".TH ECHO-IT 1 \"\" \"echo\\-it 1\"\n"));
    CHECK(contains(made, "echo\\-it \\- says it \"again\"\n"));
    CHECK(contains(made, "First.\n.PP\nSecond.\n"));
    CHECK(contains(made, ".B \"echo\\-it twice\"\n[OPTIONS] FILE\n"));
    CHECK(contains(made, ".SH \"ECHO\\-IT TWICE\"\n"));
    CHECK(contains(made, ".SS \"How\"\n.TP\n\\fB\\-n\\fR, \\fB\\-\\-count\\fR \\fINUM\\fR\n"));
    CHECK(contains(made, "\\fB\\-\\-quiet\\fR\n\\&.dot\\eslash\n"));
    CHECK(contains(made, ".TP\n\\fBFILE\\fR\nread\n"));
}

// tests/packages runs the scripts in their shells.
TEST_CASE("bash has a table of each command's flags, values and words")
{
    std::string const made = to_bash(echo());
    CHECK(contains(made, "commands=\"twice also\""));
    CHECK(contains(
        made, "        twice)\n"
              "            flags=\"--colour --count --log --loud\"\n"
              "            valued=\"--colour --count --log -n\"\n"
              "            places=(\"slow fast\" \"/\")\n"
              "            case $flag in\n"
              "                --colour) values=\"red blue\" ;;\n"
              "                --log) values=\"off /\" ;;\n"
              "                --loud) values=\"on off\" ;;\n"
              "            esac\n"
              "            ;;\n"));
    CHECK(contains(made, "        also)\n            flags=\"--quiet\"\n"));
    CHECK(contains(
        made, "        *)\n            first=1\n            flags=\"--quiet --version\"\n"));
    CHECK(contains(made, "complete -F _echo_it echo-it\n"));
}

TEST_CASE("zsh shows the first sentence of each help, with its own marks escaped")
{
    std::string const made = to_zsh(echo());
    CHECK(made.starts_with("#compdef echo-it\n"));
    CHECK(contains(made, "'twice:two times'"));
    CHECK(contains(made, "'*--count=[Often]:NUM: '"));
    CHECK(contains(made, "'*-n[Often]:NUM: '"));
    CHECK(contains(made, "'*--colour=[\\[it'\\''s\\] a\\:b]:WORD:(red blue)'"));
    CHECK(contains(made, "'*--log=[here]:FILE|off: _echo_it_or_file off'"));
    CHECK(contains(made, "'*--loud=-[or not]::value:(on off)'"));
    CHECK(contains(made, "'1:HOW:(slow fast)' \\\n                '*:FILE:_files'\n"));
}

} // namespace
} // namespace cleat::manual::manual_test
