// statsync: the commands of the program.

#include "core/failure.hpp"
#include "options.hpp"
#include "synchronisation.hpp"
#include "synchronise.hpp"
#include "table.hpp"

#include <csignal>
#include <iostream>

namespace statsync {
namespace {

namespace fs = std::filesystem;

/// absolute_path: a later run may start in another folder.
std::string absolute_path(std::string const& path)
{
    bool const is_absolute = path.empty() || path.find_first_of("~$") == 0;
    return is_absolute ? path : fs::absolute(path).lexically_normal().string();
}

setting_map settings_of(options const& parsed)
{
    setting_map settings;
    if (!parsed.path.empty()) {
        settings["path"] = absolute_path(parsed.path);
    }
    for (std::string const& text : parsed.settings) {
        std::size_t const equals = text.find('=');
        if (equals == std::string::npos) {
            throw failure(problem::settings, "'" + printable(text) + "' is not key=value");
        }
        std::string const key = text.substr(0, equals);
        std::string const value = text.substr(equals + 1);
        bool const is_path = key == "path" || key == "password-file";
        settings[key] = is_path ? absolute_path(value) : value;
    }
    return settings;
}

int list_types()
{
    for (provider_type const& type : all_types()) {
        std::cout << type.name << ": " << type.title << '\n';
        for (setting_description const& one : type.settings) {
            std::cout << "    " << one.name << ": " << one.meaning
                      << (one.usual.empty() ? "" : "; usually " + one.usual) << '\n';
        }
    }
    return exit_done;
}

int detect()
{
    std::size_t count = 0;
    for (provider_type const& type : all_types()) {
        for (std::string const& usual : type.usual_paths) {
            fs::path const path = expanded(usual);
            if (fs::exists(path)) {
                std::cout << type.title << ": statsync add " << type.name << " --path '"
                          << printable(path.string()) << "'\n";
                ++count;
            }
        }
    }
    std::cout << counted(count, "database") << " found\n";
    return exit_done;
}

int list_providers(registry const& all)
{
    for (instance const& one : all.instances()) {
        std::cout << one.id << "  " << printable(one.name) << "  " << one.type;
        for (auto const& [key, value] : one.settings) {
            std::cout << "  " << printable(key) << '=' << printable(value);
        }
        std::cout << '\n';
    }
    std::cout << counted(all.instances().size(), "provider") << '\n';
    return exit_done;
}

/// settings_beside_path: what else makes a provider another one, such as a user of Navidrome.
setting_map settings_beside_path(instance one)
{
    one.settings.erase("path");
    one.settings.erase("write");
    return one.settings;
}

std::vector<fs::path> real_paths(std::vector<fs::path> paths)
{
    for (fs::path& path : paths) {
        std::error_code error;
        fs::path const real = fs::weakly_canonical(path, error);
        path = error ? path : real;
    }
    return paths;
}

/// check_is_new: a database that is there twice would be written twice, and fail the second time.
void check_is_new(registry const& all, instance const& wanted)
{
    std::vector<fs::path> const files = real_paths(all.open(wanted)->where().files);
    for (instance const& one : all.instances()) {
        if (one.type == wanted.type && !files.empty() &&
            real_paths(all.open(one)->where().files) == files &&
            settings_beside_path(one) == settings_beside_path(wanted)) {
            throw failure(
                problem::settings, files.front().string() + " is there already: " + one.id + "  " +
                                       one.name + "; `statsync set` changes it");
        }
    }
}

int add(registry& all, options const& parsed)
{
    setting_map const settings = settings_of(parsed);
    check_is_new(all, {"", parsed.subject, "", settings});
    instance const& made = all.create(parsed.subject, parsed.name, settings);
    std::cout << made.id << "  " << printable(made.name) << '\n';
    // The database may come later, from a disk that is not mounted now; or the path is mistyped.
    std::vector<fs::path> const files = all.open(made)->where().files;
    std::error_code ignored;
    if (!files.empty() && !fs::exists(files.front(), ignored)) {
        std::cerr << "statsync: " << printable(files.front().string())
                  << " is not there: this provider takes no part in a run until it is\n";
    }
    return exit_done;
}

/// set: what was remembered of one database is not true of another one.
int set(registry& all, options const& parsed)
{
    instance const before = all.find(parsed.subject);
    instance const& after = all.reconfigure(before.id, settings_of(parsed));
    if (after.database() != before.database()) {
        history(state_folder()).baselines().forget(before.id);
    }
    return exit_done;
}

int show(registry const& all, options const& parsed)
{
    std::unique_ptr<provider> const player = all.open(all.find(parsed.subject));
    std::size_t count = 0;
    for (track const& one : player->tracks()) {
        if (parsed.artist.empty() || one.identity.artist == parsed.artist) {
            print_track(std::cout, one);
            ++count;
        }
    }
    std::cout << counted(count, "track") << "; writable: " << names(player->can().writable) << '\n';
    return exit_done;
}

int run(options const& parsed)
{
    if (parsed.command == "types") {
        return list_types();
    }
    if (parsed.command == "detect") {
        return detect();
    }
    registry all(expanded("$XDG_CONFIG_HOME/statsync/providers.json"), all_types());
    if (parsed.command == "list") {
        return list_providers(all);
    }
    if (parsed.command == "add") {
        return add(all, parsed);
    }
    if (parsed.command == "set") {
        return set(all, parsed);
    }
    if (parsed.command == "forget") {
        std::string const id = all.find(parsed.subject).id;
        all.forget(id);
        history(state_folder()).baselines().forget(id);
        return exit_done;
    }
    if (parsed.command == "show") {
        return show(all, parsed);
    }
    if (parsed.command == "diff") {
        return diff(all, parsed);
    }
    // A run does not end in the middle because nobody reads what it says.
    std::signal(SIGPIPE, SIG_IGN);
    if (parsed.command == "sync") {
        return synchronise(all, parsed);
    }
    if (parsed.command == "review") {
        return review(all, parsed);
    }
    return undo(all);
}

int code_of(problem kind)
{
    return kind == problem::in_use     ? exit_in_use
           : kind == problem::settings ? exit_usage
                                       : exit_failed;
}

} // namespace
} // namespace statsync

int main(int count, char** words)
{
    statsync::options parsed;
    int code = statsync::exit_done;
    if (!statsync::parse(count, words, parsed, code)) {
        return code;
    }
    try {
        return statsync::run(parsed);
    } catch (statsync::failure const& error) {
        std::cerr << "statsync: " << statsync::printable(error.what()) << '\n';
        return statsync::code_of(error.kind());
    } catch (std::exception const& error) {
        std::cerr << "statsync: " << statsync::printable(error.what()) << '\n';
        return statsync::exit_failed;
    }
}
