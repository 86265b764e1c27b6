#include "tickets/secret_text.hpp"

#include <cleat/core/limits.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace cleat::app {
namespace {

constexpr std::string_view new_one = "\"cleat ticket-secret new\" prints one.";
constexpr std::size_t base64_size = 43; // Without the "=" at the end.

int base64_digit(char c) noexcept
{
    constexpr std::string_view others = "+/";
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    std::size_t const found = others.find(c);
    return found == std::string_view::npos ? -1 : static_cast<int>(found) + 62;
}

std::string_view without_padding(std::string_view text) noexcept
{
    std::size_t const last = text.find_last_not_of('=');
    return last == std::string_view::npos || text.size() - last > 3 ? text
                                                                    : text.substr(0, last + 1);
}

class secret_reader
{
public:
    secret_list read(std::string_view text)
    {
        while (!text.empty()) {
            std::size_t const end = std::min(text.find('\n'), text.size());
            ++line_;
            std::string_view const line = stripped_line(text.substr(0, end));
            if (!line.empty() && line.front() != '#')
                add(line);
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        if (made_.secrets.empty() && made_.faults.empty())
            made_.faults.push_back({1, "there is no secret in the file", std::string{new_one}});
        return std::move(made_);
    }

private:
    void refuse(std::string text, std::string_view cure)
    {
        if (made_.faults.size() < limits::ticket_secrets_max) // Of a file of another kind.
            made_.faults.push_back({line_, std::move(text), std::string{cure}});
    }

    void add(std::string_view line)
    {
        std::shared_ptr<tls::ticket_secret> const secret = tls::empty_ticket_secret();
        std::string_view const base64 = without_padding(line);
        if (line.size() == hex_size && are_all(line, hex_digit))
            decode(line, hex_digit, 4, *secret);
        else if (base64.size() == base64_size && are_all(base64, base64_digit))
            decode(base64, base64_digit, 6, *secret);
        else if (is_ratchet_line(line))
            return refuse(
                "this is the state of a ratchet, which is not a secret",
                "Set ticket-ratchet = on, or write a secret there: \"cleat ticket-secret new\" "
                "prints one.");
        else
            return refuse_form(line, base64);
        for (std::size_t i = 0; i < made_.secrets.size(); ++i)
            if (tls::is_same_secret(*made_.secrets[i], *secret))
                return refuse(
                    fmt::format("this is the secret of line {} again", lines_[i]),
                    "Delete one of the lines.");
        if (made_.secrets.size() == limits::ticket_secrets_max)
            return refuse(
                fmt::format("there are more than {} secrets", limits::ticket_secrets_max),
                "Delete those at the end that no ticket is sealed with any more.");
        made_.secrets.push_back(secret);
        lines_.push_back(line_);
    }

    void refuse_form(std::string_view line, std::string_view base64)
    {
        constexpr std::size_t wanted = tls::ticket_secret{}.size();
        if (are_all(line, hex_digit))
            return refuse(
                fmt::format(
                    "a secret has {} hexadecimal digits, which are {} bytes: this has {}", hex_size,
                    wanted, line.size()),
                new_one);
        if (are_all(base64, base64_digit))
            return refuse(
                fmt::format(
                    "a secret in base64 has {} bytes: this has {}", wanted, base64.size() * 6 / 8),
                new_one);
        refuse("this is neither hexadecimal digits nor base64", new_one);
    }

    unsigned line_ = 0;
    secret_list made_;
    std::vector<unsigned> lines_; // Of the secrets.
};

} // namespace

secret_list read_ticket_secrets(std::string_view text)
{
    return secret_reader{}.read(text);
}

std::string hex_text(tls::ticket_secret const& secret)
{
    std::string text;
    text.reserve(hex_size + 1);
    append_hex(text, secret);
    return text += '\n';
}

} // namespace cleat::app
