// session: the plan of a review, with the choices that its user makes on the page.

#pragma once

#include "sync/plan.hpp"

#include <nlohmann/json.hpp>
#include <string>

namespace statsync {

/// review_session answers the questions of the page. It writes nothing.
class review_session
{
public:
    static constexpr std::size_t row_count_max = 100; ///< Rows of one answer.

    /// The providers and the options outlive the session.
    review_session(provider_list const& providers, plan_options const& options);

    plan const& current() const { return plan_; }

    /// answer: to "summary", "rows", "choose" or "batch". Throws failure(problem::settings) if the
    /// question makes no sense.
    nlohmann::json answer(std::string const& name, nlohmann::json const& question);

private:
    nlohmann::json summary() const;
    nlohmann::json rows(nlohmann::json const& question) const;
    nlohmann::json matched_row(std::size_t group) const;
    nlohmann::json member_row(member const& one) const;
    nlohmann::json field_row(std::size_t group, field one) const;
    nlohmann::json track_json(member const& one) const;
    bool is_wanted(member const& one, std::string const& text) const;

    void choose(nlohmann::json const& question);
    void choose_in_all(nlohmann::json const& question);
    void settle(std::size_t group, field one, nlohmann::json const& question);

    provider_list const& providers_;
    plan_options const& options_;
    plan plan_;
    choice_map choices_;
};

} // namespace statsync
