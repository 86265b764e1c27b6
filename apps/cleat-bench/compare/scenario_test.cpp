// A scenario's file: its keys, its defaults, and the messages about its errors.

#include "compare/scenario.hpp"
#include "compare/scenario_files.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <stdexcept>
#include <string>

namespace cleat::bench::scenario_test {
namespace {

std::string error_in(std::string const& text)
{
    try {
        static_cast<void>(parse_scenario(text, "folder/mine.scenario"));
    } catch (std::runtime_error const& e) {
        return e.what();
    }
    return "none";
}

TEST_CASE("keys that a file leaves out have defaults")
{
    scenario_spec const read = parse_scenario(
        "# Why.\n"
        "\n"
        "title = Resumed by session ID\n"
        "kind  = handshake\n"
        "key   = rsa-2048\r\n"
        "tls   = 1.2\n"
        "reuse = 80\n"
        "session_ids = yes\n"
        "answer = 16K",
        "folder/mine.scenario");
    CHECK(read.name == "mine");
    CHECK(read.title == "Resumed by session ID");
    CHECK(read.kind == activity::handshake);
    CHECK(read.key == "rsa-2048");
    CHECK(read.tls == "1.2");
    CHECK(read.reuse == 80);
    CHECK(read.session_ids);
    CHECK(read.answer == 16384);
    CHECK(read.groups == "X25519");
    CHECK(read.transactions == 3000);
    CHECK(operation_name(read) == "transaction");
    CHECK(!read.finished_alone);
    CHECK(parse_scenario("kind = handshake\nfinished = alone\n", "a.scenario").finished_alone);
}

TEST_CASE("handshakes can be counted in system calls, and measured with one worker and two")
{
    scenario_spec const counted =
        parse_scenario("kind = system-calls\nconnections = 1\nreuse = 4\n", "a.scenario");
    CHECK(counted.kind == activity::system_calls);
    CHECK(counted.connections == 1);
    CHECK(operation_name(counted) == "transaction");
    scenario_spec const workers = parse_scenario("kind = workers\nanswer = 1\n", "a.scenario");
    CHECK(workers.kind == activity::workers);
    CHECK(operation_name(workers) == "handshake");
    CHECK(!moves_bytes(workers));
    // Both are closed loops: a rate would say nothing.
    CHECK(error_in("kind = workers\nrate = 70 %\n")
              .starts_with("folder/mine.scenario:2: rate = 70 %: kind = workers has no such key"));
    CHECK(error_in("kind = system-calls\nbytes = 1M\n")
              .starts_with(
                  "folder/mine.scenario:2: bytes = 1M: kind = system-calls has no such key"));
}

TEST_CASE("established connections send requests now and then, beside a load at full speed")
{
    scenario_spec const flood = parse_scenario(
        "kind = established\n"
        "every = 1.5s\n"
        "duration = 2m\n"
        "beside = handshakes\n"
        "beside_connections = 256\n"
        "server_cpu = 30 %\n",
        "a.scenario");
    CHECK(flood.kind == activity::established);
    CHECK(flood.every == std::chrono::milliseconds{1500});
    CHECK(flood.duration == std::chrono::minutes{2});
    CHECK(flood.beside == background_load::handshakes);
    CHECK(flood.beside_connections == 256);
    CHECK(*flood.server_cpu == doctest::Approx(0.3));
    CHECK(operation_name(flood) == "handshake");
    CHECK(!moves_bytes(flood));

    std::string const downloads =
        "kind = established\nbeside = downloads\nbeside_connections = 16\n";
    CHECK(moves_bytes(parse_scenario(downloads + "bytes = 8M\n", "a.scenario")));
    CHECK(error_in(downloads).find("add bytes = 8M") != std::string::npos);

    scenario_spec const alone = parse_scenario("kind = established\n", "a.scenario");
    CHECK(alone.beside == background_load::none);
    CHECK(!alone.server_cpu);
    CHECK(operation_name(alone) == "request");
    std::string const established = "kind = established\n";
    CHECK(
        error_in(established + "beside = handshakes\n").find("add beside_connections") !=
        std::string::npos);
    CHECK(
        error_in(established + "beside_connections = 4\n").find("say what those") !=
        std::string::npos);
    CHECK(error_in(established + "bytes = 1M\n").find("leave them out") != std::string::npos);
    CHECK(error_in(established + "every = 0\n").find("like 200ms") != std::string::npos);
    CHECK(error_in("kind = handshake\nevery = 1s\n").find("has no such key") != std::string::npos);
}

TEST_CASE("streams are of HTTP/2, for requests over kept connections")
{
    std::string const down = "kind = transfer-down\nbytes = 1K\n";
    CHECK(parse_scenario(down + "messages = 64\n", "a.scenario").streams == 0);
    CHECK(parse_scenario(down + "messages = 64\nstreams = 4\n", "a.scenario").streams == 4);
    CHECK(parse_scenario("kind = established\nstreams = 9\n", "a.scenario").streams == 9);
    CHECK(
        error_in(down + "messages = 63\nstreams = 4\n").find("has 3 messages for 4 streams") !=
        std::string::npos);
    CHECK(
        error_in("kind = established\nstreams = 4\nbeside = handshakes\nbeside_connections = 4\n")
            .find("leave out streams, or beside") != std::string::npos);
    CHECK(error_in("kind = idle\nstreams = 4\n").find("has no such key") != std::string::npos);
}

TEST_CASE("a quota of CPU is a part of one core")
{
    CHECK(
        *parse_scenario("kind = idle\nserver_cpu = 12.5%\n", "a.scenario").server_cpu ==
        doctest::Approx(0.125));
    for (char const* const wrong : {"0 %", "9.9 %", "101 %", "0.3", "some %", "-5 %"})
        CHECK(
            error_in(std::string{"kind = idle\nserver_cpu = "} + wrong + "\n")
                .find("from 10 % to 100 %") != std::string::npos);
}

TEST_CASE("a rate is a number, or a part of the weakest server's capacity")
{
    CHECK(!parse_scenario("kind = handshake\n", "a.scenario").rate);
    scenario_spec const part = parse_scenario("kind = handshake\nrate = 70 %\n", "a.scenario");
    CHECK(part.rate->of_weakest);
    CHECK(part.rate->value == doctest::Approx(0.7));
    CHECK(part.arrivals == arrivals::poisson);
    scenario_spec const given =
        parse_scenario("kind = handshake\nrate = 12.5\narrivals = constant\n", "a.scenario");
    CHECK(!given.rate->of_weakest);
    CHECK(given.rate->value == 12.5);
    CHECK(given.arrivals == arrivals::constant);
    for (std::string const wrong : {"0", "-1", "101 %", "70 percent", "1e7", "nan", "%"})
        CHECK(error_in("kind = handshake\nrate = " + wrong + "\n")
                  .starts_with("folder/mine.scenario:2: rate = " + wrong + ": write transactions"));
    CHECK(
        error_in("kind = handshake\narrivals = constant\n") ==
        "folder/mine.scenario:2: arrivals = constant: without a rate the loop is closed: add rate "
        "= 70 %, for instance");
}

TEST_CASE("an error names file, line and cure")
{
    CHECK(error_in("kind = handshake\nkez = rsa-2048\n")
              .starts_with("folder/mine.scenario:2: there is no key 'kez': write one of title, "));
    CHECK(
        error_in("kind = handshake\n\nkey = rsa-1000\n") ==
        "folder/mine.scenario:3: key = rsa-1000: write one of ecdsa-p256, rsa-1024, rsa-2048, "
        "rsa-3072, "
        "rsa-4096, ed25519");
    CHECK(
        error_in("kind = handshake\nreuse\n") ==
        "folder/mine.scenario:2: 'reuse': write KEY = VALUE, or # before a comment");
    CHECK(
        error_in("kind = idle\nkind = idle\n") ==
        "folder/mine.scenario:2: 'kind' is given twice: leave one of them");
    CHECK(
        error_in("tls = 1.3\n").find("kind is missing: add kind = handshake or ") !=
        std::string::npos);
    CHECK(
        error_in("kind = handshake\nreuse = 0\n") ==
        "folder/mine.scenario:2: reuse = 0: write a number from 1 to 1000000");
    CHECK(
        error_in("kind = handshake\ngroups = X25519; daemon on\n")
            .find("with colons between them") != std::string::npos);
    CHECK(error_in("kind = handshake\ntitle =\n").ends_with("the value is missing"));
}

TEST_CASE("a key that its kind does not have is an error")
{
    CHECK(
        error_in("kind = idle\nreuse = 4\n")
            .find("mine.scenario:2: reuse = 4: kind = idle has no such key") != std::string::npos);
    CHECK(error_in("kind = transfer-down\nbytes = 1K\n").find("add them") != std::string::npos);
    CHECK(
        error_in("kind = transfer-down\nbytes = 1K\nmessages = 2\nconnections = 4\n")
            .find("not enough for 4 connections") != std::string::npos);
    CHECK(
        error_in("kind = handshake\nciphers = AES128-SHA\n").find("add tls = 1.2") !=
        std::string::npos);
    CHECK(
        error_in("kind = handshake\nreuse = 4\nsession_ids = yes\n").find("add tls = 1.2") !=
        std::string::npos);
    CHECK(
        error_in("kind = handshake\ntls = 1.2\nsession_ids = yes\n").find("add reuse") !=
        std::string::npos);
}

TEST_CASE("every embedded scenario is valid")
{
    REQUIRE(scenario_names().size() > 20);
    for (std::string const& name : scenario_names()) {
        scenario_spec const read = find_scenario(name);
        CHECK(read.name == name);
        CHECK(read.title != name);
    }
}

TEST_CASE("the error about an unknown scenario lists those that exist")
{
    CHECK_THROWS_WITH_AS(
        static_cast<void>(find_scenario("full-dsa")), doctest::Contains("full-ecdsa-p256"),
        std::runtime_error);
}

} // namespace
} // namespace cleat::bench::scenario_test
