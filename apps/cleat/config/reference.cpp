#include "config/key_text.hpp"
#include "config/reference.hpp"
#include "config/table.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace cleat::app {
namespace {

std::string flag_names(key_row const& row)
{
    std::string text = row.short_flag.empty() ? "" : fmt::format("`{}`, ", row.short_flag);
    return text + fmt::format("`--{}`", row.name);
}

void add_entry(std::string& out, key_row const& row)
{
    constexpr std::size_t page_width = 100;
    auto const item = [&out](std::string_view label, std::string_view text) {
        if (!text.empty()) {
            out += "- ";
            wrap(out, fmt::format("{}: {}", label, text), "  ", page_width);
        }
    };
    out += fmt::format("### `{}`\n\n", row.name);
    wrap(out, row.help, "", page_width);
    out += '\n';
    item("Value", fmt::format("`{}`", value_text(row)));
    std::string const default_text = default_of(row);
    item("Default", is_prose(row) ? default_text : fmt::format("`{}`", default_text));
    item("Where", places_text(row, "`"));
    if (row.where.flag)
        item("Flag", flag_names(row));
    if (!row.other_names.empty())
        item("Also", fmt::format("`{}`", row.other_names));
    if (row.repeatable)
        item("Repeats", "each one adds to those before it");
    item("Status", status_text(row.status));
    item("Instead", row.cure);
    item("Compared with stud and hitch", row.note);
    out += '\n';
}

std::string page_top()
{
    std::string out = "# Configuration\n\n"
                      "<!-- Made by `cleat --reference` from apps/cleat/config/table.cpp: change "
                      "it there. -->\n\n";
    out += fmt::format("{}\n\n```\n{}```\n\n", syntax_introduction(), syntax_example());
    for (std::string_view const rule : syntax_rules())
        out += fmt::format("- {}\n", rule);
    return out + '\n';
}

} // namespace

std::string reference_markdown()
{
    std::string out = page_top();
    for (key_topic const& part : key_topics()) {
        out += fmt::format("## {}\n\n", part.title);
        for (key_row const& row : config_table())
            if (row.group == part.group)
                add_entry(out, row);
    }
    out.pop_back(); // the blank line after the last entry
    return out;
}

std::string default_configuration()
{
    constexpr std::size_t file_width = 100;
    std::string out =
        "# Every key of cleat, set to its default. What is commented out is not set: `cleat\n"
        "# --reference` says what happens then.\n";
    for (key_topic const& part : key_topics()) {
        out += fmt::format("\n# ---- {}\n", part.title);
        for (key_row const& row : config_table()) {
            if (row.group != part.group || !row.where.global || row.status != key_status::supported)
                continue;
            out += "\n# ";
            wrap(out, row.help, "# ", file_width);
            std::string const value = row.show ? row.show(config{}) : "";
            std::string_view const quote = row.kind == value_kind::text ? "\"" : "";
            out += fmt::format(
                "{}{} = {}{}{}\n", value.empty() ? "# " : "", row.name, quote, value, quote);
        }
    }
    return out;
}

} // namespace cleat::app
