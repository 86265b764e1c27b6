#include "core/failure.hpp"
#include "provider/provider.hpp"
#include "store/process.hpp"

namespace statsync {

namespace fs = std::filesystem;

std::string instance::setting(std::string const& key) const
{
    auto const found = settings.find(key);
    return found == settings.end() ? std::string() : found->second;
}

std::map<std::string, std::string> instance::database() const
{
    std::map<std::string, std::string> named;
    for (char const* key : {"path", "host", "port", "socket", "database", "user"}) {
        if (std::string value = setting(key); !value.empty()) {
            named[key] = std::move(value);
        }
    }
    return named;
}

abilities provider::can() const
{
    abilities all = type_can();
    if (configured_.setting("write") == "no") {
        all.writable = {};
    }
    return all;
}

std::vector<track> const& provider::tracks()
{
    if (!tracks_) {
        // Before reading: a change that happens meanwhile is noticed.
        states_when_read_ = states();
        try {
            tracks_ = read();
        } catch (fs::filesystem_error const& error) {
            throw failure(problem::unread, name() + ": " + error.what());
        }
    }
    return *tracks_;
}

std::set<std::string> provider::artists()
{
    std::set<std::string> names;
    for (track const& one : tracks()) {
        names.insert(one.identity.artist);
    }
    return names;
}

std::vector<track const*> provider::artist_tracks(std::string_view artist)
{
    std::vector<track const*> found;
    for (track const& one : tracks()) {
        if (one.identity.artist == artist) {
            found.push_back(&one);
        }
    }
    return found;
}

void provider::check_unused() const
{
    places const all = where();
    // With root's rights, the player is still one of its owner's programs.
    user_set const users = all.is_server ? user_set{} : users_of(all.files);
    if (std::optional<std::string> const player = running(all.players, users)) {
        throw failure(problem::in_use, name() + ": " + *player + " is running; close it first");
    }
    for (fs::path const& file : all.files) {
        if (std::optional<std::string> const program = opener(file)) {
            throw failure(
                problem::in_use, name() + ": " + *program + " has " + file.string() + " open");
        }
        if (!may_write(file)) {
            throw failure(
                problem::unwritten, name() + ": " + file.string() +
                                        " is not yours to write; with write=no it is only read");
        }
    }
    if (tracks_ && states() != states_when_read_) {
        throw failure(
            problem::changed, name() + ": the database has changed since it was read; start again");
    }
}

void provider::write(std::span<change const> changes)
{
    for (change const& one : changes) {
        if (!can().writable.has_all(one.changed)) {
            throw failure(
                problem::unwritten,
                name() + " cannot store " + names(one.changed - can().writable));
        }
    }
    check_unused();
    tracks_.reset();
    write_changes(changes);
}

void provider::back_up(fs::path const& folder)
{
    fs::create_directories(folder);
    for (fs::path const& file : where().files) {
        if (fs::exists(file)) {
            replace_file(folder / file.filename(), read_file(file));
        }
    }
}

void provider::restore(fs::path const& folder)
{
    tracks_.reset();
    for (fs::path const& file : where().files) {
        fs::path const copy = folder / file.filename();
        if (fs::exists(copy)) {
            replace_file(file, read_file(copy));
        }
    }
}

void provider::write_changes(std::span<change const>)
{
    throw failure(problem::unwritten, name() + " cannot be written");
}

std::vector<file_state> provider::states() const
{
    std::vector<file_state> all;
    for (fs::path const& file : where().files) {
        all.push_back(state_of(file));
    }
    return all;
}

} // namespace statsync
