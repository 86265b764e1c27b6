#include "commands/load_paths.hpp"
#include "text/numbers.hpp"
#include "text/usage_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

namespace cleat::bench {
namespace {

// Each path has a histogram of its own in each worker.
constexpr std::size_t paths_max = 100;
constexpr unsigned weight_max = 1'000'000;

weighted_request read_path(std::string const& word)
{
    std::size_t const blank = word.find(' ');
    weighted_request one{word.substr(0, blank), "", 1};
    if (blank != std::string::npos) {
        auto const weight = parse_whole<unsigned>(std::string_view{word}.substr(blank + 1));
        if (!weight || *weight == 0 || *weight > weight_max)
            refuse_usage(fmt::format(
                "--path '{}': after the blank is a weight from 1 to {}; a blank in a path is %20",
                word, weight_max));
        one.weight = *weight;
    }
    if (!one.path.starts_with('/') && one.path != "*")
        refuse_usage(fmt::format("--path '{}': a path begins with a slash", word));
    check_path("--path", one.path);
    return one;
}

} // namespace

void check_path(std::string const& option, std::string const& path)
{
    bool const broken = std::ranges::any_of(
        path, [](unsigned char c) { return c <= ' ' || c == 0x7f || c == '#'; });
    if (broken)
        refuse_usage(fmt::format(
            "{} '{}': a space, a control character or a '#' has to be written with %: %20, %23",
            option, path));
}

std::vector<weighted_request> read_paths(
    std::vector<std::string> const& words, std::string const& path_of_target)
{
    std::vector<weighted_request> found;
    for (std::string const& word : words) {
        weighted_request one = read_path(word);
        if (std::ranges::find(found, one.path, &weighted_request::path) != found.end())
            refuse_usage(fmt::format("--path '{}': this path is given twice", one.path));
        found.push_back(std::move(one));
    }
    if (found.empty())
        found.push_back({path_of_target, "", 1});
    if (found.size() > paths_max)
        refuse_usage(fmt::format("--path: at most {} of them", paths_max));
    return found;
}

} // namespace cleat::bench
