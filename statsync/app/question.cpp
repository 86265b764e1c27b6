#include "question.hpp"
#include "table.hpp"

#include <charconv>
#include <iostream>

#include <unistd.h>

namespace statsync {
namespace {

/// answer: a line of the user's. A terminal that ends answers "q".
std::string answer(std::string const& question)
{
    std::cout << question << std::flush;
    std::string line;
    return std::getline(std::cin, line) ? line : "q";
}

/// place_from: the number from 1 to count that a text is, less 1.
std::optional<std::size_t> place_from(std::string const& text, std::size_t count)
{
    std::size_t number = 0;
    char const* const end = text.data() + text.size();
    std::from_chars_result const read = std::from_chars(text.data(), end, number);
    if (read.ec != std::errc() || read.ptr != end || number < 1 || number > count) {
        return std::nullopt;
    }
    return number - 1;
}

/// ask_choice returns false where the rest of the conflicts stay as they are.
bool ask_choice(
    field one, track_group const& group, provider_list const& providers, choice& settled)
{
    for (std::size_t place = 0; place < group.size(); ++place) {
        provider& player = *providers[group[place].provider];
        statistics const& values = player.tracks()[group[place].track].statistics;
        std::cout << "  " << place + 1 << "  " << value_line(player.name(), values, one) << '\n';
    }
    std::string const all = one == field::labels ? ", a for all of them" : "";
    for (;;) {
        std::string const text = answer(
            "Number of the " + std::string(name_of(one)) + " to take" + all +
            ", nothing to leave this one, q to leave the others, too: ");
        if (text.empty() || text == "q") {
            return text.empty();
        }
        if (text == "a" && one == field::labels) {
            for (member const& each : group) {
                settled.labels_from.push_back(each.provider);
            }
            return true;
        }
        if (std::optional<std::size_t> const place = place_from(text, group.size())) {
            std::size_t const provider = group[*place].provider;
            if (one == field::labels) {
                settled.labels_from.push_back(provider);
            } else {
                settled.rating_from = provider;
            }
            return true;
        }
    }
}

} // namespace

bool is_terminal()
{
    return ::isatty(STDIN_FILENO) != 0;
}

bool is_agreed(std::string const& question)
{
    std::string const text = answer(question);
    return text == "y" || text == "yes";
}

choice_map ask_choices(plan const& made, provider_list const& providers)
{
    choice_map choices;
    for (std::size_t i = 0; i < made.merged.size(); ++i) {
        track_group const& group = made.matches.groups[i];
        for (field one : list(made.merged[i].unsettled)) {
            std::cout << title_of(group, providers) << '\n';
            if (!ask_choice(one, group, providers, choices[i])) {
                return choices;
            }
        }
    }
    return choices;
}

} // namespace statsync
