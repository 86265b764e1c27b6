#include "config/check.hpp"
#include "config/parser.hpp"

#include <doctest/doctest.h>

namespace cleat::app::check_test {
namespace {

struct checked_settings
{
    config settings;
    std::vector<problem> problems;
};

checked_settings checked(std::string_view text)
{
    checked_settings made;
    parse_config(text, "c", dialect::hitch, made.settings, made.problems);
    REQUIRE(made.problems.empty());
    check(made.settings, made.problems);
    return made;
}

config accepted(std::string_view text)
{
    checked_settings made = checked(text);
    for (problem const& each : made.problems)
        FAIL_CHECK(to_string(each));
    return made.settings;
}

std::string complaint(std::string_view text)
{
    checked_settings const made = checked(text);
    INFO(text);
    REQUIRE(made.problems.size() == 1);
    return to_string(made.problems.front());
}

TEST_CASE("without a frontend there is hitch's")
{
    config const c = accepted("pem-file = a");
    REQUIRE(c.frontends.size() == 1);
    CHECK(c.frontends[0].address() == host_port{"*", 8443});
    CHECK(c.frontends[0].location.is_built_in());
    CHECK(accepted("pem-file = a frontend = \"[::1]:1\"").frontends.size() == 1);
}

TEST_CASE("one way to announce a client excludes the others")
{
    CHECK(*accepted("pem-file = a").announce == announcement::nothing);
    CHECK(*accepted("pem-file = a write-ip = on").announce == announcement::write_ip);
    CHECK(*accepted("pem-file = a write-proxy-v1 = on").announce == announcement::write_proxy_v1);
    CHECK(*accepted("pem-file = a write-proxy = on").announce == announcement::write_proxy_v2);
    CHECK(*accepted("pem-file = a proxy-proxy = on").announce == announcement::proxy_proxy);
    CHECK(
        *accepted("pem-file = a write-ip = off proxy-proxy = on").announce ==
        announcement::proxy_proxy);
    CHECK(
        complaint("pem-file = a\nwrite-ip = on\nproxy-proxy = on") ==
        "c:3:15: error: proxy-proxy: proxy-proxy excludes write-ip, which is on by c:2:12. Turn "
        "one of them off: proxy-proxy = off.");
}

TEST_CASE("two frontends cannot have one address, unless any free port is meant")
{
    CHECK(
        complaint("pem-file = a\nfrontend = \"[*]:1\"\nfrontend = { port = 1 }") ==
        "c:3:1: error: frontend: [*]:1 is taken already, by c:2:12. Give each frontend an "
        "address of its own.");
    accepted("pem-file = a frontend = \"[*]:0\" frontend = \"[*]:0\"");
    accepted("pem-file = a frontend = \"[*]:1\" frontend = \"[::1]:1\"");
}

TEST_CASE("every frontend has a certificate")
{
    CHECK(complaint("").find("error: there is no certificate for [*]:8443") != std::string::npos);
    accepted("pem-dir = \"/certs\"");
    accepted("frontend = \"[*]:1+own.pem\"");
    CHECK(
        complaint("frontend = \"[*]:1+own.pem\" frontend = \"[*]:2\"").find("for [*]:2") !=
        std::string::npos);
    CHECK(
        complaint("pem-file = a\nfrontend = { port = 1 match-global-certs = off }") ==
        "c:2:44: error: frontend: there is no certificate for [*]:1. Give the frontend a "
        "pem-file, or turn match-global-certs on.");
    CHECK(
        complaint("pem-file = a pem-dir-glob = \"*.pem\"").find("pem-dir-glob: this chooses") !=
        std::string::npos);
}

TEST_CASE("verifying clients needs authorities")
{
    accepted("pem-file = a client-verify = required client-verify-ca = ca");
    accepted("pem-file = a client-verify-ca = ca frontend = { port = 1 client-verify = required }");
    accepted("pem-file = a frontend = { port = 1 client-verify = optional client-verify-ca = ca }");
    accepted("pem-file = a client-verify = required frontend = { port = 1 client-verify-ca = ca }");
    accepted("pem-file = a client-verify = required frontend = { port = 1 client-verify = none }");
    accepted("pem-file = a client-verify = none client-verify-ca = ca");
    accepted("pem-file = a frontend = { port = 1 client-verify = none client-verify-ca = ca }");
    for (std::string_view const text : {
             "pem-file = a client-verify-ca = ca",
             "pem-file = a frontend = { port = 1 client-verify-ca = ca }",
             "pem-file = a client-verify-ca = ca frontend = { port = 1 client-verify = required "
             "client-verify-ca = other }",
         })
        CHECK(complaint(text).find("client-verify-ca: this verifies nobody") != std::string::npos);
    for (std::string_view const text : {
             "pem-file = a client-verify = required",
             "pem-file = a client-verify = required frontend = { port = 1 client-verify-ca = ca } "
             "frontend = { port = 2 } frontend = { port = 3 }",
             "pem-file = a frontend = { port = 1 client-verify = required }",
             "frontend = { port = 1 client-verify = required pem-file = a }",
         })
        CHECK(complaint(text).find("clients cannot be verified") != std::string::npos);
    // The mode that several frontends inherit is reported once.
    CHECK(
        checked("pem-file = a client-verify = required frontend = { port = 1 }").problems.size() ==
        1);
}

TEST_CASE("a certificate's own rule for clients takes the rest from its frontend")
{
    std::string const all = "client-verify = required client-verify-ca = ca ";
    accepted(all + "pem-file = { cert = a client-verify = required client-verify-ca = ca }");
    accepted(all + "pem-file = { cert = a client-verify = none }");
    accepted(all + "pem-file = { cert = a client-verify-ca = other }");
    accepted("pem-file = { cert = a client-verify = required client-verify-ca = ca } pem-file = b");
    accepted("client-verify-ca = ca pem-file = { cert = a client-verify = required }");
    accepted("pem-file = b frontend = { client-verify-ca = ca "
             "pem-file = { cert = a client-verify = optional } }");
    accepted("frontend = { client-verify = none pem-file = b "
             "pem-file = { cert = a client-verify = optional client-verify-ca = ca } }");
    CHECK(
        complaint("frontend = { port = 1 } frontend = { port = 2 }\n"
                  "pem-file = { cert = a client-verify = required }") ==
        "c:2:39: error: client-verify: clients cannot be verified without client-verify-ca. Set "
        "client-verify-ca to the file of the authorities that may sign clients' certificates.");
    CHECK(
        complaint("pem-file = { cert = a client-verify-ca = ca }")
            .find("client-verify-ca: this verifies nobody") != std::string::npos);
}

TEST_CASE("suites of a version that no frontend speaks are an error, not ignored")
{
    CHECK(
        complaint(
            "pem-file = a\ntls-protos = TLSv1.2\nciphersuites = \"TLS_AES_128_GCM_SHA256\"") ==
        "c:3:16: error: ciphersuites: this is for TLSv1.3, which tls-protos leaves out. Add "
        "TLSv1.3 to tls-protos, or leave ciphersuites out.");
    CHECK(complaint("pem-file = a\ntls-protos = TLSv1.3\nciphers = \"ECDHE+AESGCM\"")
              .starts_with("c:3:11: error: ciphers: this is for TLSv1.2"));
    CHECK(complaint("pem-file = a\nfrontend = {\nhost = \"*\" port = \"1\"\ntls-protos = TLSv1.3\n"
                    "ciphers = \"ECDHE+AESGCM\"\n}")
              .starts_with("c:5:11: error: ciphers: "));

    // One frontend that takes it is enough; one that has its own takes nothing.
    std::string_view constexpr two =
        "pem-file = a ciphersuites = \"TLS_AES_128_GCM_SHA256\" "
        "frontend = { host = \"*\" port = \"1\" tls-protos = TLSv1.2 } ";
    accepted(std::string{two} + "frontend = { host = \"*\" port = \"2\" }");
    CHECK(
        complaint(
            std::string{two} + "frontend = { host = \"*\" port = \"2\" "
                               "ciphersuites = \"TLS_AES_256_GCM_SHA384\" }")
            .find("ciphersuites: this is for TLSv1.3") != std::string::npos);

    // As --default-config prints it.
    accepted("pem-file = a tls-protos = TLSv1.3 ciphers = \"" + *config{}.ciphers + "\"");
}

TEST_CASE("a client's certificate is sent where there is one, and a header for it")
{
    std::string const verified =
        "pem-file = a client-verify = optional client-verify-ca = ca\nproxy-client-cert = on ";
    accepted(verified + "write-proxy = on");
    CHECK(
        complaint(verified).find("c:2:21: error: proxy-client-cert: this is a part of the header "
                                 "of write-proxy-v2, which is off.") == 0);
    CHECK(
        complaint(verified + "write-proxy-v1 = on").find("error: proxy-client-cert") !=
        std::string::npos);
    CHECK(
        complaint("pem-file = a write-proxy = on\nproxy-client-cert = on")
            .find("c:2:21: error: proxy-client-cert: no client is asked for a certificate") == 0);
    accepted("pem-file = a write-proxy = on proxy-client-cert = on\n"
             "frontend = { client-verify = required client-verify-ca = ca }");
}

TEST_CASE("a list of addresses has prefixes and files, and a frontend can turn it off")
{
    config const c = accepted("pem-file = a\nallow-from = \"192.0.2.0/24, @one ::1 ,@/two\"\n"
                              "frontend = { allow-from = off }\nfrontend = { port = \"444\" }");
    CHECK(c.allow_from->is_on());
    CHECK(c.allow_from->written.ipv4.size() == 1);
    CHECK(c.allow_from->written.ipv6.size() == 1);
    CHECK(c.allow_from->files == std::vector<std::string>{"one", "/two"});
    CHECK_FALSE((*c.frontends[0].allow_from)->is_on());
    CHECK_FALSE(c.frontends[1].allow_from.has_value());
    CHECK(address_lists_of(c).size() == 4);
}

TEST_CASE("a list that every frontend replaces is a mistake")
{
    CHECK(
        complaint("pem-file = a\nproxy-from = \"::1\"\nfrontend = { proxy-from = off }") ==
        "c:2:14: error: proxy-from: this has no effect: every frontend has a list of its own. "
        "Leave "
        "it out, or leave out a frontend's.");
}

TEST_CASE("a list of clients wants to know who names them")
{
    std::string const named = "pem-file = a proxy-proxy = on\nallow-from = \"::1\" ";
    CHECK(
        complaint(named) ==
        "c:2:14: error: allow-from: proxy-proxy takes a PROXY header from every peer, so every "
        "peer "
        "could name a client that is let in. Name the load balancers with proxy-from.");
    accepted(named + "proxy-from = \"192.0.2.1\"");
}

TEST_CASE("a route by the client's address wants to know who names it")
{
    std::string const named =
        "pem-file = a proxy-proxy = on\n"
        "upstream = { name = \"app\" server = \"/run/app\" }\n"
        "frontend = { route = { client-address = \"192.0.2.0/24\" upstream = \"app\" } ";
    CHECK(
        complaint(named + "}") ==
        "c:3:41: error: client-address: proxy-proxy takes a PROXY header from every peer, so every "
        "peer could name a client that this route takes. Name the load balancers with proxy-from.");
    accepted(named + "proxy-from = \"192.0.2.1\" }");
}

TEST_CASE("the parts of a PROXY header want the header")
{
    CHECK(
        complaint("pem-file = a write-proxy-v1 = on proxy-checksum = on").find("proxy-checksum") !=
        std::string::npos);
    accepted("pem-file = a write-proxy-v2 = on proxy-checksum = on");
    std::string const drop = "pem-file = a proxy-inbound-tlvs = drop ";
    CHECK(complaint(drop + "write-proxy-v2 = on").find("needs both") != std::string::npos);
    CHECK(complaint(drop + "proxy-from = \"::1\"").find("needs both") != std::string::npos);
    accepted(drop + "write-proxy-v2 = on proxy-from = \"::1\"");
}

TEST_CASE("servers that choose a protocol without the client are warned about")
{
    std::string const upstream =
        "pem-file = a upstream = u upstream = { name = u server = [127.0.0.1]:443 tls = on ";
    accepted(upstream + "tls-alpn = h2 }");
    CHECK(
        complaint(upstream + "tls-alpn = h2,http/1.1 }") ==
        "c:1:94: warning: tls-alpn: the server chooses one of these protocols, whichever the "
        "client "
        "speaks. List the one that clients speak.");
    accepted("alpn-protos = h2 " + upstream + "tls-alpn = client }");
    CHECK(
        complaint("alpn-protos = h2 " + upstream + "tls-alpn = h2,http/1.1 }")
            .find("Write tls-alpn = client, or list") != std::string::npos);
}

TEST_CASE("the bounds of a TTL are in order")
{
    CHECK(
        complaint("pem-file = a\ndns-max-ttl = 5 dns-min-ttl = 6") ==
        "c:2:15: error: dns-max-ttl: it is shorter than dns-min-ttl, which is 6. Give it the same "
        "value, or a longer one.");
    accepted("pem-file = a dns-max-ttl = 5 dns-min-ttl = 5");
}

TEST_CASE("a service takes eight of an upstream's servers, and no port that a sandbox could know")
{
    std::string servers;
    for (int i = 0; i < 9; ++i)
        servers += "server = \"srv:a" + std::to_string(i) + "\"\n";
    CHECK(
        complaint("pem-file = a upstream = app\nupstream = { name = app\n" + servers + "}")
            .find("app has 72 servers, and may have 64") != std::string::npos);
    CHECK(
        complaint("pem-file = a backend = \"srv:a\" sandbox = \"landlock, ports\"")
            .find("cannot know at the start") != std::string::npos);
}

TEST_CASE("a facility of syslog wants a log that goes there")
{
    CHECK(
        complaint("pem-file = a\nsyslog-facility = local0") ==
        "c:2:19: error: syslog-facility: the log does not go to syslog. Turn syslog on, or leave "
        "this out.");
    accepted("pem-file = a syslog-facility = local0 syslog = on");
    accepted("pem-file = a syslog-facility = daemon");
    // A daemon's log goes there by itself.
    CHECK(
        complaint("pem-file = a syslog-facility = local0 daemon = on").find("warning: daemon") !=
        std::string::npos);
}

TEST_CASE("a log may go to syslog and to a file at once")
{
    accepted("pem-file = a syslog = on log-filename = \"/log\"");
}

TEST_CASE("a daemon without a log is warned about")
{
    CHECK(complaint("pem-file = a daemon = on").find("c:1:23: warning: daemon") == 0);
    accepted("pem-file = a daemon = on syslog = on");
    accepted("pem-file = a daemon = on log-filename = \"/var/log/cleat.log\"");
}

TEST_CASE("a configuration that cannot be read again cannot reload")
{
    config settings = accepted("pem-file = a reload-on-change = on");
    for (std::string const file : {"", "/etc/cleat.conf", "-"}) {
        settings.file = file;
        std::vector<problem> problems;
        check(settings, problems);
        REQUIRE(problems.size() == (file == "-" ? 1 : 0));
        if (!problems.empty())
            CHECK(to_string(problems.front()).find("error: reload-on-change") != std::string::npos);
    }
}

TEST_CASE("the admin server is this machine's, unless a second key says otherwise")
{
    CHECK(
        *accepted("pem-file = a admin = \"[::1]:9443\"").admin ==
        admin_address{host_port{"::1", 9443}});
    accepted("pem-file = a admin = /run/cleat/admin.sock");
    accepted("pem-file = a admin = \"[192.0.2.1]:9443\" admin-allow-remote = on");
    accepted("pem-file = a admin = /a certificate-metrics = 20");
    CHECK(
        complaint("pem-file = a\ncertificate-metrics = 20") ==
        "c:2:23: error: certificate-metrics: this is for /metrics of admin, which is not set. Set "
        "admin, or leave it out.");
    CHECK(
        complaint("pem-file = a\nadmin = \"[0.0.0.0]:9443\"") ==
        "c:2:9: error: admin: other machines may reach [0.0.0.0]:9443, and the admin server asks "
        "for no password. Write [127.0.0.1]:PORT, or set admin-allow-remote = on.");
    CHECK(
        complaint("pem-file = a\nadmin = /a\nadmin-allow-remote = on") ==
        "c:3:22: error: admin-allow-remote: this is for the address of admin, which has none. Set "
        "admin to one, or leave it out.");
}

} // namespace
} // namespace cleat::app::check_test
