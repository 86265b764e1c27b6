// key_row: what the table says about one key, and a value on its way into a setting.

#pragma once

#include "config/config.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::app {

struct key_row;

/// given is a value as it was written, on its way into a setting.
struct given
{
    key_row const& row;
    std::string_view key;  ///< As it was typed: "write-proxy", "--workers" or "-n".
    std::string_view text; ///< Without its quotes; the words of a list have one blank between them.
    location const& place;
    dialect compat = dialect::hitch;
};

/// refusal is empty when a value was taken.
using refusal = std::optional<bad_value>;

/// value_kind is what a value looks like. It decides how the value is quoted and what the help
/// shows.
enum class value_kind
{
    boolean, ///< on, yes, y, true, t, 1; off, no, n, false, f, 0. A flag alone means on.
    number,  ///< A whole number, with the row's lowest and highest.
    word,    ///< One of a few names, or "auto" or a number.
    text,    ///< Anything else: a path, an address, a list with separators of its own.
    words,   ///< Several words without quotes, as `tls-protos` has it.
};

/// key_status is the effect of a key that is set. A key without effect still takes effect in a
/// scope for which its row has a setter.
enum class key_status
{
    supported, ///< It takes effect.
    no_effect, ///< A warning: it is for a part that cleat does not have.
};

/// key_group is the heading under which the help and the reference show a key.
enum class key_group
{
    addresses,
    certificates,
    tls,
    upstream_facts,
    load,
    process,
    admin,
    log
};

/// places is where a key may stand.
struct places
{
    bool global = false;
    bool frontend = false; ///< In `frontend = { }`.
    bool pem_file = false; ///< In `pem-file = { }`.
    bool upstream = false; ///< In `upstream = { }`.
    bool server = false;   ///< In `server = { }`, which is in an upstream block.
    bool route = false;    ///< In `route = { }`, which is in a frontend block.
    bool allow = false;    ///< In `client-allow = { }`.
    bool flag = false;     ///< On the command line.
};

/// key_row is one key. set_global, set_frontend and so on store a value in that scope.
struct key_row
{
    std::string_view name;
    key_group group;
    places where;
    value_kind kind;
    std::string_view value{}; ///< The value as the help spells it: "SECS".
    /// Words that the value may be, with blanks between them, where `value` does not list them. The
    /// shells offer them.
    std::string_view names{};
    std::string_view default_text{}; ///< Only where show() cannot say it: "none".
    std::string_view help{};         ///< One sentence or two.
    std::string_view note{};         ///< How this differs from hitch and stud. May be empty.
    std::string_view short_flag{};   ///< "-n"; may be empty.
    std::string_view
        other_names{}; ///< Long flags, and keys, that mean the same; separated by commas.
    std::int64_t lowest = 0;
    std::int64_t highest = 0;
    bool repeatable = false; ///< Each value adds to those before it.
    bool block = false;      ///< `key = { ... }` is a value too.
    key_status status = key_status::supported;
    std::string_view cure{}; ///< Unless supported: a sentence that says what to do instead.
    /// Where not empty, the key has no effect in a frontend block: a sentence as in `cure`.
    std::string_view frontend_cure{};

    /// A warning for a value that takes only a part of its effect. Null: every value takes all of
    /// it.
    refusal (*remark)(given const&) = nullptr;

    refusal (*set_global)(config&, given const&) = nullptr;
    refusal (*set_frontend)(frontend_config&, given const&) = nullptr;
    refusal (*set_pem_file)(pem_file&, given const&) = nullptr;
    refusal (*set_upstream)(upstream_config&, given const&) = nullptr;
    refusal (*set_server)(upstream_server&, given const&) = nullptr;
    refusal (*set_route)(route_config&, given const&) = nullptr;
    refusal (*set_allow)(allow_config&, given const&) = nullptr;
    std::string (*show)(config const&) = nullptr; ///< The value in `c`, as a file would have it.
};

} // namespace cleat::app
