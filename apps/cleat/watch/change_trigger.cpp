#include "watch/change_trigger.hpp"

#include <algorithm>

namespace cleat::app {

void change_trigger::changed(clock::time_point now) noexcept
{
    if (!first_change_)
        first_change_ = now;
    if (!end_of_patience_)
        end_of_patience_ = now + patience;
    due_ = std::min<clock::time_point>(now + settle_time, *first_change_ + settle_max);
}

bool change_trigger::begin(clock::time_point now) noexcept
{
    due_.reset();
    first_change_.reset();
    return end_of_patience_ && now < *end_of_patience_;
}

void change_trigger::refused() noexcept
{
    if (!due_)
        due_ = end_of_patience_;
}

void change_trigger::settled() noexcept
{
    end_of_patience_.reset();
    if (first_change_) // A change that came meanwhile has a patience of its own.
        end_of_patience_ = *first_change_ + patience;
}

} // namespace cleat::app
