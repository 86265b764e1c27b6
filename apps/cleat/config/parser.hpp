// Configuration files, in hitch.conf's language. Every mistake of a file is reported, each with its
// line and column, what was expected, and what to write instead.
//
// The grammar, in which line ends count for nothing:
//
//     file    = { setting }
//     setting = key "=" ( word | string | "{" { setting } "}" )
//     key     = word
//
// A word is letters, digits and the characters - _ . / : * + @ % , [ ] and a string stands between
// double quotes. hitch's words are letters, digits and "-" only, so all of its files read the same
// here.

#pragma once

#include "config/config.hpp"

#include <cleat/core/file_opener.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace cleat::app {

/// parse_config reads a file's text into `settings`, on top of the values there, and appends every
/// mistake to `problems`. `name` is the file's name in messages. A setting with an error leaves the
/// value before it. It ends early, with an error, when the text is longer than limits.hpp allows,
/// or has too many errors.
void parse_config(
    std::string_view text, std::string_view name, dialect compat, config& settings,
    std::vector<problem>& problems);

/// parse_allow_list is the same for the text of a client-allow-file.
void parse_allow_list(
    std::string_view text, std::string_view name, allow_list& list, std::vector<problem>& problems);

/// read_config_file reads the file at `path`, or standard input where it is "-", and parses it. The
/// opener opens the file, where there is one.
void read_config_file(
    std::string const& path, dialect compat, config& settings, std::vector<problem>& problems,
    file_opener const& opener = {});

} // namespace cleat::app
