// start_flags: the words of a command that takes the flags and files of a start.

#pragma once

#include "config/config.hpp"

#include <cleat/core/file_opener.hpp>

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::app {

/// own_flag is a flag that is no key of the configuration.
struct own_flag
{
    enum class kind
    {
        value,   ///< A text comes behind it.
        flag,    ///< It is there or not.
        instead, ///< It asks for a text to print: the settings are not read.
    };

    std::string_view names; ///< "-t,--test"
    own_flag::kind kind = kind::flag;
};

/// start_command is the command that the words belong to.
struct start_command
{
    std::string_view program; ///< "stud" begins with the dialect of stud.
    std::string name;         ///< For messages: "cleat", "cleat check".
    std::span<own_flag const> flags;
    file_opener opener{}; ///< Opens the configuration file, where there is one.
};

/// start_words is what the words say. Where a problem is an error, the settings are incomplete.
struct start_words
{
    config settings;
    std::vector<problem> problems;
    std::map<std::string, std::vector<std::string>, std::less<>> own; ///< By name, without dashes.

    [[nodiscard]] bool has(std::string_view flag) const { return own.contains(flag); }

    /// values are those of a flag, in their order; empty where it was not given.
    [[nodiscard]] std::vector<std::string> values(std::string_view flag) const
    {
        auto const found = own.find(flag);
        return found == own.end() ? std::vector<std::string>{} : found->second;
    }
};

/// read_start_words reads the words behind the command, and the configuration file that they name.
/// The flags --config and --compat are always there. Every mistake is reported, not only the first.
[[nodiscard]] start_words read_start_words(
    start_command const& start, std::span<char const* const> words);

/// mistake is an error about a flag.
[[nodiscard]] problem mistake(std::string flag, std::string text, std::string cure);

} // namespace cleat::app
