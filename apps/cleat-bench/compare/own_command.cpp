#include "compare/own_command.hpp"
#include "text/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cleat::bench {
namespace {

namespace fs = std::filesystem;

struct placeholder
{
    std::string_view name;
    std::string_view value; // In a preset's template.
};

constexpr std::array<placeholder, 6> placeholders{{
    {"port", "@PORT@"},
    {"cert", "@CERT@"},
    {"key", "@KEY@"},
    {"pem", "@PEM@"},
    {"origin", "127.0.0.1:@UPSTREAM@"},
    {"workers", "@WORKERS@"},
}};

// The text between braces, if the word begins with a placeholder's form.
std::optional<std::string_view> name_in_braces(std::string_view word)
{
    std::size_t const end = word.find('}');
    if (!word.starts_with('{') || end == std::string_view::npos || end == 1)
        return std::nullopt;
    std::string_view const name = word.substr(1, end - 1);
    bool const plain = std::ranges::all_of(name, [](char c) { return c >= 'a' && c <= 'z'; });
    return plain ? std::optional{name} : std::nullopt;
}

// Turns a word into a template, and adds its placeholders to `used`.
std::string to_template(std::string_view word, std::set<std::string_view>& used)
{
    std::string made;
    while (!word.empty()) {
        std::optional<std::string_view> const name = name_in_braces(word);
        if (!name) {
            made += word.front();
            word.remove_prefix(1);
            continue;
        }
        auto const known = std::ranges::find(placeholders, *name, &placeholder::name);
        if (known == placeholders.end()) {
            std::vector<std::string> all;
            for (placeholder const& each : placeholders)
                all.push_back(fmt::format("{{{}}}", each.name));
            throw std::runtime_error{fmt::format(
                "there is no value for {{{}}}: these have one: {}", *name, fmt::join(all, ", "))};
        }
        used.insert(known->name);
        made += known->value;
        word.remove_prefix(name->size() + 2);
    }
    return made;
}

// A name without a folder is looked for as a shell does.
fs::path program_named(std::string const& word)
{
    if (word.find('/') == std::string::npos) {
        server_preset by_name;
        by_name.source = program_source::system;
        by_name.programs = {word};
        if (std::optional<fs::path> const found = find_program(by_name, {}))
            return *found;
    }
    return runnable_program(word);
}

} // namespace

peer parse_start(std::string_view text)
{
    named_text named =
        parse_named(text, "NAME='COMMAND', like mine='/opt/mine --port {port} --pem {pem}'");
    std::vector<std::string> const words = split_words(named.rest);
    if (words.empty())
        throw std::runtime_error{"the command is empty"};
    peer found{std::move(named.name), peer_source::command, {}, program_named(words.front())};
    found.preset.name = found.name;
    std::set<std::string_view> used;
    for (std::string const& word : std::span{words}.subspan(1))
        found.preset.arguments.push_back(to_template(word, used));
    if (!used.contains("port"))
        throw std::runtime_error{
            "the command has no {port}, at which it is to listen on 127.0.0.1"};
    if (!used.contains("pem") && !(used.contains("cert") && used.contains("key")))
        throw std::runtime_error{
            "the command has neither {pem} nor {cert} and {key}, so that its certificate would not "
            "be that of the other servers"};
    found.preset.one_worker = !used.contains("workers");
    return found;
}

} // namespace cleat::bench
