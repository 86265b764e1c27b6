#include "config/parser.hpp"
#include "config/reference.hpp"
#include "config/table.hpp"

#include <cleat/core/limits.hpp>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <unistd.h>

namespace cleat::app::parser_test {
namespace {

struct parsed_settings
{
    config settings;
    std::vector<problem> problems;
};

parsed_settings parse(std::string_view text, dialect compat = dialect::hitch)
{
    parsed_settings made;
    parse_config(text, "c", compat, made.settings, made.problems);
    return made;
}

config good(std::string_view text, dialect compat = dialect::hitch)
{
    parsed_settings made = parse(text, compat);
    for (problem const& each : made.problems)
        FAIL_CHECK(to_string(each));
    return made.settings;
}

std::string only_problem(std::string_view text)
{
    parsed_settings const made = parse(text);
    INFO(text);
    for (problem const& each : made.problems)
        INFO(to_string(each));
    REQUIRE(made.problems.size() == 1);
    return to_string(made.problems.front());
}

TEST_CASE("hitch's sample configuration reads as hitch reads it")
{
    config const c = good(R"(
# Run 'man hitch.conf' for a description of all options.
frontend = {
    host = "*"
    port = "443"
}
backend = "[127.0.0.1]:6086"    # 6086 is the default Varnish PROXY port.
workers = 4                     # number of CPU cores
daemon = on
user = "nobody"
group = "nogroup"
ciphers = "EECDH+AESGCM:EDH+AESGCM"
ciphersuites = "TLS_AES_256_GCM_SHA384"
tls-protos = TLSv1.2
  TLSv1.3
prefer-server-ciphers = "ON"
alpn-protos = "h2, http/1.1"
pem-file = "/etc/hitch/a.pem"
pem-file = {
    cert = "/etc/hitch/b.crt"
    private-key = "/etc/hitch/b.key"
    client-verify = required
    client-verify-ca = "/etc/hitch/ca.pem"
}
write-proxy-v2 = on
)");
    REQUIRE(c.frontends.size() == 1);
    CHECK(c.frontends[0].address() == host_port{"*", 443});
    CHECK(*c.backend == upstream_address{host_port{"127.0.0.1", 6086}});
    CHECK(c.workers->number == 4);
    CHECK(*c.daemon);
    CHECK(*c.user == "nobody");
    CHECK(*c.ciphersuites == "TLS_AES_256_GCM_SHA384");
    CHECK(c.tls_protos->tls_1_2);
    CHECK(c.tls_protos->tls_1_3);
    CHECK(*c.prefer_server_ciphers);
    CHECK(*c.alpn_protos == std::vector<std::string>{"h2", "http/1.1"});
    REQUIRE(c.pem_files.size() == 2);
    CHECK(*c.pem_files[0].cert == "/etc/hitch/a.pem");
    CHECK(*c.pem_files[1].private_key == "/etc/hitch/b.key");
    CHECK(**c.pem_files[1].client_verify == client_verify::required);
    CHECK(*c.write_proxy_v2);
    CHECK(to_string(c.workers.location) == "c:8:11");
    CHECK(to_string(c.pem_files[1].location) == "c:19:1");
}

TEST_CASE("stud's sample configuration sets nothing that it does not mean to")
{
    config const c = good(R"(
frontend = "[*]:8443"
backend = "[127.0.0.1]:8000"
pem-file = ""
ciphers = ""
prefer-server-ciphers = off
ssl-engine = ""
workers = 1
backlog = 100
keepalive = 3600
shared-cache = 0
chroot = ""
user = ""
group = ""
quiet = off
syslog = off
syslog-facility = "daemon"
daemon = off
write-ip = off
write-proxy = off
proxy-proxy = off
)");
    CHECK(c.pem_files.empty());
    CHECK(*c.ciphers == *config{}.ciphers);
    CHECK(*c.backlog == 100);
    CHECK(*c.session_cache == 0);
}

TEST_CASE("stud writes values without quotes, and HOST,PORT")
{
    config const c =
        good("frontend = *,443\nbackend = 127.0.0.1,8000\npem-file = /a.pem\n", dialect::stud);
    CHECK(c.frontends.at(0).address() == host_port{"*", 443});
    CHECK(*c.backend == upstream_address{host_port{"127.0.0.1", 8000}});
    CHECK(*c.pem_files.at(0).cert == "/a.pem");
}

TEST_CASE("a frontend block overrides what it names and leaves the rest open")
{
    config const c = good(R"(
frontend = { host = "[::1]" port = 8443
  name = ""
  pem-file = "own.pem"
  pem-file = { cert = "two.pem" }
  match-global-certs = on
  client-verify = optional client-verify-ca = "ca.pem"
  tls-protos = TLSv1.3
  ciphers = "A" ciphersuites = "B"
  prefer-server-ciphers = on
  sni-nomatch-abort = on }
frontend = "[*]:443+c.pem")");
    REQUIRE(c.frontends.size() == 2);
    frontend_config const& own = c.frontends[0];
    CHECK(own.address() == host_port{"::1", 8443});
    CHECK(own.pem_files.size() == 2);
    CHECK(own.uses_global_certs());
    CHECK(**own.client_verify == client_verify::optional);
    CHECK(**own.client_verify_ca == "ca.pem");
    CHECK_FALSE((*own.tls_protos)->tls_1_2);
    CHECK(**own.ciphers == "A");
    CHECK(**own.ciphersuites == "B");
    CHECK(**own.prefer_server_ciphers);
    CHECK(**own.sni_nomatch_abort);

    frontend_config const& plain = c.frontends[1];
    CHECK_FALSE(plain.tls_protos);
    CHECK_FALSE(plain.client_verify);
    CHECK_FALSE(plain.uses_global_certs());
    CHECK(frontend_config{}.uses_global_certs());
}

TEST_CASE("an upstream block has servers, as addresses or as blocks")
{
    config const c = good(R"(
upstream = { name = "app" balance = client-hash eject-after = 0 eject-time = 60
  server = "[10.0.0.1]:80"
  server = { address = "/run/app" weight = 7 backup = on } }
upstream = "app"
frontend = { port = 443 upstream = "other" })");
    REQUIRE(c.upstreams.size() == 1);
    upstream_config const& app = c.upstreams.front();
    CHECK(*app.name == "app");
    CHECK(*app.balance == balance::client_hash);
    CHECK(*app.eject_after == 0);
    CHECK(*app.eject_time == seconds{60});
    REQUIRE(app.servers.size() == 2);
    CHECK(*app.servers[0].address == upstream_address{host_port{"10.0.0.1", 80}});
    CHECK(*app.servers[0].weight == 1);
    CHECK_FALSE(*app.servers[0].backup);
    CHECK(*app.servers[1].address == upstream_address{unix_path{"/run/app"}});
    CHECK(*app.servers[1].weight == 7);
    CHECK(*app.servers[1].backup);
    CHECK(*c.upstream == "app");
    CHECK(**c.frontends.front().upstream == "other");
}

TEST_CASE("line ends, semicolons and a last comma count for nothing")
{
    config const c = good("\xef\xbb\xbfworkers\n=\n4;backlog=5,\r\ndaemon=on#comment = {\n;;\n");
    CHECK(c.workers->number == 4);
    CHECK(*c.backlog == 5);
    CHECK(*c.daemon);
}

TEST_CASE("inside quotes only the quote is special")
{
    CHECK(*good(R"(pem-dir-glob = "a\"b")").pem_dir_glob == "a\"b");
    CHECK(*good(R"(pem-dir-glob = "\*.p#m = {\\")").pem_dir_glob == R"(\*.p#m = {\\)");
}

TEST_CASE("an empty file is a good one")
{
    good("");
    good("\n\n# nothing");
}

struct sample
{
    std::string_view text;
    std::string_view says;
};

constexpr sample mistakes[] = {
    {"\n  pem-flie = \"x\"",
     "c:2:3: error: pem-flie: there is no such key. Did you mean pem-file?"},
    {"zzzzzzzz = 1",
     "c:1:1: error: zzzzzzzz: there is no such key. cleat --reference lists all keys."},
    {"workers 4", "c:1:9: error: workers: = was expected, not \"4\". Write workers = NUM|auto."},
    {"workers", "c:1:8: error: workers: = was expected, not the end of the file. Write "
                "workers = NUM|auto."},
    {"workers =", "c:1:10: error: workers: a value was expected, not the end of the file. "
                  "Write workers = NUM|auto."},
    {"user =\ndaemon = on",
     "c:2:1: error: user: a value was expected, not \"daemon\". Write user = \"USER\"."},
    {"user = a b", "c:1:10: error: user: this takes one value, and \"b\" follows it. Put "
                   "a value with blanks in double quotes."},
    {"frontend = { port = 443 route { sni = a } }",
     "c:1:25: error: port: this takes one value, and \"route\" follows it. A block needs an =: "
     "write "
     "route = {."},
    {"= 5", "c:1:1: error: a key was expected, not \"=\". Write key = value."},
    {"\"workers\" = 5", "c:1:1: error: a key was expected, not \"workers\". Write key = value."},
    {"}", "c:1:1: error: a } closes nothing. Remove it, or look for the { that is missing."},
    {"workers = { a = 1 }",
     "c:1:11: error: workers: this takes a value, not a block. Write workers = NUM|auto."},
    {"{ a = 1 b = { } }", "c:1:1: error: a key was expected, not \"{\". Write key = value."},
    {"user = \"x",
     "c:1:8: error: the closing quote is missing. End the text with \" on its own line."},
    {"user = 'x'", "c:1:8: error: single quotes mean nothing here. Use double quotes."},
    {"user = '", "c:1:8: error: single quotes mean nothing here. Use double quotes."},
    {"user = x $$$", "c:1:10: error: '$' means nothing here. Put a text with such "
                     "characters in double quotes."},
    {"user = x \x01", "c:1:10: error: byte 0x01 means nothing here. Put a text with such "
                      "characters in double quotes."},
    {"user = \"x\x01\"", "c:1:10: error: there is a control character in a text. Remove it."},
    {"host = a", "c:1:1: error: host: this key does not stand at the top of the file. It "
                 "stands in a frontend block."},
    {"pem-file = { cert = a client = on }",
     "c:1:23: error: client: this key does not stand in a pem-file block. It stands at the top of "
     "the file or in a frontend block."},
    {"frontend = { port = 1 workers = 2 }",
     "c:1:23: error: workers: this key does not stand in a frontend block. It stands at "
     "the top of the file."},
    {"frontend = { port = 1 frontend = { port = 2 } }",
     "c:1:23: error: frontend: this key does not stand in a frontend block. It stands at "
     "the top of the file."},
    {"frontend = { port = 1", "c:1:22: error: frontend: the block that began in line 1 "
                              "has no end. Close it with }."},
    {"pem-file = { }", "c:1:1: error: pem-file: the block has no cert. Add cert = \"site.pem\"."},
    {"backlog = 1\nbacklog = 2", "c:2:1: warning: backlog: this was set before, in line "
                                 "1; the last one holds. Remove one of them."}};

TEST_CASE("each mistake is named with its place and its cure")
{
    for (sample const& each : mistakes)
        CHECK(only_problem(each.text) == each.says);
}

TEST_CASE("a frontend block without a port is on hitch's")
{
    CHECK(good("frontend = { host = a }").frontends.at(0).address() == host_port{"a", 8443});
}

TEST_CASE("keys that each choose the versions of TLS exclude each other")
{
    CHECK(
        only_problem("tls-protos = TLSv1.2\nssl = off") ==
        "c:2:1: error: ssl: ssl excludes tls-protos, which line 1 sets. Choose the versions of TLS "
        "with tls-protos alone.");
    CHECK(
        only_problem("tls = off\ntls-protos = TLSv1.2")
            .find("c:2:1: error: tls-protos: tls-protos "
                  "excludes tls") == 0);
    static_cast<void>(good("tls = off\nssl = off"));
    CHECK(
        only_problem("frontend = {\nport = \"1\"\ntls = off\nssl = off\n}")
            .find("c:4:1: error: ssl: ssl excludes tls") == 0);
}

TEST_CASE("every mistake of a file is reported, in order, and the rest still counts")
{
    parsed_settings const made =
        parse("user 'x'\nbacklog = 0\nworkers = 2\nport = 1\nfrontend = { x = { y "
              "= 1 } port = 1 }\nuser = \"");
    std::vector<unsigned> lines;
    for (problem const& each : made.problems)
        lines.push_back(each.where.line);
    CHECK(lines == std::vector<unsigned>{1, 1, 2, 4, 5, 6});
    CHECK(made.settings.workers->number == 2);
    CHECK(made.settings.frontends.size() == 1);
}

TEST_CASE("the last of two values holds")
{
    CHECK(*parse("backlog = 1 backlog = 2").settings.backlog == 2);
}

TEST_CASE("a file of default values has no problems and changes nothing")
{
    std::string const file = default_configuration();
    config const c = good(file);
    for (key_row const& row : config_table())
        if (row.show)
            CHECK(row.show(c) == row.show(config{}));
    CHECK(file.find("\nbacklog = 4096\n") != std::string::npos);
    CHECK(file.find("\n# pem-dir = \"\"\n") != std::string::npos);
}

TEST_CASE("a file that is none ends early")
{
    CHECK(
        only_problem(std::string(limits::config_line_max + 1, ' ')).find("more than 65536 bytes") !=
        std::string::npos);
    CHECK(
        only_problem(std::string(limits::config_lines_max + 1, '\n'))
            .find("more than 100000 lines") != std::string::npos);
    good(std::string(limits::config_lines_max, '\n'));

    std::string many;
    for (int i = 0; i < 1000; ++i)
        many += "nonsense = 1\n";
    parsed_settings const made = parse(many);
    CHECK(made.problems.size() == 101);
    CHECK(made.problems.back().text == "this is error 100, the rest of the file was not read");
    CHECK(parse(std::string(50'000, '$')).problems.size() == 1);

    std::string program; // Many bytes that mean nothing, in one line after the other.
    for (int i = 0; i < 1000; ++i)
        program += "$&$&$&$&$&$&\n";
    parsed_settings const image = parse(program);
    CHECK(image.problems.size() == 109);
    CHECK(image.problems.back().text == "108 errors up to here, the rest of the file was not read");
}

TEST_CASE("blocks within blocks cost no stack")
{
    std::string deep;
    for (int i = 0; i < 60'000; ++i)
        deep += "{";
    CHECK(parse("x = " + deep).problems.size() == 1);
    CHECK(parse(deep).problems.size() == 1);
}

TEST_CASE("no text at all makes the parser forget itself")
{
    // Every cut of a good file, and every byte of it replaced by each kind of token: it ends, and
    // says so.
    std::string const file =
        "frontend = { port = 1 pem-file = { cert = \"a\" } }\nworkers = 2 # x\n";
    for (std::size_t cut = 0; cut <= file.size(); ++cut)
        static_cast<void>(parse(std::string_view{file}.substr(0, cut)));
    for (std::size_t position = 0; position < file.size(); ++position)
        for (char const c : {'{', '}', '=', '"', '#', '\'', ',', '\n', '\0', '\xff', 'x'}) {
            std::string changed = file;
            changed[position] = c;
            std::vector<problem> const problems = parse(changed).problems;
            CHECK(problems.size() < 20);
            for (problem const& each : problems)
                CHECK(each.where.line <= 3);
        }
}

TEST_CASE("a file is read from its path, and a missing one is named")
{
    char path[] = "/tmp/cleat-config-XXXXXX";
    int const fd = ::mkstemp(path);
    REQUIRE(fd >= 0);
    std::ofstream{path} << "backlog = 77\nworkers = x\n";
    config c;
    std::vector<problem> problems;
    read_config_file(path, dialect::hitch, c, problems);
    CHECK(*c.backlog == 77);
    REQUIRE(problems.size() == 1);
    CHECK(to_string(problems[0]).starts_with(fmt::format("{}:2:11: error: workers: ", path)));
    ::close(fd);
    std::remove(path);

    problems.clear();
    read_config_file(path, dialect::hitch, c, problems);
    REQUIRE(problems.size() == 1);
    CHECK(
        to_string(problems[0]) ==
        fmt::format(
            "--config: error: cannot read {}: No such file or directory. Check the path and its "
            "permissions.",
            path));
    problems.clear();
    read_config_file("/tmp", dialect::hitch, c, problems);
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].text == "cannot read /tmp: Is a directory");
}

} // namespace
} // namespace cleat::app::parser_test
