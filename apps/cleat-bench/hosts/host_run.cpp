#include "hosts/host_lines.hpp"
#include "hosts/host_run.hpp"
#include "hosts/progress_json.hpp"
#include "result/result_json.hpp"
#include "text/lists.hpp"
#include "text/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace cleat::bench {
namespace {

// The best of so many answers: each takes a round trip, and one of them is rarely disturbed.
constexpr unsigned clock_questions = 10;
// Of what ssh and the host complained about, the last lines name the reason.
constexpr std::size_t complaint_lines_max = 3;
constexpr std::string_view program_name = "cleat-bench";

// A host's words on this machine's terminal and in its documents: it may have sent anything.
std::string printable(std::string_view words)
{
    std::string found{words};
    std::ranges::replace_if(
        found, [](char c) { return c < ' ' || c > '~'; }, '?');
    return found;
}

std::optional<unsigned> parse_hexadecimal(std::string_view text)
{
    unsigned value = 0;
    auto const [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    bool const is_whole = ec == std::errc{} && end == text.data() + text.size();
    return is_whole ? std::optional{value} : std::nullopt;
}

// A JSON text whose strings have no control characters: these would reach the terminal.
std::string without_controls(std::string_view text)
{
    constexpr std::string_view named = "bfnrt";
    constexpr std::size_t code_size = 6; // Of "\\u001b".
    std::string found;
    while (!text.empty()) {
        std::size_t size = 1;
        bool is_control = false;
        if (text.front() == '\\' && text.size() > 1) {
            bool const is_code = text[1] == 'u';
            auto const code =
                is_code ? parse_hexadecimal(text.substr(2, code_size - 2)) : std::nullopt;
            size = is_code ? std::min(code_size, text.size()) : 2;
            is_control = (code && (*code < 0x20 || (*code >= 0x7f && *code < 0xa0))) ||
                         named.find(text[1]) != std::string_view::npos;
        }
        found += is_control ? std::string_view{"?"} : text.substr(0, size);
        text.remove_prefix(size);
    }
    return found;
}

std::string reason_in(std::string_view text)
{
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        std::size_t const end = std::min(text.find('\n'), text.size());
        std::string_view const line = trimmed(text.substr(0, end));
        if (!line.empty())
            lines.push_back(line);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    std::string found;
    std::size_t const first =
        lines.size() > complaint_lines_max ? lines.size() - complaint_lines_max : 0;
    for (std::size_t i = first; i != lines.size(); ++i)
        found += fmt::format("{}{}", found.empty() ? "" : "; ", lines[i]);
    return printable(found);
}

std::int64_t in_ns(host_run::time_point t)
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count();
}

} // namespace

std::string host_run::take_line(std::string_view line, time_point now)
{
    // A login shell's own words may stand before the mark, without a line break between them.
    std::size_t const mark = line.find(host_mark);
    if (mark == std::string_view::npos || is_over())
        return {};
    line.remove_prefix(mark + host_mark.size());
    std::string_view const word = cut_word(line);
    try {
        if (word == "found" && stage_ == host_stage::connecting)
            return take_found(line);
        if (word == "put" && stage_ == host_stage::copying)
            return send_next();
        if (word == "copied" && stage_ == host_stage::copying) {
            if (line != plan_->version)
                throw std::runtime_error{fmt::format(
                    "the copy of this program says there that it is '{}'", printable(line))};
            stage_ = host_stage::preparing;
            return "run\n";
        }
        if (word == "ready" && stage_ == host_stage::preparing)
            return ask_clock(now);
        if (word == "clock" && stage_ == host_stage::preparing)
            return take_clock(line, now);
        if (word == "progress" && stage_ == host_stage::running)
            now_ = std::make_unique<progress>(progress_from(without_controls(line)));
        if (word == "document" && stage_ == host_stage::running) {
            result_ = from_json(without_controls(line), name_);
            stage_ = host_stage::done;
        }
    } catch (std::runtime_error const& e) {
        lose(e.what());
    }
    return {};
}

std::string host_run::take_found(std::string_view words)
{
    std::string_view const kernel = cut_word(words);
    std::string_view const processor = cut_word(words);
    version_ = printable(trimmed(words));
    copies_ = version_ != plan_->version;
    std::string const system = printable(fmt::format("{} {}", kernel, processor));
    if (copies_ && system != plan_->system) {
        lose(fmt::format(
            "it is a {} machine with {}, and the program here is for {}: install {} there", system,
            version_.empty() ? "no cleat-bench" : version_, plan_->system, plan_->version));
        return {};
    }
    stage_ = host_stage::copying;
    return send_next();
}

std::string host_run::send_next()
{
    auto const put = [](std::string_view name, std::string_view contents) {
        return fmt::format("put {} {}\n{}", name, contents.size(), contents);
    };
    std::size_t number = sent_++;
    if (copies_ && number == 0)
        return put(program_name, plan_->program);
    number -= copies_ ? 1 : 0;
    if (number < plan_->files.size())
        return put(plan_->files[number].name, plan_->files[number].contents);
    if (copies_)
        return "copied\n";
    stage_ = host_stage::preparing;
    return "run\n";
}

std::string host_run::ask_clock(time_point now)
{
    asked_ = now;
    return fmt::format("clock {}\n", ++clocks_asked_);
}

std::string host_run::take_clock(std::string_view words, time_point now)
{
    auto const number = parse_whole<unsigned>(cut_word(words));
    auto const host = parse_whole<std::int64_t>(words);
    if (!number || *number != clocks_asked_ || !host)
        throw std::runtime_error{"it does not tell the time"};
    clock_.add(
        asked_,
        time_point{
            std::chrono::duration_cast<time_point::duration>(std::chrono::nanoseconds{*host})},
        now);
    if (clocks_asked_ < clock_questions)
        return ask_clock(now);
    stage_ = host_stage::ready;
    return {};
}

std::string host_run::start(time_point begin)
{
    stage_ = host_stage::running;
    begin_ = begin;
    // Documents have microseconds.
    start_ = std::chrono::floor<std::chrono::microseconds>(
        begin + std::chrono::duration_cast<time_point::duration>(clock_.offset()));
    return fmt::format("start {}\n", in_ns(start_));
}

void host_run::take_end(std::string_view how, std::string_view complaints)
{
    if (is_over())
        return;
    std::string const why = reason_in(complaints);
    lose(why.empty() ? fmt::format("ssh {} without a word", how) : why);
}

void host_run::lose(std::string reason)
{
    if (is_over())
        return;
    reason_ = std::move(reason);
    stage_ = host_stage::lost;
}

std::chrono::nanoseconds host_run::late(std::chrono::nanoseconds warm_up) const
{
    return std::max<std::chrono::nanoseconds>(
        result_->started - start_ - warm_up, std::chrono::nanoseconds{0});
}

// The two names of the start are one moment, as exactly as the clock is known.
result host_run::take_result()
{
    result found = std::move(*result_);
    found.started = begin_ + (found.started - start_);
    return found;
}

} // namespace cleat::bench
