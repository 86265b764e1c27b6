#include "manual/manual.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace cleat::manual {
namespace {

// A backslash begins an escape, and a plain hyphen may be printed as another character, which a
// search for a flag would not find.
std::string escaped(std::string_view text)
{
    std::string out;
    for (char const c : text) {
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else
            out += c;
    }
    return out;
}

// A dot or a quote at the beginning of a line makes a request of it. A long list with colons may be
// broken behind each.
std::string line_of(std::string_view text)
{
    std::string shown = escaped(text);
    for (std::size_t i = 0; (i = shown.find(':', i)) != std::string::npos; ++i)
        if (i + 1 < shown.size() && shown[i + 1] != ' ') {
            shown.insert(i + 1, "\\:");
            i += 2; // The inserted colon.
        }
    return shown.starts_with('.') || shown.starts_with('\'') ? "\\&" + shown : shown;
}

// An argument of a macro, in its quotes.
std::string in_quotes(std::string_view text)
{
    std::string out = "\"";
    for (char const c : escaped(text)) {
        if (c == '"')
            out += "\\(dq";
        else
            out += c;
    }
    return out + '"';
}

std::string upper(std::string_view text)
{
    std::string out{text};
    std::ranges::transform(
        out, out.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return out;
}

std::string synopsis(page const& about)
{
    std::string out = roff_heading("Synopsis");
    bool first = true;
    for (command const& each : about.commands)
        for (std::string const& words : each.synopses) {
            out += first ? "" : ".br\n";
            first = false;
            std::string const name =
                each.name.empty() ? about.name : fmt::format("{} {}", about.name, each.name);
            out += fmt::format(".B {}\n", in_quotes(name));
            if (!words.empty())
                out += line_of(words) + '\n';
        }
    return out;
}

std::string sections_of(command const& about)
{
    std::string out;
    for (section const& part : about.sections) {
        if (part.options.empty())
            continue;
        if (!part.title.empty())
            out += fmt::format(".SS {}\n", in_quotes(part.title));
        for (option const& each : part.options)
            out += roff_option(each);
    }
    return out;
}

std::string command_sections(page const& about)
{
    std::string out;
    for (command const& each : about.commands) {
        out += each.name.empty() ? roff_heading("Options")
                                 : roff_heading(fmt::format("{} {}", about.name, each.name));
        if (!each.name.empty() && !each.summary.empty())
            out += roff_text(each.summary);
        out += sections_of(each);
        if (!each.examples.empty())
            out += roff_example(each.examples);
    }
    return out;
}

std::string references(std::vector<std::string> const& pages)
{
    std::string out = roff_heading("See also");
    for (std::size_t i = 0; i != pages.size(); ++i) {
        std::size_t const open = pages[i].find('(');
        out += fmt::format(
            ".BR {} {}{}\n", escaped(pages[i].substr(0, open)), pages[i].substr(open),
            i + 1 == pages.size() ? "" : " ,");
    }
    return out;
}

} // namespace

std::string roff_text(std::string_view text)
{
    std::string out;
    while (!text.empty()) {
        std::size_t const end = std::min(text.find('\n'), text.size());
        std::string_view const line = text.substr(0, end);
        out += line.empty() ? ".PP\n" : line_of(line) + '\n';
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

std::string roff_heading(std::string_view title)
{
    return fmt::format(".SH {}\n", in_quotes(upper(title)));
}

std::string roff_example(std::string_view lines)
{
    std::string out = ".PP\n.RS 4\n.nf\n";
    while (!lines.empty()) {
        std::size_t const end = std::min(lines.find('\n'), lines.size());
        out += end == 0 ? "\\&\n" : line_of(lines.substr(0, end)) + '\n';
        lines.remove_prefix(std::min(end + 1, lines.size()));
    }
    return out + ".fi\n.RE\n";
}

std::string roff_option(option const& about)
{
    std::string names;
    for (std::string const& each : about.names)
        names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", escaped(each));
    // A positional word is its own value.
    std::string value;
    if (!about.value.empty() && about.value != about.names.front())
        value = fmt::format(" \\fI{}\\fR", escaped(about.value));
    return fmt::format(
        ".TP\n{}{}\n{}", names, value, about.help.empty() ? ".sp 0\n" : roff_text(about.help));
}

std::string to_roff(page const& about)
{
    std::string out = ".\\\" Made from the program's own table of options.\n";
    out += fmt::format(
        ".TH {} {} \"\" {}\n", upper(about.name), about.number, in_quotes(about.version));
    out += ".ad l\n"; // A long value on a line of its own cannot be adjusted to both margins.
    out += roff_heading("Name");
    out += fmt::format("{} \\- {}\n", escaped(about.name), escaped(about.summary));
    if (std::ranges::any_of(about.commands, [](command const& c) { return !c.synopses.empty(); }))
        out += synopsis(about);
    out += roff_heading("Description");
    for (std::string const& paragraph : about.description)
        out += (&paragraph == &about.description.front() ? "" : ".PP\n") + roff_text(paragraph);
    out += about.before_options;
    out += command_sections(about);
    out += about.after_options;
    if (!about.see_also.empty())
        out += references(about.see_also);
    return out;
}

} // namespace cleat::manual
