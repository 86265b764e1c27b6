#include "command_line/command_line.hpp"
#include "memory/memory_gauge.hpp"
#include "reload/candidate.hpp"
#include "reload/fixed_settings.hpp"
#include "reload/memory_left.hpp"
#include "reload/opened_places.hpp"
#include "snapshot/memory_planning.hpp"
#include "start/named_places.hpp"
#include "start/start.hpp"
#include "start/ticket_file.hpp"
#include "watch/watched_files.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <iterator>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>

#include <fcntl.h>
#include <unistd.h>

namespace cleat::app {
namespace {

// A daemon has changed to the root directory, unless it could not come back; names of files are
// relative to the folder where it was started. Nothing else in the process depends on its working
// folder.
class working_folder
{
public:
    working_folder(bool is_daemon, std::string const& folder)
        : changed_{is_daemon && std::filesystem::current_path() != folder}
    {
        if (changed_ && ::chdir(folder.c_str()) != 0)
            throw std::system_error{last_system_error(), "cannot go to " + folder};
    }
    working_folder(working_folder&&) = delete;
    ~working_folder()
    {
        if (changed_)
            static_cast<void>(::chdir("/") == 0);
    }

private:
    bool changed_;
};

bool names_denial(problem const& each)
{
    error_code const denied = make_error_code(boost::system::errc::permission_denied);
    return each.text.find(denied.message()) != std::string::npos;
}

class builder
{
public:
    builder(reload_request const& request, worker_group& workers)
        : request_{request}
        , root_files_{request.start->root_files}
        , running_{*request.present->configuration}
        , workers_{workers}
    {
    }

    candidate build()
    {
        try {
            working_folder const folder{*running_.settings.daemon, request_.start->folder};
            build_in_folder();
        } catch (start_error const& e) {
            made_.problems.push_back(e.why);
        } catch (std::bad_alloc const&) {
            made_.problems.push_back(
                {problem::severity::error,
                 {},
                 {},
                 "there is not enough memory for a configuration beside the one that serves",
                 "Raise the limit, or see what else uses the machine's memory."});
        } catch (std::exception const& e) {
            made_.problems.push_back({problem::severity::error, {}, {}, e.what(), {}});
        }
        explain_limits();
        explain_rights();
        return std::move(made_);
    }

private:
    void build_in_folder()
    {
        if (running_.settings.file == "-") {
            made_.problems.push_back(
                {problem::severity::error,
                 {},
                 {},
                 "the configuration came from standard input, which cannot be read again",
                 "Write it into a file, and start cleat with --config FILE."});
            return;
        }
        std::optional<config> settings = read_settings();
        if (!settings)
            return;
        std::this_thread::yield();  // See lower_priority; below, too.
        std::vector<problem> fixed; // They leave everything else to be looked at.
        refuse_fixed(running_.settings, *settings, true, fixed);
        request_.start->limits.refuse_upstream(*settings, fixed);
        wanted_ = *settings;
        loading loaded = load(
            std::move(*settings), {&running_, request_.changed, request_.targets}, {}, root_files_);
        made_.watched = loaded.made.watched;
        add_ratchet_problems(
            loaded.made.settings, request_.start->folder, running_.settings, loaded.problems);
        add_more(std::move(loaded.problems));
        bool const is_loaded = !has_errors(made_.problems);
        std::ranges::move(fixed, std::back_inserter(made_.problems));
        if (!is_loaded) {
            std::vector<problem> found;
            static_cast<void>(open_places(request_, loaded.made, workers_.size(), found));
            add_more(std::move(found));
            return;
        }
        std::this_thread::yield();
        auto configuration = std::make_unique<snapshot>(std::move(loaded.made));
        if (std::optional<problem> shortage = memory_shortage(
                configuration->settings.max_memory, configuration->memory_max,
                memory_needed(*configuration)))
            made_.problems.push_back(*std::move(shortage));
        opened_places places =
            open_places(request_, *configuration, workers_.size(), made_.problems);
        if (!has_errors(made_.problems))
            prepare(std::move(configuration), std::move(places));
    }

    // The consequences of mistakes are left out. One: the opener opens nothing that only this
    // configuration names.
    void add_more(std::vector<problem> found)
    {
        if (!has_mistakes_) {
            std::ranges::move(found, std::back_inserter(made_.problems));
            return;
        }
        if (root_files_.present_state() == opener::state::serves)
            std::erase_if(found, names_denial);
        add_other_places(made_.problems, std::move(found));
    }

    // Some settings could not be read: each of the others is checked by itself.
    void look_at_rest(config const& rest)
    {
        wanted_ = rest;
        refuse_fixed(running_.settings, rest, false, made_.problems);
        loading single = load(single_settings_of(rest), {}, {}, root_files_);
        if (!rest.frontends.empty()) // Else the frontend is a default, which nobody has asked for.
            static_cast<void>(open_places(request_, single.made, workers_.size(), single.problems));
        keep_single_settings(single.problems);
        add_more(std::move(single.problems));
        add_more(problems_of_named_files(rest, made_.problems, root_files_));
    }

    void prepare(std::unique_ptr<snapshot> configuration, opened_places places)
    {
        config const& settings = configuration->settings;
        if (*settings.admin == *running_.settings.admin)
            places.admin = present_admin(settings);
        std::shared_ptr<access_log> access =
            places.keeps_access_log
                ? request_.present->access
                : start_access_log(settings, std::move(places.access_sink), workers_.size());
        made_.changes = compare(running_, *configuration);
        std::this_thread::yield();
        logger const log{*places.sink, log_level_for(settings)};
        made_.next = workers_.prepare(
            std::make_unique<generation>(generation{
                std::move(configuration), places.sink, log, std::move(places.admin),
                std::move(access)}),
            std::move(places.sockets));
    }

    [[nodiscard]] memory_need memory_needed(snapshot const& next) const
    {
        std::uint64_t const at_start = request_.start->memory_needed;
        if (next.memory_max == 0 || !leaves_less_memory(running_, next))
            return {.bytes = at_start};
        std::uint64_t const now = memory_gauge()(); // 0: it cannot be read.
        return {.bytes = std::max(now, at_start), .is_present = now > at_start};
    }

    // Empty: some setting could not be read, or two do not fit together. The problems have it.
    std::optional<config> read_settings()
    {
        // To read them takes as long as all the rest of a renewed certificate's reload.
        if (request_.changed.is_complete && !request_.changed.elsewhere)
            return running_.settings;
        std::vector<char const*> words;
        for (std::string const& word : request_.start->command_line)
            words.push_back(word.c_str());
        command read = parse_command_line(words, config_opener());
        if (refused* const mistakes = std::get_if<refused>(&read)) {
            has_mistakes_ = true;
            made_.problems = std::move(mistakes->problems);
            if (mistakes->rest_is_whole)
                return std::move(mistakes->rest);
            if (mistakes->rest)
                look_at_rest(*mistakes->rest);
            return std::nullopt;
        }
        serve& wanted = std::get<serve>(read); // The same words made it at the start.
        made_.problems = std::move(wanted.warnings);
        return std::move(wanted.settings);
    }

    [[nodiscard]] std::shared_ptr<admin_socket> present_admin(config const& settings)
    {
        std::shared_ptr<admin_socket> const& present = request_.present->admin;
        return !present || present->is_in_place() ? present : opened_again(settings);
    }

    // Somebody has removed the socket's file. Where it cannot be made again, certificates that were
    // renewed are still worth the reload.
    std::shared_ptr<admin_socket> opened_again(config const& settings)
    {
        try {
            std::shared_ptr<admin_socket> made = open_admin(settings, root_files_);
            made_.problems.push_back(
                {problem::severity::warning, settings.admin.location, "admin",
                 "the socket " + to_string(*settings.admin) +
                     " was removed while cleat listened on it: this reload makes it again",
                 "Let nothing that cleans up remove it."});
            return made;
        } catch (start_error const& e) {
            problem why = e.why;
            why.grade = problem::severity::warning;
            why.text = "the socket was removed while cleat listened on it: " + why.text;
            made_.problems.push_back(std::move(why));
            return request_.present->admin;
        }
    }

    // The configuration file may be one that only root may read.
    [[nodiscard]] file_opener config_opener() const
    {
        return [root_files = root_files_.for_files()](std::string const& path) {
            constexpr int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
            return open_or_ask(path, flags, root_files);
        };
    }

    // An error says so. With a warning the configuration can serve.
    [[nodiscard]] bool was_denied() const
    {
        return std::ranges::any_of(made_.problems, [](problem const& each) {
            return each.grade == problem::severity::error && names_denial(each);
        });
    }

    // Explains a file that cleat's user may read, and that the sandbox denies.
    void explain_limits()
    {
        if (!was_denied())
            return;
        try {
            working_folder const folder{*running_.settings.daemon, request_.start->folder};
            config const& wanted = wanted_ ? *wanted_ : running_.settings;
            std::vector<problem> found;
            request_.start->limits.explain(wanted, find_files(wanted).files, found);
            // The system's error, whose cure cannot help here, is left out.
            std::erase_if(made_.problems, [&](problem const& each) {
                return names_denial(each) && std::ranges::any_of(found, [&](problem const& limit) {
                           return limit.key == each.key && limit.where == each.where;
                       });
            });
            std::ranges::move(found, std::back_inserter(made_.problems));
        } catch (std::exception const&) { // The problems themselves are there.
        }
    }

    // The configuration does not show which rights the process has.
    void explain_rights()
    {
        setting<std::string> const& user = running_.settings.user;
        if (root_files_.present_state() == opener::state::ended)
            made_.problems.push_back(
                {problem::severity::warning, user.location, "user",
                 "the process that opens root's files has ended: a reload reads files and opens "
                 "ports with the rights of " +
                     *user + " only",
                 "Restart cleat to have it again."});
        if (root_files_.present_state() != opener::state::none)
            return; // It says itself what it refuses.
        if (was_denied() && !user->empty())
            made_.problems.push_back(
                {problem::severity::error, user.location, "user",
                 "since its start cleat has the rights of " + *user +
                     " only: it reads files and opens ports with them",
                 "Let the group of " + *user + " read the files; for a port below 1024, restart."});
    }

    reload_request const& request_;
    opener const& root_files_;
    snapshot const& running_;
    worker_group& workers_;
    candidate made_;
    std::optional<config> wanted_;
    bool has_mistakes_ = false; // The configuration cannot be read, or contradicts itself.
};

} // namespace

candidate build_candidate(reload_request const& request, worker_group& workers)
{
    return builder{request, workers}.build();
}

} // namespace cleat::app
