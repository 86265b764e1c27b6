#include "supervise/admin_control.hpp"
#include "supervise/reload_askers.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cleat::app {

void reload_askers::add(control_socket::command&& asked)
{
    make_room();
    next_.push_back({.command = std::move(asked)});
}

void reload_askers::add(std::unique_ptr<admin_command>&& asked)
{
    make_room();
    next_.push_back({.request = std::move(asked)});
}

void reload_askers::begin()
{
    present_.reserve(present_.size() + next_.size());
    std::ranges::move(next_, std::back_inserter(present_));
    next_.clear();
}

void reload_askers::answer(reload_outcome const& outcome, bool is_ending)
{
    for (; !present_.empty(); present_.erase(present_.begin())) {
        asker const& first = present_.front();
        if (first.command)
            control_.answer(*first.command, {outcome.done ? 0 : 1, to_text(outcome)});
        else
            first.request->answer(reload_answer(outcome, is_ending));
    }
}

} // namespace cleat::app
