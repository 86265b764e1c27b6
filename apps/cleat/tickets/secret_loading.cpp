#include "tickets/secret_loading.hpp"
#include "tickets/secret_text.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/tls/store/file_text.hpp>
#include <cleat/tls/ticket_secret.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include <sys/stat.h>

namespace cleat::app {
namespace {

planned_secrets random_secret(problem_list& problems)
{
    planned_secrets made{.all = {}, .is_random = true};
    try {
        made.all.push_back(tls::new_ticket_secret());
    } catch (std::system_error const& e) {
        problems.error(
            {}, "",
            fmt::format(
                "the kernel gives no random bytes for session tickets: {}", e.code().message()),
            "Allow the system call getrandom(2), which a sandbox may forbid.");
    }
    return made;
}

// A warning, not an error: Kubernetes gives the files of a Secret the mode 0644 where no other is
// asked for, and a folder above may be closed.
void warn_of_readers(setting<std::string> const& file, problem_list& problems)
{
    struct stat about = {};
    if (::stat(file->c_str(), &about) == 0 && (about.st_mode & S_IROTH) != 0)
        problems.warning(
            file.location, "ticket-secret",
            fmt::format(
                "every user of this machine may read {}, and with it all sessions: take that right "
                "away with chmod o-r",
                *file));
}

// The memory of the same secret before, where there is one.
void keep_known(planned_secrets& made, planned_secrets const& before)
{
    for (std::shared_ptr<tls::ticket_secret const>& each : made.all) {
        auto const known = std::ranges::find_if(
            before.all, [&](auto const& old) { return tls::is_same_secret(*old, *each); });
        if (known != before.all.end())
            each = *known;
    }
}

} // namespace

planned_secrets load_ticket_secrets(
    config const& settings, planned_secrets const* before, problem_list& problems,
    opener const& root_files)
{
    setting<std::string> const& file = settings.ticket_secret;
    if (file->empty())
        return before != nullptr && before->is_random ? *before : random_secret(problems);
    tls::file_text const text =
        tls::read_file(*file, root_files.for_files(), limits::ticket_secret_file_max);
    if (text.fault != tls::file_fault::none) {
        problems.error(
            file.location, "ticket-secret", tls::description(text, *file),
            text.fault == tls::file_fault::too_large
                ? "Name a file that \"cleat ticket-secret new FILE\" has made."
                : std::string{tls::cure(text)});
        return {};
    }
    warn_of_readers(file, problems);
    secret_list found = read_ticket_secrets(text.text.view());
    for (secret_fault const& each : found.faults)
        problems.error({*file, each.line, 1}, "ticket-secret", each.text, each.cure);
    planned_secrets made{.all = std::move(found.secrets), .is_random = false};
    if (before != nullptr)
        keep_known(made, *before);
    return made;
}

} // namespace cleat::app
