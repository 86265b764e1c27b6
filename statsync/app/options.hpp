// options: what the command line says.

#pragma once

#include "core/text.hpp"
#include "core/track.hpp"

#include <string>
#include <vector>

namespace statsync {

/// options: the command and its options. Names of providers are not looked up yet.
struct options
{
    std::string command;
    std::string subject;               ///< A type, or a provider, as the command wants it.
    std::vector<std::string> settings; ///< key=value
    std::string path;
    std::string name;
    std::string artist;

    std::vector<std::string> providers;
    std::vector<std::string> from;
    std::vector<std::string> to;
    std::vector<std::string> prefer;
    std::vector<std::string> excluded_labels;
    fields synced = statistic_fields;
    fields ignored;
    text_form form = text_form::lower;
    std::string ratings = "leave";
    std::string labels = "leave";
    std::string conflicts = "skip";
    bool uses_baseline = false;
    bool exact_ratings = false;
    bool unrated_yields = false;
    bool is_dry_run = false;
    bool is_confirmed = false;
    std::size_t rows_max = 50;
};

/// exit_code: how the program ends.
enum exit_code
{
    exit_done = 0,
    exit_failed = 1,
    exit_usage = 2,
    exit_conflicts = 3, ///< Everything else is written, or would be.
    exit_in_use = 4,    ///< Nothing is written.
    exit_partly = 5,    ///< Some providers are written.
};

/// parse reads the command line. Returns false where the program ends at once, with the code.
bool parse(int count, char** words, options& parsed, int& code);

} // namespace statsync
