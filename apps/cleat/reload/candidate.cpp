#include "config/command_line.hpp"
#include "reload/candidate.hpp"
#include "reload/fixed_settings.hpp"
#include "start.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <system_error>
#include <utility>
#include <variant>

#include <unistd.h>

namespace cleat::app {
namespace {

// A daemon has changed to the root directory; names of files are relative to the folder where it
// was started. Nothing else in the process depends on its working folder.
class working_folder
{
public:
    working_folder(bool is_daemon, std::string const& folder) : changed_{is_daemon}
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
        : request_{request}, running_{*request.present->configuration}, workers_{workers}
    {
    }

    candidate build()
    {
        try {
            working_folder const folder{*running_.settings.daemon, request_.folder};
            build_in_folder();
        } catch (start_error const& e) {
            made_.problems.push_back(e.why);
        } catch (std::exception const& e) {
            made_.problems.push_back({problem::severity::error, {}, {}, e.what(), {}});
        }
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
        refuse_fixed(running_.settings, *settings, made_.problems);
        loading loaded = load(std::move(*settings), running_.tickets);
        made_.watched = loaded.made.watched;
        std::ranges::move(loaded.problems, std::back_inserter(made_.problems));
        if (has_errors(made_.problems))
            return;
        auto configuration = std::make_unique<snapshot const>(std::move(loaded.made));
        std::shared_ptr<log_sink> const sink = sink_for(configuration->settings);
        logger const log{*sink, log_level_for(configuration->settings)};
        bound_sockets sockets = bind_all(*configuration, workers_.size(), request_.places);
        std::ranges::move(sockets.problems, std::back_inserter(made_.problems));
        if (has_errors(made_.problems))
            return;
        made_.changes = compare(running_, *configuration);
        made_.next = workers_.prepare(
            new_generation(std::move(configuration), sink, log), std::move(sockets));
    }

    // Nothing where there is a mistake.
    std::optional<config> read_settings()
    {
        std::vector<char const*> words;
        for (std::string const& word : request_.command_line)
            words.push_back(word.c_str());
        command read = parse_command_line(words);
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
        return is_same ? request_.present->sink : open_log(settings, std::nullopt);
    }

    // Which rights the process has is not plain from the configuration.
    void explain_rights()
    {
        setting<std::string> const& user = running_.settings.user;
        error_code const denied = make_error_code(boost::system::errc::permission_denied);
        bool const was_denied = std::ranges::any_of(made_.problems, [&](problem const& each) {
            return each.text.find(denied.message()) != std::string::npos;
        });
        if (was_denied && !user->empty())
            made_.problems.push_back(
                {problem::severity::error, user.location, "user",
                 "since its start cleat has the rights of " + *user +
                     " only: it reads files and opens ports with them",
                 "Let the group of " + *user + " read the files; for a port below 1024, restart."});
    }

    reload_request const& request_;
    snapshot const& running_;
    worker_group& workers_;
    candidate made_;
};

} // namespace

candidate build_candidate(reload_request const& request, worker_group& workers)
{
    return builder{request, workers}.build();
}

} // namespace cleat::app
