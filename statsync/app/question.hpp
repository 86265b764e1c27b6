// question: what the program asks at its terminal.

#pragma once

#include "sync/plan.hpp"

#include <string>

namespace statsync {

/// is_terminal: whether there is somebody to ask.
bool is_terminal();

/// is_agreed asks, and is false unless the answer is yes.
bool is_agreed(std::string const& question);

/// ask_choices asks how each conflict that nothing settles is to be settled, until the answer says
/// that the others stay as they are.
choice_map ask_choices(plan const& made, provider_list const& providers);

} // namespace statsync
