// The tables, remarks and JSON of a comparison.

#include "compare/figures.hpp"
#include "text/json.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

namespace cleat::bench::figures_test {
namespace {

server_figures figures_of(std::string name, std::vector<double> const& cpu_us)
{
    server_figures server;
    server.name = std::move(name);
    server.command = "/usr/sbin/" + server.name + " -c x";
    server.config = "# why\nworkers = 1\n";
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
        server.rounds.emplace_back(std::move(round));
    }
    return server;
}

comparison three_servers()
{
    comparison found;
    found.rounds = 3;
    found.workers = 1;
    found.server_cores = {0};
    found.client_cores = {1};
    scenario_figures trial;
    trial.scenario = parse_scenario("kind = handshake\ntitle = Full handshakes\n", "full.scenario");
    trial.servers = {
        figures_of("cleat", {100, 200, 150}), figures_of("nginx", {210, 400, 310}),
        figures_of("epoll", {99, 202, 150})};
    trial.base = choose_base(trial, "cleat");
    found.trials.push_back(trial);
    return found;
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

TEST_CASE("a server that was not measured is listed with the reason, and is not the base")
{
    comparison found = three_servers();
    server_figures& cleat = found.trials[0].servers[0];
    cleat.rounds.clear();
    cleat.left_out = "does not start:\nno such group";
    cleat.at_fault = true;
    found.trials[0].base = choose_base(found.trials[0], "cleat");
    found.partial = true;
    found.client_cores = {0};
    found.absent.emplace_back(
        "envoy", "it is not here: apps/cleat-bench/compare/peers/install envoy gets it");
    CHECK(found.trials[0].base == "nginx");
    CHECK(found.has_fault());
    std::string const text = to_text(found);
    CHECK(text.starts_with("PARTIAL"));
    CHECK(text.find("  - cleat: does not start:\n      no such group\n") != std::string::npos);
    CHECK(text.find("share a core") != std::string::npos);
    CHECK(text.find("envoy is left out: it is not here") != std::string::npos);
}

TEST_CASE("remarks name failures, sessions that were not resumed, and a client at its limit")
{
    comparison found = three_servers();
    found.trials[0].scenario.reuse = 4;
    round_figures& round = *found.trials[0].servers[0].rounds[0];
    round.load.counts.failures[{stage::handshake, "timeout"}] = 3;
    round.load.counts.attempts += 3;
    round.load.verdict.limits = {"its CPU"};
    std::string const text = table_of(found.trials[0], 3);
    CHECK(text.find("- cleat: 3 of 303 failed: handshake: timeout\n") != std::string::npos);
    CHECK(
        text.find("- cleat: 0.0 % of its connections resumed, 75.0 % should have") !=
        std::string::npos);
    CHECK(text.find("- cleat: client-limited") != std::string::npos);
}

TEST_CASE("a scenario that counts system calls has the count, and its calls by name")
{
    comparison found = three_servers();
    scenario_figures& trial = found.trials[0];
    trial.scenario.kind = activity::system_calls;
    double count = 18;
    for (server_figures& server : trial.servers) {
        for (std::optional<round_figures>& round : server.rounds) {
            round->values = {};
            (*round)[metric::system_calls] = count;
            round->calls = {{"recvfrom", 4}, {"epoll_wait", count - 4.001}, {"mmap", 0.001}};
        }
        count += 18;
    }
    CHECK(judged_by(trial.scenario) == metric::system_calls);
    std::string const text = table_of(trial, 3);
    CHECK(text.find("calls each   failed   count over that of cleat\n") != std::string::npos);
    CHECK(text.find("  cleat                 18.0        0   base\n") != std::string::npos);
    CHECK(
        text.find("  nginx                 36.0        0   2.00 (2.00..2.00)\n") !=
        std::string::npos);
    CHECK(text.find("- cleat: 4.00 recvfrom, 14.00 epoll_wait\n") != std::string::npos);
    json::value const read = json::parse(to_json(found));
    json::value const& round = read.at("trials").at(0).at("servers").at(0).at("rounds").at(0);
    CHECK(round.at("system_calls").to_number<double>() == 18);
    CHECK(round.at("calls").at(0).at("name") == "recvfrom");
    CHECK(round.at("cpu_ns").is_null());
}

TEST_CASE("a scenario of two workers is judged by their CPU over that of one")
{
    comparison found = three_servers();
    scenario_figures& trial = found.trials[0];
    trial.scenario.kind = activity::workers;
    for (server_figures& server : trial.servers)
        for (std::optional<round_figures>& round : server.rounds)
            (*round)[metric::workers_ratio] = server.name == "cleat" ? 1.0 : 1.1;
    std::string const text = table_of(trial, 3);
    CHECK(text.find("  2 over 1   failed   ratio over that of cleat\n") != std::string::npos);
    CHECK(text.find("      1.10        0   1.10 (1.10..1.10)\n") != std::string::npos);
    CHECK(text.find("all figures but the ratio are of two\n") != std::string::npos);
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
} // namespace cleat::bench::figures_test
