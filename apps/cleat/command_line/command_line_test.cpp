#include "command_line/command_line.hpp"
#include "command_line/manual_pages.hpp"
#include "config/help.hpp"
#include "config/key_text.hpp"
#include "config/reference.hpp"
#include "config/table.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <initializer_list>

#include <unistd.h>

namespace cleat::app::command_line_test {
namespace {

command run_as(char const* program, std::initializer_list<char const*> flags)
{
    std::vector<char const*> words{program};
    words.insert(words.end(), flags);
    return parse_command_line(words);
}

// The settings of a command line that is right; with a certificate, so that it can be.
config settings(std::initializer_list<char const*> flags)
{
    command const made = run_as("cleat", flags);
    if (auto const* bad = std::get_if<refused>(&made))
        for (problem const& each : bad->problems)
            FAIL_CHECK(to_string(each));
    REQUIRE(std::holds_alternative<serve>(made));
    return std::get<serve>(made).settings;
}

std::vector<std::string> problems(std::initializer_list<char const*> flags)
{
    command const made = run_as("/usr/sbin/cleat", flags);
    REQUIRE(std::holds_alternative<refused>(made));
    std::vector<std::string> lines;
    for (problem const& each : std::get<refused>(made).problems)
        lines.push_back(to_string(each));
    return lines;
}

using line_list = std::vector<std::string>;

// A configuration file that is gone again after its test.
class file
{
public:
    explicit file(std::string_view text)
    {
        int const fd = ::mkstemp(path_);
        REQUIRE(fd >= 0);
        ::close(fd);
        std::ofstream{path_} << text;
    }
    file(file const&) = delete;
    file& operator=(file const&) = delete;
    ~file() { ::unlink(path_); }

    char const* path() const { return path_; }

private:
    char path_[32] = "/tmp/cleat-command-XXXXXX";
};

TEST_CASE("the first command line of the manual")
{
    config const c =
        settings({"-f", "[127.0.0.1]:8443", "-b", "[127.0.0.1]:8080", "-n", "auto", "site.pem"});
    REQUIRE(c.frontends.size() == 1);
    CHECK(c.frontends[0].address() == host_port{"127.0.0.1", 8443});
    CHECK(*c.backend == upstream_address{host_port{"127.0.0.1", 8080}});
    CHECK(c.workers->number == 0);
    REQUIRE(c.pem_files.size() == 1);
    CHECK(*c.pem_files[0].cert == "site.pem");
    CHECK(to_string(c.workers.location) == "--workers");
}

TEST_CASE("hitch's short flags do what they do in hitch")
{
    config const c = settings({"-c",     "HIGH", "-O",      "-B",  "9",         "-k7",  "-u",
                               "nobody", "-g",   "nogroup", "-sq", "-p",        "/pid", "-L2",
                               "a.pem",  "-f",   "*:1",     "-f",  "*:2+x.pem", "b.pem"});
    CHECK(*c.ciphers == "HIGH");
    CHECK(*c.prefer_server_ciphers);
    CHECK(*c.backlog == 9);
    CHECK(*c.keepalive == seconds{7});
    CHECK(*c.user == "nobody");
    CHECK(*c.group == "nogroup");
    CHECK(*c.syslog);
    CHECK(*settings({"-l", "/log", "a.pem"}).log_filename == "/log"); // Not beside -s.
    CHECK(*c.pidfile == "/pid");
    CHECK(*c.log_level == 2); // -L comes after -q
    CHECK(c.frontends.size() == 2);
    REQUIRE(c.pem_files.size() == 2);
    CHECK(*c.pem_files[1].cert == "b.pem");
}

TEST_CASE("a switch alone is on, and takes its value behind an equals sign only")
{
    CHECK(*settings({"--write-ip", "a.pem"}).announce == announcement::write_ip);
    CHECK(*settings({"--write-ip=on", "a.pem"}).announce == announcement::write_ip);
    CHECK(*settings({"--write-ip=off", "a.pem"}).announce == announcement::nothing);
    CHECK(settings({"--syslog", "on"}).pem_files.size() == 1); // "on" is a file here
    CHECK(
        problems({"--syslog=maybe", "a.pem"}) ==
        line_list{"--syslog: error: \"maybe\" is neither on nor off. Write on or off."});
}

TEST_CASE("every key that may be a flag is one, with all its names")
{
    for (key_row const& row : config_table()) {
        if (!row.where.flag || row.status != key_status::supported)
            continue;
        INFO(row.name);
        std::string const value = row.show && !row.show(config{}).empty() ? row.show(config{}) : "";
        std::string const flag = fmt::format(
            "--{}={}", row.name, row.kind == value_kind::boolean && value.empty() ? "off" : value);
        CHECK(std::holds_alternative<serve>(run_as("cleat", {flag.c_str(), "a.pem"})));
    }
    CHECK(settings({"--backendrefresh=3", "a.pem"}).backend_refresh->count() == 3);
    CHECK(settings({"-R", "3", "a.pem"}).backend_refresh->count() == 3);
    CHECK(*settings({"--enable-tcp-fastopen", "a.pem"}).tcp_fastopen);
}

TEST_CASE("values that look like flags, or are empty, are values")
{
    CHECK(*settings({"--recv-bufsize", "-1", "a.pem"}).recv_bufsize == -1);
    CHECK(*settings({"--recv-bufsize=-1", "a.pem"}).recv_bufsize == -1);
    CHECK(*settings({"--ciphers=", "a.pem"}).ciphers == *config{}.ciphers);
    CHECK(*settings({"--ciphers", "", "a.pem"}).ciphers == *config{}.ciphers);
    CHECK(*settings({"--", "--odd="}).pem_files.at(0).cert == "--odd=");
}

TEST_CASE("flags replace what the file says, wherever they stand, and lists grow")
{
    file const conf{"workers = 4\nbacklog = 5\nfrontend = \"[*]:1\"\npem-file = "
                    "\"file.pem\"\nwrite-proxy-v2 = on\n"};
    config const c = settings(
        {"-n", "2", "--write-proxy-v2=off", "--write-ip", "--config", conf.path(), "-f", "[*]:2",
         "flag.pem"});
    CHECK(c.workers->number == 2);
    CHECK(*c.backlog == 5);
    CHECK(c.frontends.size() == 2);
    CHECK(*c.pem_files.back().cert == "flag.pem"); // the last is the default
    CHECK(*c.announce == announcement::write_ip);
    CHECK(to_string(c.backlog.location) == fmt::format("{}:2:11", conf.path()));
}

TEST_CASE("the last of two flags holds")
{
    CHECK(settings({"-n", "2", "-n", "3", "a.pem"}).workers->number == 3);
    CHECK(*settings({"--syslog", "--syslog=off", "a.pem"}).syslog == false);
}

TEST_CASE("every mistake is reported, those of the file and those of the flags")
{
    file const conf{"workers = 0\n"};
    line_list const all =
        problems({"--config", conf.path(), "--wrokers=3", "-Z", "-B", "x", "--tcp-fastopen"});
    CHECK(
        all == line_list{
                   "--wrokers: error: there is no such flag. Did you mean --workers?",
                   "-Z: error: there is no such flag. cleat --help lists all flags.",
                   fmt::format(
                       "{}:1:11: error: workers: 0 is out of range. Write auto, or a number from 1 "
                       "to 1024.",
                       conf.path()),
                   "--backlog: error: \"x\" is not a whole number. Write a number from 1 to 65535.",
               });
}

TEST_CASE("a flag at the end without its value is named")
{
    CHECK(
        problems({"a.pem", "-n"}) ==
        line_list{
            "--workers: error: a value was expected behind it. cleat --help explains the flags."});
}

TEST_CASE("what does not fit together is refused")
{
    CHECK(problems({"-f", "*:1"}).size() == 1); // no certificate
    CHECK(problems({"--write-ip", "--proxy-proxy", "a.pem"}).size() == 1);
    CHECK(problems({"--config", "/nowhere", "a.pem"}).size() == 1);
    CHECK(
        problems({"--config", "/a", "--config", "/b", "a.pem"}) ==
        line_list{"--config: error: there can be only one configuration file. Put them into one."});
}

TEST_CASE("hitch's client mode needs no certificate")
{
    config const c = settings({"--client", "-b", "[app.internal]:443", "--tls-ca", "ca.pem"});
    CHECK(*c.client);
    CHECK(*c.backend_tls.verify);
    CHECK(*backend_block(c).tls.ca == "ca.pem");
    CHECK(takes_plaintext(c, c.frontends.at(0)));
}

TEST_CASE("what has no effect is a warning, and cleat serves")
{
    command const made = run_as("cleat", {"--ssl", "-e", "auto", "-U", "a,1", "a.pem"});
    REQUIRE(std::holds_alternative<serve>(made));
    CHECK(std::get<serve>(made).warnings.size() == 3);
}

TEST_CASE("-t checks with the same eyes")
{
    CHECK(std::holds_alternative<check_only>(run_as("cleat", {"-t", "a.pem"})));
    CHECK(std::holds_alternative<check_only>(run_as("cleat", {"--test", "a.pem"})));
    CHECK(std::holds_alternative<refused>(run_as("cleat", {"-t"})));
}

TEST_CASE("a flag that asks for a text gets it, also where other flags are wrong")
{
    command const help = run_as("cleat", {"-h", "-n", "x"});
    REQUIRE(std::holds_alternative<print_text>(help));
    CHECK(std::get<print_text>(help).text == help_text("cleat"));
    CHECK(std::get<print_text>(help).exit_code == 0);
    CHECK(std::holds_alternative<show_version>(run_as("cleat", {"-V"})));
    CHECK(std::get<print_text>(run_as("cleat", {"--reference"})).text == reference_markdown());
    CHECK(
        std::get<print_text>(run_as("cleat", {"--default-config"})).text ==
        default_configuration());
}

TEST_CASE("--help with a word explains it, and refuses one that it does not know")
{
    for (command const& made :
         {run_as("cleat", {"--help", "ciphers"}), run_as("cleat", {"-h", "ciphers"}),
          run_as("cleat", {"--help=ciphers"})}) {
        CHECK(std::get<print_text>(made).text == help_on("cleat", "ciphers"));
        CHECK(std::get<print_text>(made).exit_code == 0);
    }
    for (shown_command const& each : shown_commands()) {
        std::string const name{each.name};
        std::string const own =
            std::get<print_text>(run_as("cleat", {name.c_str(), "--help"})).text;
        CHECK(own.find("cleat " + name) != std::string::npos);
        CHECK(std::get<print_text>(run_as("cleat", {"--help", name.c_str()})).text == own);
    }
    command const made = run_as("cleat", {"--help", "zzzz"});
    CHECK(std::get<print_text>(made).text == help_refusal("cleat", "zzzz"));
    CHECK(std::get<print_text>(made).exit_code == 1);
    CHECK(
        std::get<print_text>(run_as("cleat", {"--help", "--nonsense"})).text == help_text("cleat"));
}

TEST_CASE("the manual and the completions are printed")
{
    CHECK(std::get<print_text>(run_as("cleat", {"--manual"})).text == manual_page());
    CHECK(
        std::get<print_text>(run_as("cleat", {"--config-manual"})).text ==
        configuration_manual_page());
    CHECK(
        std::get<print_text>(run_as("cleat", {"--completion", "bash"})).text == bash_completion());
    CHECK(std::get<print_text>(run_as("cleat", {"--completion=zsh"})).text == zsh_completion());
    CHECK(std::holds_alternative<refused>(run_as("cleat", {"--completion", "fish"})));
}

TEST_CASE("the manual has every key, and the flags of the subcommands")
{
    std::string const page = configuration_manual_page();
    for (key_row const& row : config_table()) {
        std::string name; // roff writes hyphens so.
        for (char const c : row.name)
            name += c == '-' ? std::string{"\\-"} : std::string(1, c);
        INFO(row.name);
        CHECK(page.find("\n\\fB" + name + "\\fR \\fI= ") != std::string::npos);
    }
    std::string const program = manual_page();
    CHECK(program.find("\\fB\\-\\-sni\\fR \\fINAME\\fR\n") != std::string::npos);
    CHECK(program.find(".B \"cleat check\"\n") != std::string::npos);
    CHECK(
        bash_completion().find("explain)\n            flags=\"--access-log") != std::string::npos);
}

TEST_CASE("an empty command line gets the usage and exit code 1")
{
    command const made = run_as("cleat", {});
    REQUIRE(std::holds_alternative<print_text>(made));
    CHECK(std::get<print_text>(made).exit_code == 1);
    CHECK(std::get<print_text>(made).text.starts_with("Usage: cleat [OPTIONS] [PEM...]\n"));
    CHECK(std::get<print_text>(parse_command_line({})).exit_code == 1);
}

TEST_CASE("the program's name or --compat decides between stud and hitch")
{
    auto const announced = [](command const& made) {
        REQUIRE(std::holds_alternative<serve>(made));
        return *std::get<serve>(made).settings.announce;
    };
    CHECK(announced(run_as("cleat", {"--write-proxy", "a"})) == announcement::write_proxy_v2);
    CHECK(announced(run_as("hitch", {"--write-proxy", "a"})) == announcement::write_proxy_v2);
    CHECK(
        announced(run_as("/usr/bin/stud", {"--write-proxy", "a"})) == announcement::write_proxy_v1);
    CHECK(
        announced(run_as("cleat", {"--write-proxy", "--compat=stud", "a"})) ==
        announcement::write_proxy_v1);
    CHECK(
        announced(run_as("stud", {"--write-proxy", "--compat=hitch", "a"})) ==
        announcement::write_proxy_v2);

    CHECK(
        std::holds_alternative<serve>(run_as("stud", {"-f", "*,443", "-b", "127.0.0.1,80", "a"})));
    CHECK(std::holds_alternative<refused>(run_as("cleat", {"-f", "*,443", "a"})));
    CHECK(
        problems({"--compat=nginx", "a"}) ==
        line_list{"--compat: error: \"nginx\" is not a dialect. Write hitch or stud."});

    command const daemon = run_as("stud", {"--daemon", "a"});
    CHECK(*std::get<serve>(daemon).settings.syslog);
}

} // namespace
} // namespace cleat::app::command_line_test
