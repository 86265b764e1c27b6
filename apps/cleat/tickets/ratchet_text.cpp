#include "system/whole_number.hpp"
#include "tickets/ratchet_text.hpp"
#include "tickets/secret_text.hpp"

#include <cleat/core/limits.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>

namespace cleat::app {

// The present epoch of a host whose clock is an epoch behind, and the lifetime before it.
std::int64_t const new_ratchet_epochs_back = limits::ticket_epochs_max + 2;

namespace {

constexpr std::string_view blanks = " \t";
constexpr std::string_view new_ratchet = "\"cleat ticket-secret new --ratchet\" prints one.";

// An epoch of 60 seconds in the year 30,000.
constexpr std::int64_t epoch_max = 15'000'000'000;

// The words of a line: no more than five, so that one too many is seen.
struct line_words
{
    std::array<std::string_view, 5> words;
    std::size_t count = 0;
};

line_words first_words(std::string_view line) noexcept
{
    line_words found;
    while (found.count < found.words.size()) {
        line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
        if (line.empty())
            break;
        std::string_view const each = line.substr(0, line.find_first_of(blanks));
        found.words[found.count++] = each;
        line.remove_prefix(each.size());
    }
    return found;
}

std::optional<std::int64_t> bounded_number(std::string_view text) noexcept
{
    std::optional<std::int64_t> const number = whole_number<std::int64_t>(text);
    return number >= 0 && number <= epoch_max ? number : std::nullopt;
}

struct parsed_line
{
    std::int64_t seconds = 0;
    tls::ticket_ratchet state;
};

std::optional<parsed_line> parse(std::string_view line)
{
    auto const [words, count] = first_words(line);
    if (count != 4 || words[0] != ratchet_word)
        return {};
    std::optional<std::int64_t> const seconds = bounded_number(words[1]);
    std::optional<std::int64_t> const epoch = bounded_number(words[2]);
    if (!seconds || !epoch || words[3].size() != hex_size || !are_all(words[3], hex_digit))
        return {};
    std::shared_ptr<tls::ticket_secret> const chain = tls::empty_ticket_secret();
    decode(words[3], hex_digit, 4, *chain);
    return parsed_line{*seconds, tls::ticket_ratchet{*epoch, *chain}};
}

// Calls use(line, number) with each line, its end included.
template <class Use>
void for_each_line(std::string_view text, Use use)
{
    for (unsigned number = 1; !text.empty(); ++number) {
        std::size_t const size = std::min(text.find('\n'), text.size() - 1) + 1;
        use(text.substr(0, size), number);
        text.remove_prefix(size);
    }
}

std::string_view without_end(std::string_view line) noexcept
{
    return line.ends_with('\n') ? line.substr(0, line.size() - 1) : line;
}

// The same chain key with another number is a mistake in the number.
bool is_repeated(tls::ticket_ratchet const& one, tls::ticket_ratchet const& other) noexcept
{
    return tls::is_same_secret(one.chain(), other.chain()) || one.is_same(other);
}

class ratchet_reader
{
public:
    explicit ratchet_reader(std::chrono::seconds rotation) : rotation_{rotation} {}

    ratchet_list read(std::string_view text)
    {
        for_each_line(text, [this](std::string_view whole, unsigned number) {
            std::string_view const line = stripped_line(without_end(whole));
            if (!line.empty() && line.front() != '#')
                add(line, number);
        });
        if (made_.ratchets.empty() && made_.faults.empty())
            refuse(1, "there is no state of a ratchet in the file", new_ratchet);
        return std::move(made_);
    }

private:
    void refuse(unsigned line, std::string text, std::string_view cure)
    {
        if (made_.faults.size() < limits::ticket_secrets_max) // Of a file of another kind.
            made_.faults.push_back({line, std::move(text), std::string{cure}});
    }

    void add(std::string_view line, unsigned number)
    {
        std::optional<parsed_line> const found = parse(line);
        if (!found)
            return refuse_form(line, number);
        if (found->seconds != rotation_.count())
            return refuse(
                number,
                fmt::format(
                    "this state is for epochs of {} seconds, and ticket-epoch is {}",
                    found->seconds, rotation_.count()),
                fmt::format(
                    "Set ticket-epoch = {}, or make a state with \"cleat ticket-secret new "
                    "--ratchet={}\".",
                    found->seconds, rotation_.count()));
        for (std::size_t i = 0; i < made_.ratchets.size(); ++i)
            if (is_repeated(*made_.ratchets[i], found->state))
                return refuse(
                    number, fmt::format("this is the state of line {} again", made_.lines[i]),
                    "Delete one of the lines.");
        if (made_.ratchets.size() == limits::ticket_secrets_max)
            return refuse(
                number, fmt::format("there are more than {} states", limits::ticket_secrets_max),
                "Delete those at the end that no ticket is sealed with any more.");
        made_.ratchets.push_back(std::make_shared<tls::ticket_ratchet>(found->state));
        made_.lines.push_back(number);
    }

    void refuse_form(std::string_view line, unsigned number)
    {
        if (is_ratchet_line(line))
            return refuse(
                number,
                "the state of a ratchet is the word ratchet, the seconds of an epoch, the number "
                "of an epoch, and 64 hexadecimal digits",
                new_ratchet);
        if (read_ticket_secrets(line).faults.empty())
            return refuse(
                number, "this secret has no epoch, which ticket-ratchet needs",
                "Write the state of a ratchet there: \"cleat ticket-secret new --ratchet\" prints "
                "one.");
        refuse(number, "this is not the state of a ratchet", new_ratchet);
    }

    std::chrono::seconds rotation_;
    ratchet_list made_;
};

void append_line(std::string& text, tls::ticket_ratchet const& state, std::chrono::seconds rotation)
{
    fmt::format_to(
        std::back_inserter(text), "{} {} {} ", ratchet_word, rotation.count(), state.epoch());
    append_hex(text, state.chain());
    text += '\n';
}

// Longer than a line with the longest numbers.
constexpr std::size_t line_size_max = 128;

} // namespace

ratchet_list read_ticket_ratchets(std::string_view text, std::chrono::seconds rotation)
{
    return ratchet_reader{rotation}.read(text);
}

tls::secret_text ratchet_text(tls::ticket_ratchet const& state, std::chrono::seconds rotation)
{
    std::string text;
    text.reserve(line_size_max); // It never moves, which would leave a copy.
    append_line(text, state, rotation);
    return tls::secret_text{std::move(text)};
}

std::optional<secret_fault> move_on(tls::ticket_ratchet& state, std::int64_t epoch, unsigned line)
{
    if (!state.can_advance(epoch))
        return secret_fault{
            line,
            fmt::format(
                "this state is {} epochs old, more than the {} that a ratchet moves on",
                epoch - state.epoch(), limits::ticket_ratchet_steps_max),
            "Set the clock, copy the file of a machine that serves, or make a state with "
            "\"cleat ticket-secret new --ratchet\"."};
    if (!state.advance(epoch))
        return secret_fault{
            line, "the TLS library cannot derive the next epoch of this state",
            "See whether there is memory."};
    return {};
}

advanced_ratchets advance_ratchets(
    std::string_view text, std::chrono::seconds rotation, std::int64_t epoch)
{
    std::string made;
    made.reserve(text.size() + line_size_max * (limits::ticket_secrets_max + 1));
    bool is_changed = false;
    advanced_ratchets result;
    for_each_line(text, [&](std::string_view whole, unsigned number) {
        std::optional<parsed_line> found = parse(stripped_line(without_end(whole)));
        if (!found || found->seconds != rotation.count() || found->state.epoch() >= epoch) {
            made.append(whole);
        } else if (std::optional<secret_fault> fault = move_on(found->state, epoch, number)) {
            made.append(whole);
            if (!result.fault)
                result.fault = std::move(fault);
        } else {
            is_changed = true;
            append_line(made, found->state, rotation);
        }
    });
    tls::secret_text wiped{std::move(made)};
    if (is_changed)
        result.text = std::move(wiped);
    return result;
}

} // namespace cleat::app
