// start_error: the exception that ends a start.

#pragma once

#include "config/config.hpp"

namespace cleat::app {

/// start_error ends a start. report() prints its problem.
struct start_error
{
    problem why;
};

} // namespace cleat::app
