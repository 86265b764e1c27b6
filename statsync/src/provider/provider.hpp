// provider: the statistics of one music player's database.

#pragma once

#include "core/merge.hpp"
#include "core/track.hpp"
#include "store/file.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace statsync {

/// instance: a configured provider: its permanent id, its type's name, the name that people call it
/// by, and its settings.
struct instance
{
    std::string id;
    std::string type;
    std::string name;
    std::map<std::string, std::string> settings = {};

    /// setting: the value, or an empty string.
    std::string setting(std::string const& key) const;

    /// database: the settings that say which database it is.
    std::map<std::string, std::string> database() const;

    friend bool operator==(instance const&, instance const&) = default;
};

/// abilities: what a provider knows about tracks, and what it can store.
struct abilities
{
    fields reliable = identity_fields; ///< At least title, artist and album.
    fields writable;
    int rating_step = 1;             ///< 2 for whole stars.
    std::int64_t tolerance_s = 0;    ///< By how much the player's last plays may be off.
    bool has_label_spelling = false; ///< Labels that are equal to the database are one there.
};

/// places: what a provider reads and writes. A player that runs would overwrite what it is not
/// asked about, or be overwritten.
struct places
{
    std::vector<std::filesystem::path> files = {};
    std::vector<std::string> players = {}; ///< Names of the player's processes.
    bool is_server = false;                ///< The player may be a process of another user.
};

/// provider: a type of provider derives from it, and says how its tracks are read and changed. The
/// database is read once, at the first question, and not held open.
class provider
{
public:
    explicit provider(instance configured) : configured_(std::move(configured)) {}
    provider(provider const&) = delete;
    provider& operator=(provider const&) = delete;
    virtual ~provider() = default;

    instance const& configured() const { return configured_; }
    std::string const& id() const { return configured_.id; }
    std::string const& name() const { return configured_.name; }

    /// can: the type's abilities; without writable fields where the setting `write` is "no".
    abilities can() const;

    /// tracks: all tracks. Throws failure(problem::unread) or failure(problem::settings).
    std::vector<track> const& tracks();

    /// artists: all names, as the player has them.
    std::set<std::string> artists();

    /// artist_tracks: tracks of exactly this artist. The empty name is one, too.
    std::vector<track const*> artist_tracks(std::string_view artist);

    /// check_unused throws failure(problem::in_use) where the player runs or has the files open,
    /// failure(problem::changed) where a file is not as it was when it was read, and
    /// failure(problem::unwritten) where this user may not write it, or beside it.
    void check_unused() const;

    /// write applies all changes or none, unless is_atomic() says else. Forgets what was
    /// read. Throws failure(problem::unwritten), and where check_unused does.
    void write(std::span<change const> changes);

    /// report_writes: the action hears during a write how many changes are made, unless all are
    /// made at once.
    void report_writes(std::function<void(std::size_t)> action) { on_write_ = std::move(action); }

    /// back_up copies the database into a folder. restore puts it back as it was then.
    virtual void back_up(std::filesystem::path const& folder);
    virtual void restore(std::filesystem::path const& folder);

    /// can_restore: whether undo may restore a backup; without it values go back one by one.
    virtual bool can_restore() const { return true; }

    /// spelling_of: which of these labels the database spells in another way, as they would read
    /// after a write. Asked only where has_label_spelling says so.
    virtual label_spelling spelling_of(label_set const&) { return {}; }

    /// remove_unused removes labels that no track has from the player's list of labels.
    virtual void remove_unused(label_set const&) {}

    virtual places where() const { return {}; }

    /// is_atomic: whether a failed write leaves the database as it was.
    virtual bool is_atomic() const { return true; }

protected:
    virtual abilities type_can() const = 0;
    virtual std::vector<track> read() = 0;
    virtual void write_changes(std::span<change const> changes);

    /// wrote is called by write_changes, with how many changes it has made.
    void wrote(std::size_t count) const
    {
        if (on_write_) {
            on_write_(count);
        }
    }

private:
    std::vector<file_state> states() const;

    instance configured_;
    std::optional<std::vector<track>> tracks_;
    std::vector<file_state> states_when_read_;
    std::function<void(std::size_t)> on_write_;
};

} // namespace statsync
