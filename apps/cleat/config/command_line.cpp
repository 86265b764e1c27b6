#include "config/command_line.hpp"
#include "config/reference.hpp"
#include "config/reload_command_line.hpp"
#include "config/start_flags.hpp"
#include "inspect/check_command_line.hpp"
#include "inspect/explain_command_line.hpp"

#include <array>
#include <optional>
#include <string_view>

namespace cleat::app {
namespace {

// reference.cpp has their help.
constexpr std::array<own_flag, 6> program_flags{{
    {"-t,--test", own_flag::kind::flag},
    {"-V,--version", own_flag::kind::instead},
    {"-h,--help", own_flag::kind::instead},
    {"--reference", own_flag::kind::instead},
    {"--metrics-reference", own_flag::kind::instead},
    {"--default-config", own_flag::kind::instead},
}};

std::string_view base_name(std::string_view path)
{
    return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

// The text to print, where a flag asks for a text and nothing else.
std::optional<command> requested_text(start_words const& words, std::string_view program)
{
    if (words.has("help"))
        return print_text{help_text(program)};
    if (words.has("version"))
        return show_version{};
    if (words.has("reference"))
        return print_text{reference_markdown()};
    if (words.has("metrics-reference"))
        return show_metrics{};
    if (words.has("default-config"))
        return print_text{default_configuration()};
    return {};
}

} // namespace

command parse_command_line(std::span<char const* const> arguments, file_opener const& opener)
{
    std::string const program{arguments.empty() ? "cleat" : base_name(arguments.front())};
    if (arguments.size() < 2)
        return print_text{usage_text(program), 1};
    if (arguments[1] == std::string_view{"reload"})
        return parse_reload(program, arguments.subspan(2));
    if (arguments[1] == std::string_view{"check"})
        return parse_check(program, arguments.subspan(2));
    if (arguments[1] == std::string_view{"explain"})
        return parse_explain(program, arguments.subspan(2));

    start_words words =
        read_start_words({program, program, program_flags, opener}, arguments.subspan(1));
    if (std::optional<command> text = requested_text(words, program))
        return *std::move(text);
    if (has_errors(words.problems)) {
        refused answer{std::move(words.problems), {}};
        if (rest_is_whole(answer.problems))
            answer.rest = std::move(words.settings);
        return answer;
    }
    if (words.has("test"))
        return check_only{std::move(words.settings), std::move(words.problems)};
    return serve{
        std::move(words.settings), std::move(words.problems), {arguments.begin(), arguments.end()}};
}

} // namespace cleat::app
