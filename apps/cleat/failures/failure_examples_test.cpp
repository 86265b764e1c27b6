#include "failures/failure_examples.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

namespace cleat::app::failure_examples_test {
namespace {

using examples = failure_examples<3>;

} // namespace

TEST_CASE("each reason has a count, and the example that was kept last")
{
    auto const seen = std::make_unique<examples>();
    examples::clock::time_point const now{std::chrono::hours{1}};
    CHECK(seen->value(1) == 0);
    CHECK_FALSE(seen->last(1));
    CHECK(seen->count(1, now));
    CHECK_FALSE(seen->last(1)); // Counted, and not kept yet.
    seen->keep(1, {.client = "192.0.2.1:1", .server_name = "a.example"});
    CHECK(seen->last(1)->client.view() == "192.0.2.1:1");
    CHECK(seen->last(1)->server_name.view() == "a.example");
    CHECK(seen->last(1)->detail.view().empty());
    CHECK(seen->value(1) == 1);
    CHECK(seen->value(0) == 0);
    CHECK_FALSE(seen->last(2));
}

TEST_CASE("a flood is counted, and few of its connections are kept")
{
    auto const seen = std::make_unique<examples>();
    examples::clock::time_point const now{};
    int kept = 0;
    for (int i = 0; i < 1000; ++i)
        kept += seen->count(0, now + std::chrono::milliseconds{i}) ? 1 : 0;
    CHECK(seen->value(0) == 1000);
    CHECK(kept == 2);
}

TEST_CASE("a text that is too long is cut")
{
    CHECK(short_text<4>{"12345"}.view() == "1234");
    CHECK(short_text<4>{""}.view().empty());
    CHECK(short_text<4>{std::string_view{"a\0b", 3}}.view().size() == 3);
}

TEST_CASE("a reader never sees a half of one example and a half of another")
{
    auto const shown = std::make_unique<published_value<failure_example>>();
    std::atomic<bool> is_over{false};
    std::thread writer{[&] {
        for (int i = 0; i < 200'000; ++i) {
            std::string const text(31, static_cast<char>('a' + i % 26));
            shown->write({.client = text, .frontend = text, .alert = text, .detail = text});
        }
        is_over = true;
    }};
    int mixed = 0;
    while (!is_over)
        if (std::optional<failure_example> const seen = shown->read())
            mixed += seen->client.view() == seen->detail.view() &&
                             seen->alert.view() == seen->frontend.view() &&
                             seen->client.view() == seen->alert.view()
                         ? 0
                         : 1;
    writer.join();
    CHECK(mixed == 0);
    CHECK(shown->read()->client.view().size() == 31);
}

} // namespace cleat::app::failure_examples_test
