// What is said about figures: tables, remarks, the document.

#include "compare/figures.hpp"
#include "text/json.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace cleat::bench {
namespace {

contender made(std::string name, std::vector<double> const& cpu_us)
{
    contender one;
    one.name = std::move(name);
    one.command = "/usr/sbin/" + one.name + " -c x";
    one.config = "# why\nworkers = 1\n";
    for (double const us : cpu_us) {
        round_figures round;
        round[metric::cpu] = us * 1000;
        round[metric::rate] = 1e6 / us;
        round[metric::p50] = 1e6;
        round[metric::p99] = 2e6;
        round[metric::memory] = 5e6;
        round.load.counts.attempts = round.load.counts.ok = 100;
        round.load.counts.full = 100;
        round.load.measured = std::chrono::seconds{1};
        round.load.target = std::to_string(us);
        one.rounds.emplace_back(std::move(round));
    }
    return one;
}

comparison three_servers()
{
    comparison of;
    of.rounds = 3;
    of.workers = 1;
    of.server_cores = {0};
    of.client_cores = {1};
    trial one;
    one.what = parse_scenario("kind = handshake\ntitle = Full handshakes\n", "full.scenario");
    one.servers = {
        made("cleat", {100, 200, 150}), made("nginx", {210, 400, 310}),
        made("epoll", {99, 202, 150})};
    one.base = choose_base(one, "cleat");
    of.trials.push_back(one);
    return of;
}

TEST_CASE("a table has medians, ratios with their spread, and says where no difference is shown")
{
    std::string const text = to_text(three_servers());
    CHECK(text.find("full: Full handshakes (3 rounds)") != std::string::npos);
    CHECK(text.find("CPU over that of cleat") != std::string::npos);
    CHECK(text.find("150 us     5.00 MB        0   base\n") != std::string::npos);
    CHECK(text.find("2.07 (2.00..2.10)\n") != std::string::npos);
    CHECK(text.find("1.00 (0.99..1.01) no difference shown\n") != std::string::npos);
    CHECK(text.find("nginx: /usr/sbin/nginx -c x\n      workers = 1\n") != std::string::npos);
    CHECK(text.find("PARTIAL") == std::string::npos);
}

TEST_CASE("who was not measured is told, and is not the base")
{
    comparison of = three_servers();
    contender& cleat = of.trials[0].servers[0];
    cleat.rounds.clear();
    cleat.left_out = "does not start:\nno such group";
    cleat.at_fault = true;
    of.trials[0].base = choose_base(of.trials[0], "cleat");
    of.partial = true;
    of.client_cores = {0};
    of.absent.emplace_back(
        "envoy", "it is not here: apps/cleat-bench/compare/peers/install envoy gets it");
    CHECK(of.trials[0].base == "nginx");
    CHECK_FALSE(of.sound());
    std::string const text = to_text(of);
    CHECK(text.starts_with("PARTIAL"));
    CHECK(text.find("  - cleat: does not start:\n      no such group\n") != std::string::npos);
    CHECK(text.find("share a core") != std::string::npos);
    CHECK(text.find("envoy is left out: it is not here") != std::string::npos);
}

TEST_CASE("failures, sessions that were not resumed, and a client at its limit are remarked")
{
    comparison of = three_servers();
    of.trials[0].what.reuse = 4;
    round_figures& round = *of.trials[0].servers[0].rounds[0];
    round.load.counts.failures[{stage::handshake, "timeout"}] = 3;
    round.load.counts.attempts += 3;
    round.load.verdict.limits = {"its CPU"};
    std::string const text = table_of(of.trials[0], 3);
    CHECK(text.find("- cleat: 3 of 303 failed: handshake: timeout\n") != std::string::npos);
    CHECK(
        text.find("- cleat: 0.0 % of its connections resumed, 75.0 % were to") !=
        std::string::npos);
    CHECK(text.find("- cleat: client-limited") != std::string::npos);
}

TEST_CASE("JSON has each round, the medians, and the verdicts")
{
    json::value const read = json::parse(to_json(three_servers()));
    CHECK(read.at("kind") == "compare");
    json::value const& nginx = read.at("trials").at(0).at("servers").at(1);
    CHECK(nginx.at("rounds").as_array().size() == 3);
    CHECK(nginx.at("rounds").at(0).at("cpu_ns").to_number<double>() == 210'000);
    CHECK(nginx.at("rounds").at(0).at("load").at("ok").to_number<int>() == 100);
    CHECK(nginx.at("medians").at("cpu_ns").to_number<double>() == 310'000);
    CHECK(nginx.at("ratios").at("cpu_ns").at("verdict") == "more");
    CHECK(nginx.at("ratios").at("p99_ns").at("verdict") == "no difference shown");
    CHECK(read.at("trials").at(0).at("servers").at(0).at("ratios").as_object().empty());
}

} // namespace
} // namespace cleat::bench
