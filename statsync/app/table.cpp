#include "core/text.hpp"
#include "table.hpp"

#include <algorithm>
#include <iomanip>
#include <map>

#include <utf8proc.h>

namespace statsync {
namespace {

/// width: columns of a terminal that the text takes.
std::size_t width(std::string const& text)
{
    std::size_t columns = 0;
    utf8proc_ssize_t place = 0;
    utf8proc_ssize_t const size = static_cast<utf8proc_ssize_t>(text.size());
    while (place < size) {
        utf8proc_int32_t code_point = 0;
        utf8proc_ssize_t const step = utf8proc_iterate(
            reinterpret_cast<utf8proc_uint8_t const*>(text.data()) + place, size - place,
            &code_point);
        place += std::max<utf8proc_ssize_t>(step, 1);
        columns += static_cast<std::size_t>(std::max(utf8proc_charwidth(code_point), 0));
    }
    return columns;
}

std::string padded(std::string text, std::size_t columns)
{
    std::size_t const used = width(text);
    text.append(used < columns ? columns - used : 0, ' ');
    return text;
}

std::string title_of(identity const& one)
{
    std::string text = one.artist + " – " + one.title;
    if (!one.album.empty()) {
        text += "  (" + one.album + ")";
    }
    return printable(text);
}

bool is_shown(merged_track const& one)
{
    return !one.unsettled.empty() ||
           std::ranges::any_of(one.updates, [](fields some) { return !some.empty(); });
}

void print_group(
    std::ostream& out, track_group const& group, merged_track const& merged,
    provider_list const& providers)
{
    out << statsync::title_of(group, providers) << '\n';
    for (std::size_t place = 0; place < group.size(); ++place) {
        provider& player = *providers[group[place].provider];
        statistics const& before = player.tracks()[group[place].track].statistics;
        for (field one : list(merged.updates[place] | merged.unsettled)) {
            bool const is_update = merged.updates[place].has(one);
            out << (is_update ? "    " : "  ! ") << value_line(player.name(), before, one);
            if (is_update) {
                out << " → " << printable(text_of(merged.after[place], one));
            } else {
                out << "  in conflict";
            }
            out << '\n';
        }
    }
}

void print_counts(std::ostream& out, plan const& made, provider_list const& providers)
{
    std::vector<std::vector<change>> const changes = changes_of(made, providers);
    out << counted(made.updated_count(), "track") << " to write in "
        << counted(made.merged.size(), "matched track") << ":";
    char const* separator = " ";
    for (std::size_t i = 0; i < providers.size(); ++i) {
        out << separator << printable(providers[i]->name()) << ' ' << changes[i].size();
        separator = ", ";
    }
    out << '\n';
    if (std::size_t const count = made.unsettled_count(); count > 0) {
        out << counted(count, "track") << " in conflict (!), which " << (count == 1 ? "is" : "are")
            << " not written: --unrated-yields, --prefer, --ratings and --labels settle "
               "conflicts\n";
    }
}

void print_members(
    std::ostream& out, char const* word, std::vector<member> const& members,
    provider_list const& providers, std::size_t rows_max)
{
    for (std::size_t i = 0; i < members.size() && i < rows_max; ++i) {
        provider& player = *providers[members[i].provider];
        out << padded(word, 9) << padded(printable(player.name()), 16) << ' '
            << title_of(player.tracks()[members[i].track].identity) << '\n';
    }
    if (members.size() > rows_max) {
        out << "and " << counted(members.size() - rows_max, "more track") << " " << word << '\n';
    }
}

} // namespace

std::string title_of(track_group const& group, provider_list const& providers)
{
    return title_of(providers[group[0].provider]->tracks()[group[0].track].identity);
}

std::string value_line(std::string const& player, statistics const& values, field one)
{
    return padded(printable(player), 16) + ' ' + padded(std::string(name_of(one)), 10) + ' ' +
           printable(text_of(values, one));
}

std::string counted(std::size_t count, std::string const& noun)
{
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

void print_plan(
    std::ostream& out, plan const& made, provider_list const& providers, std::size_t rows_max)
{
    std::size_t shown = 0;
    std::size_t left_out = 0;
    for (std::size_t i = 0; i < made.merged.size(); ++i) {
        if (!is_shown(made.merged[i])) {
            continue;
        }
        if (shown < rows_max) {
            print_group(out, made.matches.groups[i], made.merged[i], providers);
            ++shown;
        } else {
            ++left_out;
        }
    }
    if (left_out > 0) {
        out << "and " << counted(left_out, "more track") << " (--rows shows them)\n";
    }
    if (shown > 0) {
        out << '\n';
    }
    print_counts(out, made, providers);
}

void print_matches(
    std::ostream& out, match_result const& matches, provider_list const& providers,
    std::size_t rows_max)
{
    print_members(out, "unique", matches.unique, providers, rows_max);
    print_members(out, "excluded", matches.excluded, providers, rows_max);
    out << "compared by " << names(matches.compared) << ": " << matches.groups.size()
        << " matched, " << matches.unique.size() << " unique, " << matches.excluded.size()
        << " excluded as duplicates\n";
}

void print_track(std::ostream& out, track const& one)
{
    out << title_of(one.identity);
    for (field statistic : list(statistic_fields)) {
        std::string const text = text_of(one.statistics, statistic);
        if (text != "-") {
            out << "  " << name_of(statistic) << ' ' << printable(text);
        }
    }
    out << '\n';
}

} // namespace statsync
