#include "probe/chain.hpp"
#include "probe/failure.hpp"
#include "probe/fleet.hpp"
#include "probe/probe.hpp"

#include <cleat/core/unique_fd.hpp>
#include <cleat/net/socket_options.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>
#include <thread>

#include <sys/socket.h>

namespace cleat::bench::probe_test {
namespace {

using namespace std::chrono_literals;
using wire::version;

std::chrono::system_clock::time_point const today =
    std::chrono::sys_days{std::chrono::year{2026} / 11 / 21} + 12h;

// A server without a weakness.
probe_report good_report()
{
    probe_report made;
    made.target = "example.org:443";
    made.address = "192.0.2.1:443";
    made.client = "AWS-LC 5";
    made.when = today;
    made.version = "TLSv1.3";
    made.suite = "TLS_AES_128_GCM_SHA256";
    made.group = "X25519MLKEM768";
    made.signature_scheme = "ecdsa_secp256r1_sha256";
    made.versions = {
        {version::tls_1_3, {"TLS_AES_128_GCM_SHA256"}, chooser::unknown},
        {version::tls_1_2,
         {"ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"},
         chooser::server}};
    made.groups = {"X25519MLKEM768", "X25519"};
    made.other_groups = {"P-521"};
    made.post_quantum = true;
    made.alpn = {"h2", "http/1.1"};
    probed_certificate shown;
    shown.leaf.subject = "CN=example.org";
    shown.leaf.issuer = "CN=authority";
    shown.leaf.names = {"example.org"};
    shown.leaf.key = "ECDSA";
    shown.leaf.key_bits = 256;
    shown.leaf.signature = "ecdsa-with-SHA256";
    shown.leaf.from = std::chrono::floor<std::chrono::seconds>(today - 24h * 30);
    shown.leaf.until = std::chrono::floor<std::chrono::seconds>(today + 24h * 60);
    shown.chain_length = 2;
    shown.trust.verified = shown.trust.name_matches = true;
    made.certificates = {shown};
    made.without_sni = {sni_reaction::kind::different, "CN=default"};
    made.unknown_sni = {sni_reaction::kind::refused, "alert unrecognized_name"};
    made.recent_tickets = {true, 2, 2h, 4, 4, true, false};
    made.tcp = 1ms;
    made.tls_full = 2ms;
    made.tls_resumed = 1500us;
    return made;
}

bool has(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

std::vector<std::string> weaknesses(probe_report const& report)
{
    std::vector<std::string> found;
    for (probed_finding const& each : judge(report))
        if (!each.good)
            found.push_back(each.text);
    return found;
}

// Whether the only weakness contains `part`.
bool only(probe_report const& report, std::string_view part)
{
    std::vector<std::string> const found = weaknesses(report);
    return found.size() == 1 && has(found.front(), part);
}

TEST_CASE("a server without a weakness has a good verdict")
{
    CHECK(weaknesses(good_report()).empty());
    CHECK(judge(good_report()).size() == 5);
}

TEST_CASE("versions that must not be used are a weakness")
{
    probe_report r = good_report();
    for (version const each : {version::tls_1_1, version::tls_1_0})
        r.versions.push_back({each, {}, chooser::unknown});
    CHECK(only(r, "TLS 1.1, TLS 1.0 accepted"));
    CHECK(has(to_text(r), "TLS 1.3, TLS 1.2, TLS 1.1, TLS 1.0\n"));
    CHECK(to_json(r).at("old_versions").as_array().size() == 2);
}

struct weakness
{
    std::string_view name;
    std::string_view sentence; // A part of it.
    void (*change)(probe_report&);
};

std::chrono::sys_seconds seconds_at(std::chrono::system_clock::time_point time)
{
    return std::chrono::floor<std::chrono::seconds>(time);
}

constexpr weakness all_weaknesses[] = {
    {"old", "TLS 1.2 only", [](probe_report& r) { r.versions.erase(r.versions.begin()); }},
    {"no resumption", "no resumption", [](probe_report& r) { r.recent_tickets = {}; }},
    {"resumption by chance", "resumed 2 of 4 times",
     [](probe_report& r) { r.recent_tickets.resumed = 2; }},
    {"tickets for too long", "seven days",
     [](probe_report& r) { r.recent_tickets.lifetime = 24h * 8; }},
    {"about to expire", "certificate expires in 6 days",
     [](probe_report& r) { r.certificates[0].leaf.until = seconds_at(today + 24h * 6); }},
    {"one day", "certificate expires in 1 day",
     [](probe_report& r) { r.certificates[0].leaf.until = seconds_at(today + 30h); }},
    {"expired", "certificate expired on 2026-11-21",
     [](probe_report& r) {
         r.certificates[0].leaf.until = seconds_at(today - 1h);
         r.certificates[0].trust.verified = false;
         r.certificates[0].trust.reason = "certificate has expired";
     }},
    {"not yet", "not valid before 2026-11-22",
     [](probe_report& r) {
         r.certificates[0].leaf.from = seconds_at(today + 24h);
         r.certificates[0].trust.verified = false;
     }},
    {"short key", "RSA-1024",
     [](probe_report& r) {
         r.certificates[0].leaf.key = "RSA";
         r.certificates[0].leaf.key_bits = 1024;
     }},
    {"old digest", "RSA-SHA1",
     [](probe_report& r) { r.certificates[0].leaf.signature = "RSA-SHA1"; }},
    {"chain", "chain incomplete, or its authority unknown: 2 certificates sent",
     [](probe_report& r) {
         r.certificates[0].trust = {false, "unable to get local issuer certificate", true, true};
     }},
    {"self-signed", "certificate does not verify: self signed",
     [](probe_report& r) {
         r.certificates[0].trust = {false, "self signed certificate", false, true};
     }},
    {"name", "does not match the server name",
     [](probe_report& r) { r.certificates[0].trust.name_matches = false; }},
    {"staple", "certificate: clients want a stapled OCSP response, and there is none",
     [](probe_report& r) {
         r.certificates[0].leaf.must_staple = true;
         r.features = {{"OCSP staple", false, "no"}};
     }},
    {"CBC", "CBC suites accepted",
     [](probe_report& r) { r.versions[1].suites = {"ECDHE-RSA-AES128-SHA"}; }},
    {"no forward secrecy", "1 suite without forward secrecy",
     [](probe_report& r) { r.versions[1].suites = {"AES128-GCM-SHA256"}; }},
    {"broken", "broken suites accepted: ECDHE-RSA-DES-CBC3-SHA",
     [](probe_report& r) { r.versions[1].suites = {"ECDHE-RSA-DES-CBC3-SHA"}; }},
    {"no post-quantum group", "no post-quantum group",
     [](probe_report& r) { r.post_quantum = false; }},
};

TEST_CASE("each weakness has its sentence")
{
    for (weakness const& each : all_weaknesses) {
        CAPTURE(each.name);
        probe_report report = good_report();
        each.change(report);
        CHECK(only(report, each.sentence));
    }
}

TEST_CASE("a certificate that lives for days is not due for renewal from its first day on")
{
    probe_report r = good_report();
    r.certificates[0].leaf.from = std::chrono::floor<std::chrono::seconds>(today - 24h);
    r.certificates[0].leaf.until = std::chrono::floor<std::chrono::seconds>(today + 24h * 5);
    CHECK(weaknesses(r).empty());
}

probed_answer answer(std::string name, bool yes)
{
    return {std::move(name), yes, "seen"};
}

TEST_CASE("vulnerabilities, features and intolerance have their sentences")
{
    probe_report r = good_report();
    r.vulnerabilities = {answer("Heartbleed", false), {"ROBOT", {}, "no certificate came"}};
    CHECK(weaknesses(r).empty());
    CHECK(has(to_text(r), "  Heartbleed        not vulnerable: seen\n"));
    CHECK(has(to_text(r), "  ROBOT             not tried: no certificate came\n"));
    CHECK(to_text(r).ends_with("  not tried: ROBOT: no certificate came\n"));
    CHECK(to_json(r).at("not_tried").at(0).at("name").as_string() == "ROBOT");
    CHECK(to_json(r).at("vulnerabilities").at(0).at("yes").as_bool() == false);
    r.vulnerabilities = {answer("Heartbleed", true)};
    CHECK(only(r, "vulnerable to Heartbleed: seen"));
    r.vulnerabilities.clear();
    r.tolerance = {answer("GREASE", true), answer("a long hello", false)};
    CHECK(only(r, "intolerant of a long hello"));
    CHECK(has(to_text(r), "1 of 2 accepted; not a long hello (seen)"));
    r.tolerance.clear();
    r.features = {answer("renegotiation", false)};
    CHECK(only(r, "no secure renegotiation"));
    r.features = {answer("compression", true)};
    CHECK(only(r, "CRIME"));
    r.features = {answer("master secret", false)};
    CHECK(only(r, "no extended master secret"));
    r.features = {answer("fallback SCSV", false)};
    CHECK(weaknesses(r).empty()); // TLS 1.3 and 1.2 notice a fallback without it.
    r.versions.push_back({version::tls_1_1, {}, chooser::unknown});
    CHECK(weaknesses(r).size() == 2);
}

TEST_CASE("a fleet shares its sessions, or has a weakness with an address")
{
    probe_report r = good_report();
    r.fleet = {{"b", "192.0.2.2:443", "", {answer("TLS 1.3 tickets", true)}}};
    CHECK(weaknesses(r).empty());
    CHECK(judge(r).size() == 6);
    CHECK(has(to_text(r), "fleet             192.0.2.2:443: TLS 1.3 tickets seen\n"));
    r.fleet.push_back({"c", "192.0.2.3:443", "", {answer("TLS 1.3 tickets", false)}});
    CHECK(only(r, "192.0.2.3:443 does not resume sessions of 192.0.2.1:443: TLS 1.3 tickets"));
    r.fleet = {{"d", "", "no address", {}}};
    CHECK(judge(r).size() == 5);
    CHECK(has(to_text(r), "not tried: resumption at d: no address\n"));
    CHECK(to_json(r).at("fleet").at(0).at("error").as_string() == "no address");
}

TEST_CASE("a host of a fleet has the port of the target, or its own")
{
    CHECK(with_port("b", "8443") == "b:8443");
    CHECK(with_port("b:1", "8443") == "b:1");
    CHECK(with_port("[::1]", "8443") == "[::1]:8443");
    CHECK(with_port("[::1]:2", "8443") == "[::1]:2");
}

TEST_CASE("a chain is in order if each certificate is followed by its issuer")
{
    auto const shown = [](std::string subject, std::string issuer) {
        tls::shown_certificate made;
        made.subject = std::move(subject);
        made.issuer = std::move(issuer);
        return made;
    };
    std::vector<tls::shown_certificate> chain{
        shown("leaf", "middle"), shown("middle", "root"), shown("root", "root")};
    CHECK(in_order(chain));
    CHECK(in_order({}));
    std::swap(chain[1], chain[2]);
    CHECK_FALSE(in_order(chain));
}

TEST_CASE("groups that were not found out are no weakness of the server")
{
    probe_report r = good_report();
    r.post_quantum.reset();
    CHECK(weaknesses(r).empty());
    CHECK(has(to_text(r), "post-quantum      unknown\n"));
}

TEST_CASE("the report in words")
{
    probe_report r = good_report();
    r.verdict = judge(r);
    std::string const text = to_text(r);
    CAPTURE(text);
    CHECK(has(text, "TLSv1.3, TLS_AES_128_GCM_SHA256, X25519MLKEM768, ecdsa_secp256r1_sha256"));
    CHECK(has(text, "yes (X25519MLKEM768)"));
    CHECK(has(text, "X25519MLKEM768, X25519; not P-521"));
    CHECK(has(text, "2 accepted; the server chooses"));
    CHECK(has(text, "2026-10-22 to 2027-01-20 (60 days left)"));
    CHECK(has(text, "another certificate: CN=default"));
    CHECK(has(text, "refused (alert unrecognized_name)"));
    CHECK(has(text, "resumed 4 of 4; 2 tickets with a full handshake, good for 7200 s, renewed"));
    CHECK(has(text, "a used ticket is not taken again"));
    CHECK(has(text, "good: TLS 1.3"));
    CHECK(!has(text, "weak:"));
    CHECK(!r.any_weak());
}

TEST_CASE("one line for each of many")
{
    probe_report r = good_report();
    r.verdict = judge(r);
    std::string const good = to_line(r);
    CHECK(std::ranges::count(good, '\n') == 1);
    CHECK(good.ends_with("good\n"));
    CHECK(has(good, "example.org:443  TLSv1.3"));
    CHECK(has(good, "ECDSA-256 60d"));
    CHECK(has(good, "resumes 1.3"));

    r.recent_tickets = {};
    r.post_quantum = false;
    r.verdict = judge(r);
    CHECK(has(to_line(r), "weak: no post-quantum group; no resumption\n"));
    CHECK(r.any_weak());

    probe_report broken;
    broken.error = "example.org:444 refuses the connection";
    CHECK(to_line(broken) == "example.org:444 refuses the connection\n");
    CHECK(broken.any_weak());
}

TEST_CASE("the report for programs")
{
    probe_report r = good_report();
    r.verdict = judge(r);
    json::object const all = to_json(r);
    CHECK(all.at("error").is_null());
    CHECK(all.at("post_quantum").as_bool());
    CHECK(all.at("versions").at(1).at("order").as_string() == "server");
    CHECK(all.at("certificates").at(0).at("days_left").to_number<int>() == 60);
    CHECK(all.at("unknown_sni").at("answer").as_string() == "refused");
    CHECK(all.at("resumption").at("tls_1_3_tickets").at("lifetime_s").to_number<int>() == 7200);
    CHECK(all.at("resumption").at("tls_1_3_tickets").at("taken_twice").as_bool() == false);
    CHECK(all.at("median_ns").at("tcp").to_number<int>() == 1'000'000);

    probe_report broken;
    broken.target = "a:1";
    broken.error = "a:1 is not there";
    CHECK(to_json(broken).at("error").as_string() == "a:1 is not there");
    CHECK(!to_json(broken).contains("versions"));
}

TEST_CASE("a server that cannot be probed is reported with the cure")
{
    auto const sentence = [](probed_failure const& f) { return failure_sentence("h:1", 5s, f); };
    CHECK(has(sentence({false, "refused", -1, {}}), "h:1 refuses the connection: nothing listens"));
    CHECK(has(sentence({false, "timeout", -1, {}}), "within 5000 ms"));
    CHECK(has(sentence({false, "unreachable", -1, {}}), "(unreachable)"));
    CHECK(has(sentence({true, "not TLS", -1, "HTTP/1.1 400 Bad Request"}), "plain HTTP, not TLS"));
    CHECK(has(sentence({true, "not TLS", -1, "SSH-2.0-OpenSSH_9.2"}), "speaks SSH"));
    CHECK(has(sentence({true, "not TLS", -1, "\xff\x01"}), "does not speak TLS"));
    CHECK(has(sentence({true, "timeout", -1, {}}), "did not finish the handshake"));
    CHECK(has(sentence({true, "alert", 70, "\x15"}), "alert protocol_version: it speaks neither"));
    CHECK(has(sentence({true, "alert", 112, "\x15"}), "alert unrecognized_name"));
    CHECK(has(sentence({true, "closed early", -1, {}}), "without an answer to the ClientHello"));
    CHECK(
        has(sentence({true, "protocol: bad", -1, "\x16"}), "the handshake fails (protocol: bad)"));
}

// A port of this machine.
struct port
{
    unique_fd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    std::string number;

    explicit port(bool listens)
    {
        net::address address = net::resolve("127.0.0.1", "0").value().front();
        REQUIRE(::bind(fd.get(), address.data(), address.size) == 0);
        if (listens)
            REQUIRE(::listen(fd.get(), 8) == 0);
        number = std::to_string(net::local_address(fd.get()).value().port());
    }
};

TEST_CASE("a port where nothing listens")
{
    port const listener{false};
    probe_report const r = probe("127.0.0.1", listener.number, {});
    CHECK(r.error.starts_with("127.0.0.1:" + listener.number + " refuses the connection"));
    CHECK(r.versions.empty());
}

TEST_CASE("a server that says nothing")
{
    port const listener{true}; // The kernel completes the connections, no program accepts them.
    probe_options options;
    options.timeout = options.ticket_wait = 50ms;
    probe_report const r = probe("127.0.0.1", listener.number, options);
    CHECK(has(r.error, "did not finish the handshake within 50 ms"));
}

TEST_CASE("a server that speaks first, and not TLS")
{
    port const listener{true};
    std::jthread const server{[&] {
        for (;;) {
            unique_fd const accepted{::accept(listener.fd.get(), nullptr, nullptr)};
            if (!accepted)
                return;
            constexpr std::string_view banner = "SSH-2.0-test\r\n";
            static_cast<void>(::send(accepted.get(), banner.data(), banner.size(), MSG_NOSIGNAL));
            char block[4096];
            while (::recv(accepted.get(), block, sizeof block, 0) > 0) {
            }
        }
    }};
    probe_report const r = probe("127.0.0.1", listener.number, {});
    ::shutdown(listener.fd.get(), SHUT_RDWR); // Ends accept.
    CHECK(has(r.error, "speaks SSH, not TLS"));
}

TEST_CASE("an invalid target is reported, not thrown")
{
    CHECK(has(probe_target("http://example.org/", {}).error, "plain HTTP"));
    CHECK(has(probe_target("example.org:https", {}).error, "port"));
    CHECK(has(probe_target("[::1", {}).error, "bracket"));
    CHECK(probe_target("http://example.org/", {}).target == "http://example.org/");
}

} // namespace
} // namespace cleat::bench::probe_test
