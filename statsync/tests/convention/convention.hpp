// convention: the suite that every type of provider passes, on a database with the agreed tracks.

#pragma once

#include "provider/registry.hpp"
#include "store/temporary_folder.hpp"
#include "tests/convention/sample.hpp"

#include <functional>
#include <memory>
#include <string>

namespace statsync {

/// convention_type: a type, and how a database of it is made.
struct convention_type
{
    std::string name;
    /// make creates the database in the folder, and returns the settings of a provider for it.
    std::function<setting_map(std::filesystem::path const& folder, sample_list samples)> make;
    fields stored; ///< The statistics that the player stores, writable or not.
    fields reliable = identity_fields;
    bool has_distinct_labels = false; ///< The database has labels that differ in case once.
};

/// file_type: a type whose whole setting is the path of a file.
template <typename Make>
convention_type file_type(std::string name, std::string file, Make make, fields stored)
{
    return {
        std::move(name),
        [file, make](std::filesystem::path const& folder, sample_list samples) {
            make(folder / file, samples);
            return setting_map{{"path", (folder / file).string()}};
        },
        stored};
}

/// check_convention runs the whole suite.
void check_convention(convention_type const& type);

/// convention_database: a fresh database of a type with the agreed tracks, and its provider.
class convention_database
{
public:
    explicit convention_database(convention_type const& type);

    provider& player() { return *provider_; }

    /// reopen makes the provider again, as the next run of the program does.
    void reopen();

private:
    temporary_folder folder_;
    registry registry_;
    setting_map settings_;
    std::unique_ptr<provider> provider_;
};

} // namespace statsync
