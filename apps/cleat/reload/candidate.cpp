#include "command_line/command_line.hpp"
#include "reload/candidate.hpp"
#include "reload/fixed_settings.hpp"
#include "start/start.hpp"
#include "watch/watched_files.hpp"

#include <algorithm>
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
        std::this_thread::yield(); // See lower_priority; below, too.
        refuse_fixed(running_.settings, *settings, made_.problems);
        request_.start->limits.refuse_upstream(*settings, made_.problems);
        wanted_ = *settings;
        loading loaded = load(std::move(*settings), {&running_, request_.changed}, {}, root_files_);
        made_.watched = loaded.made.watched;
        std::ranges::move(loaded.problems, std::back_inserter(made_.problems));
        if (has_errors(made_.problems))
            return;
        std::this_thread::yield();
        auto configuration = std::make_unique<snapshot const>(std::move(loaded.made));
        std::shared_ptr<log_sink> const sink = sink_for(configuration->settings);
        logger const log{*sink, log_level_for(configuration->settings)};
        bound_sockets sockets =
            bind_all(*configuration, workers_.size(), request_.places, root_files_);
        std::ranges::move(sockets.problems, std::back_inserter(made_.problems));
        if (has_errors(made_.problems))
            return;
        std::shared_ptr<admin_socket> admin = admin_for(configuration->settings);
        std::shared_ptr<access_log> access = access_log_for(configuration->settings);
        made_.changes = compare(running_, *configuration);
        std::this_thread::yield();
        made_.next = workers_.prepare(
            std::make_unique<generation>(generation{
                std::move(configuration), sink, log, std::move(admin), std::move(access)}),
            std::move(sockets));
    }

    // Nothing where there is a mistake.
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
            made_.problems = std::move(mistakes->problems);
            return std::nullopt;
        }
        serve& wanted = std::get<serve>(read); // The same words made it at the start.
        made_.problems = std::move(wanted.warnings);
        return std::move(wanted.settings);
    }

    std::shared_ptr<log_sink> sink_for(config const& settings) const
    {
        config const& before = running_.settings;
        bool const is_same = *settings.log_filename == *before.log_filename &&
                             *settings.syslog == *before.syslog &&
                             settings.syslog_facility->code == before.syslog_facility->code;
        return is_same ? request_.present->sink : open_log(settings, std::nullopt, root_files_);
    }

    // Another format needs no other access log.
    [[nodiscard]] std::shared_ptr<access_log> access_log_for(config const& settings) const
    {
        config const& before = running_.settings;
        bool const is_facility_same =
            target_of_access_log(settings) != access_log_target::syslog ||
            settings.syslog_facility->code == before.syslog_facility->code;
        if (*settings.access_log == *before.access_log && is_facility_same)
            return request_.present->access;
        return start_access_log(
            settings, open_access_sink(settings, std::nullopt, root_files_), workers_.size());
    }

    [[nodiscard]] std::shared_ptr<admin_socket> admin_for(config const& settings) const
    {
        return *settings.admin == *running_.settings.admin ? request_.present->admin
                                                           : open_admin(settings, root_files_);
    }

    // The configuration file may be one that only root may read.
    [[nodiscard]] file_opener config_opener() const
    {
        return [root_files = root_files_.for_files()](std::string const& path) {
            constexpr int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
            return open_or_ask(path, flags, root_files);
        };
    }

    static bool is_denied(problem const& each)
    {
        error_code const denied = make_error_code(boost::system::errc::permission_denied);
        return each.text.find(denied.message()) != std::string::npos;
    }

    [[nodiscard]] bool was_denied() const { return std::ranges::any_of(made_.problems, is_denied); }

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
                return is_denied(each) && std::ranges::any_of(found, [&](problem const& limit) {
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
};

} // namespace

candidate build_candidate(reload_request const& request, worker_group& workers)
{
    return builder{request, workers}.build();
}

} // namespace cleat::app
