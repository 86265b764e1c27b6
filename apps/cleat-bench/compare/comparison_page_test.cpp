// The page's data of a comparison, and the files that it is read from.

#include "compare/figures_json.hpp"
#include "report/comparison.hpp"
#include "report/documents.hpp"
#include "report/report.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace cleat::bench::comparison_page_test {
namespace {

round_figures round_of(double cpu_us, std::uint64_t response_ns)
{
    round_figures made;
    made[metric::cpu] = cpu_us * 1000;
    made[metric::p99] = 2e6;
    made.load.measured = std::chrono::seconds{1};
    made.load.counts.attempts = 101;
    made.load.counts.ok = made.load.counts.full = 100;
    made.load.counts.failures[{stage::connect, "refused"}] = 1;
    made.load.verdict.limits = {"its CPU"};
    made.load.counts.response.record(response_ns, 100);
    return made;
}

comparison two_servers()
{
    comparison of;
    of.rounds = 3;
    of.workers = 1;
    scenario_figures one;
    one.scenario = parse_scenario("kind = handshake\ntitle = Full handshakes\n", "full.scenario");
    for (std::string_view const name : {"cleat", "nginx"}) {
        server_figures server;
        server.name = name;
        double const times = name == "cleat" ? 1 : 2;
        for (double const us : {300.0, 100.0, 200.0})
            server.rounds.emplace_back(
                round_of(us * times, static_cast<std::uint64_t>(us * times)));
        one.servers.push_back(server);
    }
    one.base = choose_base(one, "cleat");
    of.trials.push_back(one);
    return of;
}

json::value document()
{
    return document_of(two_servers());
}

json::object& first_trial(json::value& document)
{
    return document.at("trials").as_array().at(0).as_object();
}

std::string complaint(std::string const& text)
{
    drawable found;
    try {
        add_document(found, text, "A.json");
    } catch (std::runtime_error const& e) {
        return e.what();
    }
    return {};
}

TEST_CASE("a comparison is drawn from its document: figures of all rounds, counts in sum")
{
    json::object const page = page_of(document(), {1, 10, 100});
    json::value const& shown = page.at("trials").at(0);
    CHECK(shown.at("judged") == "cpu_ns");
    CHECK(shown.at("base") == "cleat");
    CHECK(shown.at("scenario").at("arrivals").is_null());
    json::value const& nginx = shown.at("servers").at(1);
    CHECK(nginx.at("medians").at("cpu_ns").to_number<double>() == 400'000);
    CHECK(nginx.at("ratios").at("cpu_ns").at("verdict") == "more");
    CHECK(nginx.at("rounds").as_array().size() == 3);
    CHECK(nginx.at("counts").at("attempts").to_number<double>() == 303);
    CHECK(nginx.at("counts").at("failures").at(0).at("count").to_number<double>() == 3);
    CHECK(nginx.at("counts").at("limits").as_array().size() == 1);
    CHECK(json::serialize(page).find("hdr") == std::string::npos);
}

TEST_CASE("the curve is that of the median round, and ends where failures begin")
{
    json::object const page = page_of(document(), {1, 10, 100, 1000});
    json::array const& curve = page.at("trials").at(0).at("servers").at(1).at("curve").as_array();
    REQUIRE(curve.size() == 3); // One of 101 failed, so 99.9 % have no time.
    CHECK(curve.front().to_number<int>() == 400);
    CHECK(most_values(document()) == 100);
}

TEST_CASE("without the generators' results there are neither counts nor curves")
{
    json::value stripped = document();
    for (json::value& server : first_trial(stripped).at("servers").as_array())
        for (json::value& round : server.at("rounds").as_array())
            round.as_object().erase("load");
    json::object const page = page_of(stripped, {1, 10});
    json::value const& nginx = page.at("trials").at(0).at("servers").at(1);
    CHECK(nginx.at("curve").is_null());
    CHECK(nginx.at("counts").is_null());
    CHECK(most_values(stripped) == 0);
    drawable all;
    all.comparisons = {stripped};
    CHECK(page_for(all).find("<title>cleat, nginx compared") != std::string::npos);
}

TEST_CASE("servers are judged by p99 at a given rate, and by memory when idle")
{
    json::value paced = document();
    first_trial(paced).at("scenario").as_object()["arrivals"] =
        json::object{{"share", nullptr}, {"rate", 1234.5}, {"weakest", nullptr}};
    json::object const page = page_of(paced, {1, 10});
    json::value const& shown = page.at("trials").at(0);
    CHECK(shown.at("judged") == "p99_ns");
    CHECK(shown.at("scenario").at("arrivals").at("rate").to_number<double>() == 1234.5);
    CHECK(shown.at("scenario").at("arrivals").at("weakest").is_null());

    json::value idle = document();
    first_trial(idle).at("scenario").as_object()["kind"] = "idle";
    CHECK(page_of(idle, {1}).at("trials").at(0).at("judged") == "memory_bytes");
}

TEST_CASE("files of load and of compare are taken, in any order")
{
    drawable found;
    add_document(found, to_json(two_servers()), "A.json");
    add_document(found, to_json(result{}), "B.json");
    CHECK(found.results.size() == 1);
    CHECK(found.comparisons.size() == 1);
    CHECK(page_for(found).find("<title>2 results") != std::string::npos);
}

TEST_CASE("a file that cannot be drawn is named, with what is wrong and what to do")
{
    CHECK(complaint("{").starts_with("A.json: not JSON ("));
    CHECK(complaint("{}").starts_with("A.json: not a document of cleat-bench: name files"));
    CHECK(complaint(R"({"cleat_bench": 1, "kind": "tea"})")
              .starts_with("A.json: a document of 'tea' has no charts: name files"));
    CHECK(complaint(R"({"cleat_bench": 1, "kind": "idle"})").find("'levels' is missing") < 80);
    CHECK(complaint(R"({"cleat_bench": 1, "kind": "probe"})").find("'hosts' is missing") < 80);
    CHECK(complaint(R"({"cleat_bench": 9, "kind": "compare"})").find("version 9") < 40);

    json::value damaged = document();
    first_trial(damaged)["base"] = "apache";
    CHECK(complaint(json::serialize(damaged)).find("'base' is not among the servers") < 80);
    damaged = document();
    first_trial(damaged).at("servers").as_array().at(0).as_object()["config"] = 7;
    CHECK(complaint(json::serialize(damaged)).find("'config' is not a text") < 80);
    damaged = document();
    first_trial(damaged)
        .at("servers")
        .as_array()
        .at(0)
        .at("rounds")
        .as_array()
        .at(2)
        .at("load")
        .at("latency")
        .at("response")
        .as_object()["hdr"] = "HISTFAAA";
    CHECK(complaint(json::serialize(damaged)).find("a histogram is damaged") < 80);
}

} // namespace
} // namespace cleat::bench::comparison_page_test
