#include "config/lexer.hpp"
#include "config/parser.hpp"
#include "config/route_settings.hpp"
#include "config/table.hpp"

#include <cleat/core/limits.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <system_error>
#include <type_traits>
#include <utility>

namespace cleat::app {
namespace {

// A scope is where a setting stands: the top of the file, or a block. Scopes differ in their names,
// in the keys that they allow, and in the keys that they need.
bool is_allowed(config const&, key_row const& row)
{
    return row.where.global;
}
bool is_allowed(frontend_config const&, key_row const& row)
{
    return row.where.frontend;
}
bool is_allowed(pem_file const&, key_row const& row)
{
    return row.where.pem_file;
}
bool is_allowed(upstream_config const&, key_row const& row)
{
    return row.where.upstream;
}
bool is_allowed(upstream_server const&, key_row const& row)
{
    return row.where.server;
}
bool is_allowed(route_config const&, key_row const& row)
{
    return row.where.route;
}

bool is_allowed(allow_config const&, key_row const& row)
{
    return row.where.allow;
}
bool is_allowed(allow_list const&, key_row const& row)
{
    return row.name == "client-allow";
}

constexpr std::string_view scope_name(config const&)
{
    return "at the top of the file";
}
constexpr std::string_view scope_name(frontend_config const&)
{
    return "in a frontend block";
}
constexpr std::string_view scope_name(pem_file const&)
{
    return "in a pem-file block";
}
constexpr std::string_view scope_name(upstream_config const&)
{
    return "in an upstream block";
}
constexpr std::string_view scope_name(upstream_server const&)
{
    return "in a server block";
}
constexpr std::string_view scope_name(route_config const&)
{
    return "in a route block";
}

constexpr std::string_view scope_name(allow_config const&)
{
    return "in a client-allow or client-certificate block";
}
constexpr std::string_view scope_name(allow_list const&)
{
    return "in a client-allow-file";
}

// Where a key may stand, for the cure of one that stands elsewhere.
std::string places_of(key_row const& row)
{
    std::vector<std::string_view> found;
    if (row.where.global)
        found.emplace_back("at the top of the file");
    if (row.where.frontend)
        found.emplace_back("in a frontend block");
    if (row.where.pem_file)
        found.emplace_back("in a pem-file block");
    if (row.where.upstream)
        found.emplace_back("in an upstream block");
    if (row.where.server)
        found.emplace_back("in a server block");
    if (row.where.route)
        found.emplace_back("in a route block");
    if (row.where.allow)
        found.emplace_back("in a client-allow block");
    if (found.empty())
        return fmt::format("Use the flag --{}: it stands on the command line only.", row.name);
    return fmt::format("It stands {}.", fmt::join(found, " or "));
}

using seen_keys = std::map<key_row const*, location>;

// The tokens that are still to be read.
class token_reader
{
public:
    explicit token_reader(std::span<token const> tokens) : rest_(tokens) {}

    token const& next() const { return rest_.front(); }
    token const& after_next() const { return rest_[std::min<std::size_t>(1, rest_.size() - 1)]; }

    // The token of kind end stays, so there always is a next one.
    token const& take()
    {
        token const& taken = rest_.front();
        if (taken.what != token::kind::end)
            rest_ = rest_.subspan(1);
        return taken;
    }

    bool is_at(token::kind what) const { return next().what == what; }

    bool is_at_key() const
    {
        return is_at(token::kind::word) && after_next().what == token::kind::equals;
    }

    bool is_at_end_of_block() const { return is_at(token::kind::end) || is_at(token::kind::close); }

    // After a mistake: to where the next setting begins or the block ends, over any block in
    // between.
    void skip_to_next_setting()
    {
        while (!is_at_end_of_block() && !is_at_key())
            skip_one();
    }

    void skip_rest_of_block()
    {
        while (!is_at_end_of_block())
            skip_one();
        take();
    }

    void skip_value()
    {
        if (is_at(token::kind::open))
            skip_block();
        skip_to_next_setting();
    }

private:
    void skip_one()
    {
        if (is_at(token::kind::open))
            skip_block();
        else
            take();
    }

    void skip_block()
    {
        std::size_t depth = 0; // a number, not a recursion: the file decides how deep it goes
        do {
            if (is_at(token::kind::open))
                ++depth;
            if (is_at(token::kind::close))
                --depth;
            if (take().what == token::kind::end)
                return;
        } while (depth != 0);
    }

    std::span<token const> rest_;
};

// Keys that each choose the versions of TLS: which of them the operator means is not plain.
void refuse_both(
    seen_keys const& seen, std::string_view one, std::string_view other,
    std::vector<problem>& problems)
{
    auto first = seen.find(find_key(one));
    auto second = seen.find(find_key(other));
    if (first == seen.end() || second == seen.end())
        return;
    auto const place = [](location const& l) { return std::pair{l.line, l.column}; };
    if (place(second->second) < place(first->second))
        std::swap(first, second);
    problems.push_back(
        {problem::severity::error, second->second, std::string{second->first->name},
         fmt::format(
             "{} excludes {}, which line {} sets", second->first->name, first->first->name,
             first->second.line),
         "Choose the versions of TLS with tls-protos alone."});
}

void refuse_version_keys(seen_keys const& seen, std::vector<problem>& problems)
{
    refuse_both(seen, "tls", "tls-protos", problems);
    refuse_both(seen, "ssl", "tls-protos", problems);
}

std::string quoted(token const& t)
{
    if (t.what == token::kind::end)
        return t.text;
    return fmt::format("\"{}\"", t.text);
}

std::string example_of(key_row const& row)
{
    switch (row.kind) {
    case value_kind::boolean:
        return "on";
    case value_kind::words:
        return std::string{row.names.substr(0, row.names.find(' '))};
    case value_kind::text:
        return fmt::format("\"{}\"", row.value);
    case value_kind::number:
    case value_kind::word:
        break;
    }
    return std::string{row.value};
}

std::string usage_of(std::string_view key)
{
    key_row const* const row = find_key(key);
    return fmt::format("Write {} = {}.", key, row ? example_of(*row) : "value");
}

class parser
{
public:
    parser(
        std::span<token const> tokens, std::string_view name, dialect compat,
        std::vector<problem>& problems)
        : tokens_(tokens)
        , name_(name)
        , compat_(compat)
        , problems_(problems)
        , problems_at_start_(problems.size())
    {
    }

    void file(config& settings)
    {
        refuse_version_keys(whole(settings), problems_); // stud's sample file has tls and ssl.
    }

    template <class Scope>
    seen_keys whole(Scope& settings)
    {
        seen_keys seen;
        while (!tokens_.is_at(token::kind::end) && !has_given_up_) {
            if (tokens_.is_at(token::kind::close)) {
                complain(
                    tokens_.next(), {}, "a } closes nothing",
                    "Remove it, or look for the { that is missing.");
                tokens_.take();
                continue;
            }
            setting_in(settings, seen);
        }
        return seen;
    }

private:
    location place_of(token const& t) const { return {std::string{name_}, t.line, t.column}; }

    void complain(token const& where, std::string_view key, std::string text, std::string cure)
    {
        if (has_given_up_)
            return;
        problems_.push_back(
            {problem::severity::error, place_of(where), std::string{key}, std::move(text),
             std::move(cure)});
        if (problems_.size() - problems_at_start_ < config_problems_max)
            return;
        has_given_up_ = true;
        problems_.push_back(
            {problem::severity::error,
             place_of(where),
             {},
             fmt::format(
                 "this is error {}, the rest of the file was not read", config_problems_max),
             "Is it the right file?"});
    }

    template <class Scope>
    void setting_in(Scope& scope, seen_keys& seen)
    {
        token const& key = tokens_.take();
        if (key.what != token::kind::word) {
            complain(
                key, {}, fmt::format("a key was expected, not {}", quoted(key)),
                "Write key = value.");
            if (key.what == token::kind::open) // its contents belong to no key
                tokens_.skip_rest_of_block();
            return tokens_.skip_to_next_setting();
        }
        if (!tokens_.is_at(token::kind::equals)) {
            complain(
                tokens_.next(), key.text,
                fmt::format("= was expected, not {}", quoted(tokens_.next())), usage_of(key.text));
            return tokens_.skip_to_next_setting();
        }
        tokens_.take();

        key_row const* const row = known_row(scope, key);
        if (!row)
            return tokens_.skip_value();
        warn_if_seen(*row, key, seen);
        if (tokens_.is_at(token::kind::open))
            return block_in(scope, *row, key);
        value_in(scope, *row, key);
    }

    template <class Scope>
    key_row const* known_row(Scope const& scope, token const& key)
    {
        key_row const* const row = find_key(key.text);
        if (row && is_allowed(scope, *row))
            return row;
        if (row) {
            complain(
                key, key.text, fmt::format("this key does not stand {}", scope_name(scope)),
                places_of(*row));
            return nullptr;
        }
        std::vector<std::string_view> names;
        for (key_row const& each : config_table())
            if (is_allowed(scope, each))
                names.push_back(each.name);
        std::string_view const meant = nearest(key.text, names);
        complain(
            key, key.text, "there is no such key",
            meant.empty() ? "cleat --reference lists all keys."
                          : fmt::format("Did you mean {}?", meant));
        return nullptr;
    }

    void warn_if_seen(key_row const& row, token const& key, seen_keys& seen)
    {
        auto const [before, is_new] = seen.emplace(&row, place_of(key));
        if (is_new || row.repeatable)
            return;
        problems_.push_back(
            {problem::severity::warning, place_of(key), key.text,
             fmt::format(
                 "this was set before, in line {}; the last one holds", before->second.line),
             "Remove one of them."});
        before->second = place_of(key);
    }

    template <class Scope>
    void value_in(Scope& scope, key_row const& row, token const& key)
    {
        // "daemon =" and then "user = x" on the next line: the value is missing, and is not "user".
        bool const is_missing =
            tokens_.is_at_key() && tokens_.after_next().line == tokens_.next().line;
        if (is_missing ||
            (!tokens_.is_at(token::kind::word) && !tokens_.is_at(token::kind::string))) {
            complain(
                tokens_.next(), key.text,
                fmt::format("a value was expected, not {}", quoted(tokens_.next())),
                usage_of(key.text));
            return tokens_.skip_to_next_setting();
        }
        token const& first = tokens_.take();
        std::string text = first.text;
        while (row.kind == value_kind::words && tokens_.is_at(token::kind::word) &&
               !tokens_.is_at_key())
            text += " " + tokens_.take().text;
        // A word on the next line belongs to another setting.
        bool const is_text = tokens_.is_at(token::kind::word) || tokens_.is_at(token::kind::string);
        if (is_text && !tokens_.is_at_key() && tokens_.next().line == first.line) {
            complain(
                tokens_.next(), key.text,
                fmt::format("this takes one value, and {} follows it", quoted(tokens_.next())),
                tokens_.after_next().what == token::kind::open
                    ? fmt::format("A block needs an =: write {} = {{.", tokens_.next().text)
                    : "Put a value with blanks in double quotes.");
            return tokens_.skip_to_next_setting();
        }
        apply(scope, {row, key.text, text, place_of(first), compat_}, problems_);
    }

    template <class Scope>
    void block_in(Scope& scope, key_row const& row, token const& key)
    {
        // Only these keys have blocks, and only the table says where they may stand.
        if constexpr (requires { scope.frontends; })
            if (row.block && row.name == "frontend")
                return add_frontend(scope.frontends, key);
        if constexpr (requires { scope.pem_files; })
            if (row.block && row.name == "pem-file")
                return add_block(scope.pem_files, key, {{"cert", "cert = \"site.pem\""}});
        if constexpr (requires { scope.upstreams; })
            if (row.block && row.name == "upstream")
                return add_block(
                    scope.upstreams, key,
                    {{"name", "name = \"app\""}, {"server", "server = \"[10.0.0.1]:8080\""}});
        if constexpr (requires { scope.servers; })
            if (row.block && row.name == "server")
                return add_block(
                    scope.servers, key, {{"address", "address = \"[10.0.0.1]:8080\""}});
        if constexpr (requires { scope.routes; })
            if (row.name == "route")
                return add_block(scope.routes, key, {{"upstream", "upstream = \"app\""}});
        if constexpr (std::is_same_v<Scope, route_config>)
            if (row.name == "pem-file" || row.name == "client-allow")
                return block_in(settings_of(scope).own, row, key);
        if constexpr (requires { scope.certificate_rules; })
            if (row.name == "client-allow" || row.name == "client-certificate")
                return add_block(scope.certificate_rules, key, {});
        complain(tokens_.next(), key.text, "this takes a value, not a block", usage_of(key.text));
        tokens_.skip_value();
    }

    void add_frontend(std::vector<frontend_config>& frontends, token const& key)
    {
        frontend_config made;
        made.location = place_of(key);
        seen_keys const seen = block(made, key);
        refuse_version_keys(seen, problems_);
        refuse_both(seen, "tls", "ssl", problems_);
        frontends.push_back(std::move(made));
    }

    // `needed` has the keys that the block must have, and an example of each.
    template <class Block>
    void add_block(
        std::vector<Block>& blocks, token const& key,
        std::initializer_list<std::pair<std::string_view, std::string_view>> needed)
    {
        Block made;
        made.location = place_of(key);
        seen_keys const seen = block(made, key);
        for (auto const& [name, example] : needed)
            require(seen, name, key, example);
        blocks.push_back(std::move(made));
    }

    template <class Scope>
    seen_keys block(Scope& scope, token const& key)
    {
        seen_keys seen;
        tokens_.take(); // {
        while (!tokens_.is_at(token::kind::close) && !has_given_up_) {
            if (tokens_.is_at(token::kind::end)) {
                complain(
                    tokens_.next(), key.text,
                    fmt::format("the block that began in line {} has no end", key.line),
                    "Close it with }.");
                return seen;
            }
            setting_in(scope, seen);
        }
        tokens_.take(); // }
        return seen;
    }

    void require(
        seen_keys const& seen, std::string_view name, token const& block, std::string_view example)
    {
        if (!seen.contains(find_key(name)))
            complain(
                block, block.text, fmt::format("the block has no {}", name),
                fmt::format("Add {}.", example));
    }

    token_reader tokens_;
    std::string_view name_;
    dialect compat_;
    std::vector<problem>& problems_;
    std::size_t problems_at_start_;
    bool has_given_up_ = false;
};

// The whole of a file, or the reason why not. A file longer than any configuration is refused.
std::optional<std::string> contents(std::FILE* file, std::string& reason)
{
    constexpr std::size_t bytes_max = limits::config_lines_max * 256;
    std::string text;
    char block[16 * 1024];
    while (std::size_t const got = std::fread(block, 1, sizeof block, file)) {
        text.append(block, got);
        if (text.size() > bytes_max) {
            reason = fmt::format("it has more than {} bytes", bytes_max);
            return {};
        }
    }
    if (std::ferror(file)) {
        reason = std::generic_category().message(errno);
        return {};
    }
    return text;
}

struct close_file
{
    void operator()(std::FILE* file) const noexcept { static_cast<void>(std::fclose(file)); }
};
using owned_file = std::unique_ptr<std::FILE, close_file>;

// Null, and the reason why.
owned_file open_file(std::string const& path, file_opener const& opener, std::string& reason)
{
    file_opening other;
    if (opener)
        other = opener(path);
    owned_file opened{opener ? ::fdopen(other.fd.get(), "rb") : std::fopen(path.c_str(), "rbe")};
    if (opened)
        static_cast<void>(other.fd.release()); // The stream closes it.
    else
        reason = opener && !other.fd ? to_string(other) : std::generic_category().message(errno);
    return opened;
}

} // namespace

void parse_config(
    std::string_view text, std::string_view name, dialect compat, config& settings,
    std::vector<problem>& problems)
{
    std::size_t const first = problems.size();
    std::vector<token> const tokens = lex(text, name, problems);
    parser{tokens, name, compat, problems}.file(settings);
    std::ranges::stable_sort(
        problems.begin() + static_cast<std::ptrdiff_t>(first), problems.end(), {},
        [](problem const& p) {
            return std::pair{p.where.line, p.where.column};
        });
}

void parse_allow_list(
    std::string_view text, std::string_view name, allow_list& list, std::vector<problem>& problems)
{
    std::size_t const first = problems.size();
    std::vector<token> const tokens = lex(text, name, problems);
    static_cast<void>(parser{tokens, name, dialect::hitch, problems}.whole(list));
    std::ranges::stable_sort(
        problems.begin() + static_cast<std::ptrdiff_t>(first), problems.end(), {},
        [](problem const& p) {
            return std::pair{p.where.line, p.where.column};
        });
}

void read_config_file(
    std::string const& path, dialect compat, config& settings, std::vector<problem>& problems,
    file_opener const& opener)
{
    bool const is_stdin = path == "-";
    std::string const name = is_stdin ? "stdin" : path;
    auto const refuse = [&](std::string const& reason) {
        problems.push_back(
            {problem::severity::error,
             {"--config"},
             "config",
             fmt::format("cannot read {}: {}", name, reason),
             "Check the path and its permissions."});
    };

    std::string reason;
    owned_file const opened = is_stdin ? nullptr : open_file(path, opener, reason);
    if (!is_stdin && !opened)
        return refuse(reason);
    std::optional<std::string> text = contents(is_stdin ? stdin : opened.get(), reason);
    if (!text)
        return refuse(reason);
    settings.file = path;
    settings.text = std::make_shared<std::string const>(*std::move(text));
    parse_config(*settings.text, name, compat, settings, problems);
}

} // namespace cleat::app
