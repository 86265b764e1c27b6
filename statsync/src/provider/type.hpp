// type: the kinds of provider: what each is called, which settings it has, and how one is made.

#pragma once

#include "provider/provider.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace statsync {

/// setting_description: one setting of a type. A required one has no default.
struct setting_description
{
    std::string name;
    std::string meaning;
    std::string usual = {};
    bool is_required = false;
};

/// provider_type: a value; to add a type, write one and list it in all_types().
struct provider_type
{
    std::string name;  ///< In commands: "rhythmbox".
    std::string title; ///< For people: "Rhythmbox".
    std::vector<setting_description> settings;
    /// Paths at which the player keeps its database, for `path`; see expanded().
    std::vector<std::string> usual_paths;
    std::function<std::unique_ptr<provider>(instance)> make;
};

/// all_types: every type of this program, in the order of their titles.
std::span<provider_type const> all_types();

/// type_named: the type. Throws failure(problem::settings) if there is none.
provider_type const& type_named(std::span<provider_type const> types, std::string_view name);

/// made_by: a type's make function for a class whose constructor takes an instance.
template <typename Provider>
std::unique_ptr<provider> made_by(instance configured)
{
    return std::make_unique<Provider>(std::move(configured));
}

} // namespace statsync
