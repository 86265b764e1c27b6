// problem_list: problems that several settings share are reported once.

#pragma once

#include "config/config.hpp"

#include <string>
#include <unordered_set>
#include <vector>

namespace cleat::app {

/// problem_list appends problems to a vector that outlives it, each only once.
class problem_list
{
public:
    explicit problem_list(std::vector<problem>& problems);

    void error(location const& where, std::string key, std::string text, std::string cure);
    void warning(location const& where, std::string key, std::string text, std::string cure = {});

    [[nodiscard]] bool has_errors() const noexcept { return app::has_errors(problems_); }

private:
    void add(problem found);

    std::vector<problem>& problems_;
    // The text of each problem: there may be one for each of 100,000 files.
    std::unordered_set<std::string> lines_;
};

} // namespace cleat::app
