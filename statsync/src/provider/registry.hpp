// registry: the providers that a user has configured, in one readable file.

#pragma once

#include "provider/type.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace statsync {

using setting_map = std::map<std::string, std::string>;

/// registry: creates, changes and forgets instances. Every change is stored at once, in a file of
/// mode 0600 that is replaced in one step; keys that this version does not know stay in it.
class registry
{
public:
    /// Reads the file; without one nothing is configured. The types outlive the registry.
    registry(std::filesystem::path file, std::span<provider_type const> types);

    std::vector<instance> const& instances() const { return instances_; }

    /// find: by id, or by name where only one has it. Throws failure(problem::settings).
    instance const& find(std::string_view id_or_name) const;

    /// create gives the new instance an id that no other one has. An empty name is the type's
    /// title.
    instance const& create(std::string_view type, std::string name, setting_map settings);

    /// reconfigure keeps the id and changes the given settings. An empty value takes one back to
    /// its default; the key "name" renames.
    instance const& reconfigure(std::string_view id_or_name, setting_map const& changed);

    void forget(std::string_view id_or_name);

    /// open makes the provider of an instance. It reads nothing yet.
    std::unique_ptr<provider> open(instance const& configured) const;

private:
    /// check throws failure(problem::settings) for what no provider can be made of.
    void check(instance const& configured) const;
    std::string new_id() const;
    void load();
    void store() const;

    std::filesystem::path file_;
    std::span<provider_type const> types_;
    std::vector<instance> instances_;
    std::string document_ = "{}"; ///< As read, for the keys that are not known.
};

/// secret: a password from the file that the setting `password-file` names, or the environment
/// variable that `password-env` names; empty without both.
std::string secret(instance const& configured);

} // namespace statsync
