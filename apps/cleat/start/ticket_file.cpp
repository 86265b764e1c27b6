#include "privileged/permissions.hpp"
#include "start/start_error.hpp"
#include "start/ticket_file.hpp"
#include "tickets/ratchet_file.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/unique_fd.hpp>
#include <cleat/core/write_whole.hpp>
#include <cleat/tls/ticket_ratchet.hpp>

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace cleat::app {
namespace {

bool has_file(config const& settings)
{
    return *settings.ticket_ratchet && !settings.ticket_secret->empty();
}

problem problem_of(config const& settings, std::string text, std::string cure)
{
    return {
        problem::severity::error, settings.ticket_secret.location, "ticket-secret", std::move(text),
        std::move(cure)};
}

file_rewriting proof_of(config const& settings, std::string const& folder)
{
    return prove_rewriting(absolute_path(folder, *settings.ticket_secret));
}

// The outcome of a proof, as a process tells it to the one that has begun it.
std::string to_message(file_rewriting const& proof)
{
    return fmt::format("{}{}{}{}", proof.is_denied ? 'd' : '-', proof.text, '\0', proof.cure);
}

file_rewriting from_message(std::string_view message)
{
    std::size_t const end = message.find('\0');
    return {
        .done = false,
        .is_denied = message.front() == 'd',
        .text = std::string{message.substr(1, end - 1)},
        .cure = std::string{message.substr(end + 1)}};
}

std::string read_to_end(int fd)
{
    std::string text;
    std::array<char, 4096> chunk; // NOLINT: filled by read
    while (ssize_t const n = ::read(fd, chunk.data(), chunk.size())) {
        if (n > 0)
            text.append(chunk.data(), static_cast<std::size_t>(n));
        else if (errno != EINTR)
            break;
    }
    return text;
}

// proof_of, with the rights of a user. The message fits into a pipe, which nobody reads before.
file_rewriting proof_as(identity const& user, config const& settings, std::string const& folder)
{
    std::array<int, 2> ends{-1, -1};
    error_code failed;
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        failed = last_system_error();
    unique_fd const reading{ends[0]};
    unique_fd writing{ends[1]};
    if (!failed)
        failed = run_as(user, [&] {
            file_rewriting const proof = proof_of(settings, folder);
            return proof.done ? error_code{} : write_whole(writing.get(), to_message(proof));
        });
    writing.reset();
    if (failed)
        return {
            .done = false,
            .text = fmt::format(
                "cannot find out whether {} can be replaced: {}", *settings.ticket_secret,
                failed.message()),
            .cure =
                is_denied(failed)
                    ? "Let cleat become that user: it needs CAP_SETUID and CAP_SETGID. Or start "
                      "it as that user."
                    : "See the limits on processes, descriptors and memory: `ulimit -a`."};
    std::string const message = read_to_end(reading.get());
    return message.empty() ? file_rewriting{} : from_message(message);
}

} // namespace

void add_ratchet_problems(
    config const& settings, std::string const& folder, config const& running,
    std::vector<problem>& problems)
{
    if (!has_file(settings))
        return;
    file_rewriting proof = proof_of(settings, folder);
    if (proof.done)
        return;
    bool const is_running = has_file(running) && absolute_path(folder, *running.ticket_secret) ==
                                                     absolute_path(folder, *settings.ticket_secret);
    problem& found =
        problems.emplace_back(problem_of(settings, std::move(proof.text), std::move(proof.cure)));
    if (is_running && !proof.is_unsafe)
        found.grade = problem::severity::warning;
}

void check_ticket_file(
    config const& settings, std::optional<identity> const& user, std::vector<problem>& problems)
{
    std::string const folder = std::filesystem::current_path().string();
    if (!has_file(settings))
        return;
    bool const is_other_user = ::geteuid() == 0 && user && user->uid != 0;
    file_rewriting proof =
        is_other_user ? proof_as(*user, settings, folder) : proof_of(settings, folder);
    if (proof.done)
        return;
    if (is_other_user && proof.is_denied)
        proof.text += fmt::format(", with the rights of user {}", *settings.user);
    problems.push_back(problem_of(settings, std::move(proof.text), std::move(proof.cure)));
}

void rewrite_ratchets_at_start(config const& settings, std::string const& folder)
{
    if (!has_file(settings))
        return;
    file_rewriting step = proof_of(settings, folder);
    if (step.done)
        step = rewrite_ratchets(
            absolute_path(folder, *settings.ticket_secret), *settings.ticket_epoch,
            tls::oldest_ticket_epoch(
                *settings.ticket_epoch, *settings.ticket_lifetime,
                std::chrono::system_clock::now()));
    if (!step.done && !step.is_busy) // A cleat that writes at this moment does the same.
        throw start_error{problem_of(settings, std::move(step.text), std::move(step.cure))};
}

} // namespace cleat::app
