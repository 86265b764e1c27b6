// One load on several hosts: the dialogue with a host, at every split of what it says.

#include "hosts/channel.hpp"
#include "hosts/clock_samples.hpp"
#include "hosts/host_lines.hpp"
#include "hosts/host_run.hpp"
#include "hosts/hosts_request.hpp"
#include "hosts/progress_json.hpp"
#include "text/usage_error.hpp"
#include "text/words.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

namespace cleat::bench::hosts_test {
namespace {

using namespace std::chrono_literals;
using time_point = host_run::time_point;

constexpr time_point noon{std::chrono::seconds{1'800'000'000}};
host_plan const plan{"cleat-bench 1.0 on TLS 2", "Linux x86_64", "PROGRAM", {}};
host_plan const plan_with_file{plan.version, plan.system, plan.program, {{"file-1", "a\nb"}}};

std::int64_t in_ns(time_point t)
{
    return std::chrono::nanoseconds{t.time_since_epoch()}.count();
}

std::string mark(std::string_view words)
{
    return fmt::format("{}{}", host_mark, words);
}

// make_ready answers for a host whose clock is an hour ahead, and each answer takes 2 ms.
void make_ready(host_run& host)
{
    time_point now = noon;
    static_cast<void>(host.take_line(mark("found Linux x86_64 " + plan.version), now));
    std::string asked = host.take_line(mark("ready"), now);
    for (int i = 1; host.stage() != host_stage::ready; ++i) {
        REQUIRE(asked == fmt::format("clock {}\n", i));
        time_point const read = now + 1h + 1ms;
        now += 2ms;
        asked = host.take_line(mark(fmt::format("clock {} {}", i, in_ns(read))), now);
    }
    CHECK(asked.empty());
}

result small_result()
{
    result found;
    found.target = "server:443";
    found.started = noon + 1h + 3s;
    found.measured = 1s;
    found.counts.attempts = found.counts.ok = 2;
    found.counts.response.record(1'000'000);
    found.counts.response.record(3'000'000);
    found.counts.timeline = {{2, 2, 0, 4'000'000, 3'000'000}};
    return found;
}

std::string line_of(result const& found)
{
    std::string text = to_json(found);
    text.pop_back();
    return text;
}

TEST_CASE("hosts are written as ssh has them, with a port after a colon")
{
    std::vector<host_address> const found =
        parse_hosts("a, user@b,user@c:2222,[fe80::1]:22,fe80::2");
    REQUIRE(found.size() == 5);
    CHECK(found[0].destination == "a");
    CHECK(found[0].port.empty());
    CHECK(found[1].destination == "user@b");
    CHECK(found[2].name == "user@c:2222");
    CHECK(found[2].destination == "user@c");
    CHECK(found[2].port == "2222");
    CHECK(found[3].destination == "fe80::1");
    CHECK(found[3].port == "22");
    CHECK(found[4].destination == "fe80::2");
    for (auto const& [text, cure] :
         {std::pair{"a,,b", "[USER@]HOST"},
          {"-oProxyCommand=x", "[USER@]HOST"},
          {"@a", "[USER@]HOST"},
          {"a b", "[USER@]HOST"},
          {"a:0", "1 to 65535"},
          {"a:ssh", "1 to 65535"},
          {"[::1", "not closed"},
          {"[::1]22", "[USER@]HOST"},
          {"[-oProxyCommand=x]", "[USER@]HOST"},
          {"user@-oProxyCommand=x", "[USER@]HOST"},
          {"a,b,a", "twice"}})
        CHECK_THROWS_WITH_AS(
            static_cast<void>(parse_hosts(text)), doctest::Contains(cure), usage_error);
}

TEST_CASE("lines are the same, however their bytes come")
{
    std::string const bytes = "one\r\n\ntwo words\nunfinished";
    for (std::size_t first = 0; first <= bytes.size(); ++first)
        for (std::size_t second = first; second <= bytes.size(); ++second) {
            line_buffer lines;
            std::vector<std::string> found;
            for (std::string_view const part :
                 {std::string_view{bytes}.substr(0, first),
                  std::string_view{bytes}.substr(first, second - first),
                  std::string_view{bytes}.substr(second)})
                for (std::string const& each : lines.take(part))
                    found.push_back(each);
            CHECK(found == std::vector<std::string>{"one", "", "two words"});
        }
}

TEST_CASE("a host with the same cleat-bench runs it; what its login shell prints is no answer")
{
    host_run host{"a", plan};
    CHECK(host.take_line("Welcome to a!", noon).empty());
    CHECK(
        host.take_line("no line break" + mark("found Linux x86_64 " + plan.version), noon) ==
        "run\n");
    CHECK(!host.copied());
    CHECK(host.stage() == host_stage::preparing);
}

TEST_CASE("a host without cleat-bench, or with another version, gets a copy and the files")
{
    for (std::string const version : {"", "cleat-bench 0.9 on TLS 2"}) {
        host_run host{"a", plan_with_file};
        CHECK(
            host.take_line(mark("found Linux x86_64 " + version), noon) ==
            "put cleat-bench 7\nPROGRAM");
        CHECK(host.take_line(mark("put cleat-bench"), noon) == "put file-1 3\na\nb");
        CHECK(host.take_line(mark("put file-1"), noon) == "copied\n");
        CHECK(host.take_line(mark("copied " + plan.version), noon) == "run\n");
        CHECK(host.copied());
        CHECK(host.version() == version);
    }
    host_run host{"a", plan_with_file}; // The files alone.
    CHECK(host.take_line(mark("found Linux x86_64 " + plan.version), noon) == "put file-1 3\na\nb");
    CHECK(host.take_line(mark("put file-1"), noon) == "run\n");
}

TEST_CASE("a copy for another processor is not tried")
{
    host_run host{"a", plan};
    CHECK(host.take_line(mark("found Linux aarch64 "), noon).empty());
    CHECK(host.stage() == host_stage::lost);
    CHECK(
        host.reason() ==
        "it is a Linux aarch64 machine with no cleat-bench, and the program here is for Linux "
        "x86_64: install cleat-bench 1.0 on TLS 2 there");
    host_run other{"b", plan}; // With the same version it needs no copy.
    CHECK(other.take_line(mark("found Linux aarch64 " + plan.version), noon) == "run\n");
}

TEST_CASE("the start is in the host's time, and its result in ours")
{
    host_run host{"a", plan};
    make_ready(host);
    CHECK(host.clock().offset() == 1h);
    CHECK(host.clock().error() == 1ms);
    CHECK(host.start(noon + 3s) == fmt::format("start {}\n", in_ns(noon + 1h + 3s)));
    CHECK(host.take_line(mark("document " + line_of(small_result())), noon).empty());
    REQUIRE(host.stage() == host_stage::done);
    CHECK(host.late(0s) == 0s);
    CHECK(host.take_result().started == noon + 3s);
    host.take_end("ended with code 0", "");
    CHECK(host.stage() == host_stage::done);
}

TEST_CASE("a host that begins after the start says by how much, without its warm-up")
{
    host_run host{"a", plan};
    make_ready(host);
    static_cast<void>(host.start(noon + 1s));
    result late = small_result();
    late.started = noon + 1h + 3s + 12ms;
    static_cast<void>(host.take_line(mark("document " + line_of(late)), noon));
    CHECK(host.late(2s) == 12ms);
}

TEST_CASE("the answer with the shortest way says most about a clock")
{
    clock_samples clock;
    clock.add(noon, noon + 5s + 40ms, noon + 50ms);
    CHECK(clock.offset() == 5s + 15ms);
    clock.add(noon + 1s, noon + 6s + 1ms, noon + 1s + 2ms);
    clock.add(noon + 2s, noon + 7s + 90ms, noon + 2s + 100ms);
    CHECK(clock.offset() == 5s);
    CHECK(clock.error() == 1ms);
}

TEST_CASE("the reason why a host is lost is what ssh says last")
{
    host_run host{"a", plan};
    host.take_end("ended with code 255", "A banner\n1\n2\nssh: connect to host a: No route\r\n\n");
    CHECK(host.stage() == host_stage::lost);
    CHECK(host.reason() == "1; 2; ssh: connect to host a: No route");
    host_run rude{"c", plan};
    rude.take_end("ended with code 1", "\x1b[2J\xff gone");
    CHECK(rude.reason() == "?[2J? gone");
    host_run silent{"b", plan};
    silent.take_end("was ended by signal 9", "");
    CHECK(silent.reason() == "ssh was ended by signal 9 without a word");
}

TEST_CASE("words out of their order do nothing, and damaged ones lose the host")
{
    host_run host{"a", plan};
    for (char const* each :
         {"put x", "copied x", "ready", "clock 1 1", "progress {}", "document {}"})
        CHECK(host.take_line(mark(each), noon).empty());
    CHECK(host.stage() == host_stage::connecting);
    make_ready(host);
    static_cast<void>(host.start(noon));
    host_run damaged{"b", plan};
    make_ready(damaged);
    static_cast<void>(damaged.start(noon));
    static_cast<void>(host.take_line(mark("progress {\"ok\": 1"), noon));
    CHECK(host.reason().find("progress is damaged") != std::string::npos);
    static_cast<void>(damaged.take_line(mark("document {}"), noon));
    CHECK(damaged.reason().find("not a result") != std::string::npos);
}

TEST_CASE("what a host says of its failures has no control characters")
{
    progress sent;
    sent.failures[{stage::answer, "\x1b]0;title\x07\n\xc2\x9b \\u001b"}] = 1;
    host_run host{"a", plan};
    make_ready(host);
    static_cast<void>(host.start(noon));
    static_cast<void>(host.take_line(mark("progress " + to_line(sent)), noon));
    REQUIRE(host.now() != nullptr);
    std::string const& kind = host.now()->failures.begin()->first.kind;
    CHECK(kind.find_first_of("\x1b\x07\n") == std::string::npos);
    CHECK(kind.find("?]0;title??") == 0);
    CHECK(kind.ends_with(" \\u001b")); // The text of an escape is no escape.
}

TEST_CASE("progress goes through its line unchanged, and adds up")
{
    progress one;
    one.since_begin = -3ms;
    one.attempts = 5;
    one.ok = 3;
    one.failures[{stage::answer, "timeout"}] = 2;
    one.in_flight = 7;
    one.cpu = 9ms;
    for (std::uint64_t const ns : {1'000'000U, 5'000'000U, 7'000'000U})
        one.response.record(ns);
    one.slip.record(2'000);
    progress sum = progress_from(to_line(one));
    CHECK(sum.since_begin == -3ms);
    add(sum, progress_from(to_line(one)));
    CHECK(sum.attempts == 10);
    CHECK(sum.ok == 6);
    CHECK(sum.failures[{stage::answer, "timeout"}] == 4);
    CHECK(sum.in_flight == 14);
    CHECK(sum.cpu == 18ms);
    CHECK(sum.response.count() == 6);
    CHECK(sum.response.max() == 7'000'000);
    CHECK(sum.response.percentile(50) == one.response.percentile(50));
    CHECK(sum.slip.count() == 2);
    CHECK(to_line(one).find('\n') == std::string::npos);
}

TEST_CASE("the command of ssh: the user's options before ours, and words that a shell reads")
{
    std::vector<std::string> const words =
        ssh_command({"ssh", "-o", "BatchMode=no"}, "user@c", "2222", {"load", "--raw=it's $HOME"});
    CHECK(words[2] == "BatchMode=no");
    CHECK(words.at(words.size() - 2) == "user@c");
    CHECK(words.back().ends_with(" cleat-bench 'load' '--raw=it'\\''s $HOME'"));
    CHECK(std::string{remote_script()}.find('\'') == std::string::npos);
    CHECK(split_words("ssh -F 'a b' \"c\"") == std::vector<std::string>{"ssh", "-F", "a b", "c"});
}

} // namespace
} // namespace cleat::bench::hosts_test
