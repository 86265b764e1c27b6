#include "commands/load_options.hpp"

#include <string>

namespace cleat::bench {

void load_options::add_schedule(CLI::App& app)
{
    std::string const group = "When";
    app.add_option(
           "-c,--connections", connections,
           "closed loop: how many are busy at any time; with --keep and --rate how many are open")
        ->group(group)
        ->capture_default_str();
    app.add_option(
           "-r,--rate", rate,
           "open loop: new connections per second, whatever the server does; response counts from "
           "the intended start; exit code 4 where the generator could not keep the rate")
        ->group(group);
    app.add_option(
           "--phases", phases,
           "open loop in steps and ramps: RATE/LENGTH or FROM-TO/LENGTH, with commas; "
           "100/10s,100-1000/30s")
        ->group(group);
    app.add_flag(
           "--keep", keep,
           "connections stay open and carry requests, or messages of --websocket, until the time "
           "is "
           "up; with --rate these are so many per second over all of them")
        ->group(group);
    app.add_option("--arrivals", arrivals, "constant gaps, or poisson as of many users")
        ->group(group)
        ->check(CLI::IsMember({"constant", "poisson"}))
        ->capture_default_str();
    add_seed(app);
    app.add_option("-d,--duration", duration, "length of the load, after the warm-up")
        ->group(group)
        ->capture_default_str();
    app.add_option("--warm-up", warm_up, "transactions that begin in this time do not count")
        ->group(group)
        ->capture_default_str();
    app.add_option("-n,--transactions", transactions, "the load ends after this many, too")
        ->group(group);
    add_start(app);
}

void load_options::add_seed(CLI::App& app)
{
    app.add_option("--seed", seed, "seed of Poisson arrivals")
        ->group("When")
        ->capture_default_str();
}

void load_options::add_start(CLI::App& app)
{
    app.add_option("--start-at", start_at, "begin at this time in UTC: 2026-11-21T20:00:00Z")
        ->group("When");
}

void load_options::add_limits(CLI::App& app)
{
    std::string const group = "When";
    app.add_option("--workers", workers, "threads of the generator; auto: one for each core")
        ->group(group)
        ->capture_default_str();
    app.add_option("--in-flight", in_flight, "the most that one worker has open")
        ->group(group)
        ->capture_default_str();

    std::string const what_group = "What";
    app.add_option("--close", close, "fin, or reset, which leaves no port waiting")
        ->group(what_group)
        ->check(CLI::IsMember({"fin", "reset"}))
        ->capture_default_str();
    app.add_option(
           "--source", sources,
           "addresses to connect from, in turn: 127.0.0.1-127.0.0.20; each has its own ports")
        ->group(what_group);
    app.add_option("--connect-timeout", connect_timeout, "limit of the TCP handshake")
        ->group(what_group)
        ->capture_default_str();
    app.add_option("--handshake-timeout", handshake_timeout, "limit of the whole TLS handshake")
        ->group(what_group)
        ->capture_default_str();
    app.add_option(
           "--answer-timeout", answer_timeout, "limit of each silence before the answer's end")
        ->group(what_group)
        ->capture_default_str();
    app.add_flag("--no-preflight", no_preflight, "do not try one transaction first")
        ->group(what_group);
}

void load_options::add_tls(CLI::App& app)
{
    std::string const group = "TLS";
    app.add_option("--tls", tls, "version to offer, or both")
        ->group(group)
        ->check(CLI::IsMember({"1.2", "1.3", "1.2-1.3"}))
        ->capture_default_str();
    app.add_option("--ciphers", ciphers, "suites of TLS 1.2, in OpenSSL's names")->group(group);
    app.add_option("--ciphersuites", ciphersuites, "suites of TLS 1.3")->group(group);
    app.add_option("--groups", groups, "key exchange groups, with colons: X25519MLKEM768:X25519")
        ->group(group);
    app.add_option(
           "--signature-algorithms", signature_algorithms,
           "for the server's signature, with colons: ECDSA+SHA256:RSA-PSS+SHA256")
        ->group(group);
    app.add_option(
           "--sni", names,
           "name to ask for, otherwise the target's; more than once, with weights: a.example=3")
        ->allow_extra_args(false)
        ->group(group);
    app.add_option("--alpn", alpn, "protocols to offer, with commas")->group(group);
    app.add_flag(
           "--verify", verify,
           "check the server's certificate and its name (costs the client CPU); the system's "
           "authorities are trusted, or those of --ca")
        ->group(group);
    app.add_option("--ca", authorities, "PEM file of authorities for --verify")
        ->type_name("FILE")
        ->group(group);
    app.add_option("--cert", certificate, "PEM file of the client's certificate and chain")
        ->type_name("FILE")
        ->group(group);
    app.add_option("--key", key, "PEM file of its key, where it is not in the same file")
        ->type_name("FILE")
        ->group(group);
    app.add_option("--reuse", reuse, "connections that each session serves; 1: none is resumed")
        ->group(group)
        ->check(CLI::Range(1U, 1'000'000U))
        ->capture_default_str();
    app.add_option("--resume-ratio", ratio, "part of the connections that resume, 0 to 1")
        ->group(group)
        ->check(CLI::Range(0.0, 1.0));
    app.add_flag("--session-ids", session_ids, "resume by session ID, not by ticket (TLS 1.2)")
        ->group(group);
    app.add_flag(
           "--early-data", early_data,
           "a resumed connection sends its first request as 0-RTT data (TLS 1.3); add --reuse or "
           "--resume-ratio")
        ->group(group);
}

void load_options::add_exchange(CLI::App& app)
{
    std::string const what_group = "What";
    app.add_option(
           "--path", paths,
           "path of the request, otherwise the target's; more than once, with weights: '/a 3'")
        ->allow_extra_args(false)
        ->group(what_group);
    app.add_option("--method", method, "method of the request")
        ->group(what_group)
        ->capture_default_str();
    app.add_option("--header", headers, "'Name: value', more than once")
        ->allow_extra_args(false)
        ->group(what_group);
    app.add_option("--body-size", body_size, "bytes of a body to send: 10M")->group(what_group);
    app.add_option("--raw", raw, "send this text and take bytes, not HTTP")->group(what_group);
    app.add_option("--raw-file", raw_file, "send this file and take bytes, not HTTP")
        ->type_name("FILE")
        ->group(what_group);
    app.add_option("--requests", requests, "number on each connection, one after the other")
        ->group(what_group)
        ->check(CLI::Range(1U, 1'000'000U))
        ->capture_default_str();
    app.add_option("--expect-status", status, "status of a right answer; otherwise 200 to 399")
        ->group(what_group);
    app.add_option("--expect-size", size, "size of a right answer's body, or of the raw answer")
        ->group(what_group);
    app.add_option(
           "--expect-body", body_text,
           "text that the answer's body has somewhere; without it the answer is a failure, 'wrong "
           "body'")
        ->group(what_group);
}

void load_options::add_output(CLI::App& app)
{
    app_ = &app;
    std::string const group = "Result";
    app.add_option("--json", json, "write the whole result to this file")
        ->type_name("FILE")
        ->group(group);
    app.add_option("--html", html, "write a report with charts to this file")
        ->type_name("FILE")
        ->group(group);
    app.add_option("--name", name, "name of this result")->group(group);
    app.add_option("--interval", interval, "interval of the timeline")
        ->group(group)
        ->capture_default_str();
    app.add_option(
           "--server-pid", server_pids,
           "processes of the server on this machine, to report its CPU too")
        ->allow_extra_args(false)
        ->delimiter(',')
        ->group(group);
    app.add_flag("-q,--quiet", quiet, "no live view")->group(group);
}

void load_options::add_gate(CLI::App& app)
{
    std::string const group = "Gate";
    app.add_option(
           "--fail-if", fail_if,
           "exit code 3 where one of these conditions holds, with commas: 'p99 > 50ms, failed > "
           "0.1%, resumed < 99%'; also p50, p90, p99.9, max, mean, rate")
        ->group(group);
    app.add_option(
           "--baseline", baseline, "exit code 3 where it is worse than this earlier --json file")
        ->type_name("FILE")
        ->group(group);
    app.add_option(
           "--tolerance", tolerance,
           "how much worse than --baseline a figure may be, beside chance")
        ->group(group)
        ->capture_default_str();
    app.add_option("--junit", junit, "write what passed and failed to this file, for CI")
        ->type_name("FILE")
        ->group(group);
    app.add_option("--csv", csv, "write the key figures to this file")
        ->type_name("FILE")
        ->group(group);
    app.add_option("--prometheus", prometheus, "write the key figures to this file, as metrics")
        ->type_name("FILE")
        ->group(group);
}

void load_options::add_hosts(CLI::App& app)
{
    std::string const group = "Hosts";
    app.add_option(
           "--hosts", hosts,
           "the same load on each of these machines, by ssh, with one start: a,b,user@c:2222; "
           "--rate, --connections and --transactions are of each, and the result is the sum")
        ->group(group);
    app.add_option("--ssh", ssh, "the program for --hosts, and its options: 'ssh -i key'")
        ->group(group)
        ->capture_default_str();
    app.add_option("--ssh-timeout", ssh_timeout, "for each step of a host before the start")
        ->group(group)
        ->capture_default_str();
    app.add_flag(
           "--as-host", as_host,
           "be one of several hosts, led over standard input and output: so --hosts starts "
           "cleat-bench there")
        ->group(group);
}

void load_options::add_target(CLI::App& app)
{
    app.add_option("target", target, "HOST:PORT or https://HOST:PORT/PATH")->required();
}

} // namespace cleat::bench
