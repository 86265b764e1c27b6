#include "config/lexer.hpp"

#include <cleat/core/limits.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace cleat::app {
namespace {

bool is_word_byte(char c)
{
    bool const is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    bool const is_digit = c >= '0' && c <= '9';
    return is_letter || is_digit ||
           std::string_view{"-_./:*+@%,[]"}.find(c) != std::string_view::npos;
}

// The bytes of one line and where we are in it.
class line_lexer
{
public:
    line_lexer(
        std::string_view line, unsigned number, std::string_view name, std::vector<token>& tokens,
        std::vector<problem>& problems)
        : line_(line), number_(number), name_(name), tokens_(tokens), problems_(problems)
    {
    }

    void run()
    {
        while (at_ < line_.size()) {
            char const c = line_[at_];
            if (c == '#')
                return;
            if (c == '"')
                string();
            else if (is_word_byte(c))
                word();
            else if (c == '=')
                mark(token::kind::equals);
            else if (c == '{')
                mark(token::kind::open);
            else if (c == '}')
                mark(token::kind::close);
            else
                other(c);
        }
    }

private:
    void add(token::kind what, std::string text, std::size_t start)
    {
        tokens_.push_back({what, std::move(text), number_, static_cast<unsigned>(start + 1)});
    }

    void mark(token::kind what)
    {
        add(what, std::string(1, line_[at_]), at_);
        ++at_;
    }

    void word()
    {
        std::size_t const start = at_;
        while (at_ < line_.size() && is_word_byte(line_[at_]))
            ++at_;
        // hitch skips commas; so a word does not end with one, and a comma alone is nothing.
        std::string_view text = line_.substr(start, at_ - start);
        text = text.substr(0, text.find_last_not_of(',') + 1);
        if (!text.empty())
            add(token::kind::word, std::string{text}, start);
    }

    void string()
    {
        std::size_t const start = at_++;
        std::string text;
        while (at_ < line_.size() && line_[at_] != '"') {
            // As in hitch, a backslash keeps its follower from ending the text; only before a quote
            // does it vanish.
            if (line_[at_] == '\\' && at_ + 1 < line_.size()) {
                if (line_[at_ + 1] != '"')
                    text += '\\';
                ++at_;
            }
            if (static_cast<unsigned char>(line_[at_]) < ' ' && line_[at_] != '\t')
                complain(at_, "there is a control character in a text", "Remove it.");
            text += line_[at_++];
        }
        if (at_ == line_.size())
            complain(
                start, "the closing quote is missing", "End the text with \" on its own line.");
        else
            ++at_;
        add(token::kind::string, std::move(text), start);
    }

    void other(char c)
    {
        std::size_t const start = at_++;
        if (c == ' ' || c == '\t' || c == '\r' || c == ';')
            return;
        if (c == '\'') {
            // To its partner, so that one mistake is reported once.
            std::size_t const partner = std::min(line_.find('\'', at_), line_.size());
            add(token::kind::string, std::string{line_.substr(at_, partner - at_)}, start);
            at_ = std::min(partner + 1, line_.size());
            complain(start, "single quotes mean nothing here", "Use double quotes.");
            return;
        }
        auto const byte = static_cast<unsigned char>(c);
        std::string const shown =
            byte > ' ' && byte < 0x7f ? fmt::format("'{}'", c) : fmt::format("byte 0x{:02x}", byte);
        while (at_ < line_.size() && line_[at_] == c)
            ++at_;
        complain(
            start, fmt::format("{} means nothing here", shown),
            "Put a text with such characters in double quotes.");
    }

    void complain(std::size_t position, std::string text, std::string cure)
    {
        problems_.push_back(
            {problem::severity::error,
             {std::string{name_}, number_, static_cast<unsigned>(position + 1)},
             {},
             std::move(text),
             std::move(cure)});
    }

    std::string_view line_;
    unsigned number_;
    std::string_view name_;
    std::vector<token>& tokens_;
    std::vector<problem>& problems_;
    std::size_t at_ = 0;
};

} // namespace

std::vector<token> lex(std::string_view text, std::string_view name, std::vector<problem>& problems)
{
    std::size_t const known = problems.size();
    std::vector<token> tokens;
    unsigned number = 0;
    unsigned column = 1;
    auto const complain = [&](std::string what, std::string cure) {
        problems.push_back(
            {problem::severity::error,
             {std::string{name}, number, 1},
             {},
             std::move(what),
             std::move(cure)});
    };

    if (text.starts_with("\xef\xbb\xbf")) // what some editors put first
        text.remove_prefix(3);
    while (!text.empty()) {
        ++number;
        std::size_t const end = std::min(text.find('\n'), text.size());
        std::string_view const line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        column = static_cast<unsigned>(std::min(end, limits::config_line_max) + 1);
        if (number > limits::config_lines_max) {
            complain(
                fmt::format("the file has more than {} lines", limits::config_lines_max),
                "Is it the right file?");
            break;
        }
        if (line.size() > limits::config_line_max) {
            complain(
                fmt::format("the line has more than {} bytes", limits::config_line_max),
                "Is it the right file?");
            break;
        }
        line_lexer{line, number, name, tokens, problems}.run();
        if (problems.size() - known >= config_problems_max) { // A program, or an image.
            problems.push_back(
                {problem::severity::error,
                 {std::string{name}, number, column},
                 {},
                 fmt::format(
                     "{} errors up to here, the rest of the file was not read",
                     problems.size() - known),
                 "Is it the right file?"});
            break;
        }
    }
    tokens.push_back({token::kind::end, "the end of the file", std::max(number, 1U), column});
    return tokens;
}

} // namespace cleat::app
