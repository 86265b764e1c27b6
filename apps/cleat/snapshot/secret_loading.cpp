#include "snapshot/secret_loading.hpp"
#include "tickets/ratchet_text.hpp"
#include "tickets/secret_text.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/tls/store/file_text.hpp>
#include <cleat/tls/ticket_secret.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <sys/stat.h>

namespace cleat::app {
namespace {

std::int64_t oldest_epoch(config const& settings)
{
    return tls::oldest_ticket_epoch(
        *settings.ticket_epoch, *settings.ticket_lifetime, std::chrono::system_clock::now());
}

planned_secrets random_secret(config const& settings, problem_list& problems)
{
    planned_secrets made{.all = {}, .is_random = true, .rotation = *settings.ticket_epoch};
    try {
        if (*settings.ticket_ratchet)
            made.ratchets.push_back(tls::new_ticket_ratchet(oldest_epoch(settings)));
        else
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

// As keep_known: a state is the same where one is a later one of the other. A state that is later
// than the file's was ahead, with a clock that was wrong, and the operator has cured it.
void keep_known_ratchets(planned_secrets& made, planned_secrets const& before)
{
    if (before.rotation != made.rotation) // The numbers of epochs have another meaning.
        return;
    for (std::shared_ptr<tls::ticket_ratchet>& each : made.ratchets) {
        auto const known = std::ranges::find_if(before.ratchets, [&](auto const& old) {
            return old->epoch() <= each->epoch() && old->is_same(*each);
        });
        if (known != before.ratchets.end())
            each = *known;
    }
}

// To the oldest epoch that opens tickets.
std::optional<secret_fault> move_to_oldest(
    config const& settings, tls::ticket_ratchet& state, unsigned line)
{
    std::int64_t const next = // Of a clock that is ahead by one.
        tls::ticket_epoch(*settings.ticket_epoch, std::chrono::system_clock::now()) + 1;
    if (state.epoch() > next)
        return secret_fault{
            line,
            fmt::format(
                "this state begins {} epochs after the next one: this clock, or that of the "
                "machine that wrote it, is wrong",
                state.epoch() - next),
            "Set the clock, or copy the file of a machine whose clock is right."};
    return move_on(state, oldest_epoch(settings), line);
}

planned_secrets ratchets_in(config const& settings, std::string_view text, problem_list& problems)
{
    setting<std::string> const& file = settings.ticket_secret;
    ratchet_list found = read_ticket_ratchets(text, *settings.ticket_epoch);
    for (std::size_t i = 0; i < found.ratchets.size(); ++i)
        if (std::optional<secret_fault> fault =
                move_to_oldest(settings, *found.ratchets[i], found.lines[i]))
            found.faults.push_back(*std::move(fault));
    for (secret_fault const& each : found.faults)
        problems.error({*file, each.line, 1}, "ticket-secret", each.text, each.cure);
    return {
        .all = {},
        .is_random = false,
        .ratchets = std::move(found.ratchets),
        .rotation = *settings.ticket_epoch};
}

bool is_random_state_of(planned_secrets const& before, config const& settings)
{
    if (!before.is_random || before.ratchets.empty() == *settings.ticket_ratchet)
        return false;
    if (before.ratchets.empty()) // A secret is that of epochs of all lengths.
        return true;
    std::int64_t const oldest = oldest_epoch(settings);
    return before.rotation == *settings.ticket_epoch &&
           std::ranges::all_of(
               before.ratchets, [&](auto const& each) { return each->can_advance(oldest); });
}

} // namespace

planned_secrets load_ticket_secrets(
    config const& settings, planned_secrets const* before, problem_list& problems,
    opener const& root_files)
{
    setting<std::string> const& file = settings.ticket_secret;
    if (file->empty())
        return before != nullptr && is_random_state_of(*before, settings)
                   ? *before
                   : random_secret(settings, problems);
    tls::file_text const text = tls::read_file(
        *file, *settings.ticket_ratchet ? file_opener{} : root_files.for_files(),
        limits::ticket_secret_file_max);
    if (text.fault != tls::file_fault::none) {
        problems.error(
            file.location, "ticket-secret", tls::description(text, *file),
            text.fault == tls::file_fault::too_large
                ? "Name a file that \"cleat ticket-secret new FILE\" has made."
                : std::string{tls::cure(text)});
        return {};
    }
    warn_of_readers(file, problems);
    if (*settings.ticket_ratchet) {
        planned_secrets made = ratchets_in(settings, text.text.view(), problems);
        if (before != nullptr)
            keep_known_ratchets(made, *before);
        return made;
    }
    secret_list found = read_ticket_secrets(text.text.view());
    for (secret_fault const& each : found.faults)
        problems.error({*file, each.line, 1}, "ticket-secret", each.text, each.cure);
    planned_secrets made{.all = std::move(found.secrets), .is_random = false};
    if (before != nullptr)
        keep_known(made, *before);
    return made;
}

} // namespace cleat::app
