#include "privileged/descriptor_message.hpp"
#include "privileged/opener.hpp"
#include "privileged/opener_process.hpp"
#include "privileged/permissions.hpp"

#include <cleat/core/limits.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cleat::app {

// A channel belongs to one thread at a time, from its request to its answer.
struct opener::channels
{
    std::size_t take() noexcept
    {
        for (;;) {
            unsigned const seen = returned.load();
            for (std::size_t i = 0; i < in_use.size(); ++i)
                if (!in_use[i].exchange(true))
                    return i;
            returned.wait(seen);
        }
    }

    void give_back(std::size_t number) noexcept
    {
        in_use[number] = false;
        ++returned;
        returned.notify_one();
    }

    // Closes the channels: a late answer would be taken for the next one. The process then ends, so
    // that none stays with root's rights which cleat does not use any more.
    void give_up_on_it() noexcept
    {
        ended = true;
        for (unique_fd const& each : fds)
            static_cast<void>(::shutdown(each.get(), SHUT_RDWR));
    }

    // Sends a request, and waits for the answer. Nothing: the process has ended, or is late.
    std::optional<descriptor_message> exchange(std::string const& bytes, int fd);

    opener_channels fds;
    std::array<std::atomic<bool>, opener_channels_max> in_use{};
    std::atomic<unsigned> returned{0}; // Changes when a channel is free again.
    std::atomic<bool> ended{false};
};

namespace {

[[noreturn]] void give_up(int error, std::string const& step)
{
    throw std::system_error{error, std::system_category(), step};
}

void make_channels(opener_channels& ours, opener_channels& theirs)
{
    for (std::size_t i = 0; i < ours.size(); ++i) {
        std::array<int, 2> ends{};
        if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
            give_up(errno, "socketpair");
        ours[i].reset(ends[0]);
        theirs[i].reset(ends[1]);
    }
}

// As if the process had answered this.
descriptor_message answer_of(int error)
{
    descriptor_message made;
    made.bytes = encode(opener_answer{error, {}});
    return made;
}

// An answer that comes in time.
std::optional<descriptor_message> wait_for_answer(int channel)
{
    pollfd waiting{channel, POLLIN, 0};
    int found = 0;
    do
        found = ::poll(&waiting, 1, static_cast<int>(limits::opener_answer_time.count()));
    while (found < 0 && errno == EINTR);
    if (found <= 0)
        return std::nullopt;
    result<descriptor_message> got = receive_message(channel, answer_max);
    if (!got || got->is_end)
        return std::nullopt;
    if (!got->is_whole) // The kernel drops a descriptor for which this process has no number left.
        return answer_of(EMFILE);
    return std::move(*got);
}

file_opening no_process()
{
    return {unique_fd{}, make_error_code(boost::system::errc::permission_denied), {}};
}

file_opening ended_process()
{
    return {
        unique_fd{}, make_error_code(boost::system::errc::permission_denied),
        "the process that opens root's files has ended (restart cleat to have it again)"};
}

} // namespace

std::optional<descriptor_message> opener::channels::exchange(std::string const& bytes, int fd)
{
    std::size_t const number = take();
    std::optional<descriptor_message> got;
    try {
        if (!ended) {
            error_code const unsent = send_message(fds[number].get(), bytes, fd);
            bool const is_gone = unsent == boost::system::errc::broken_pipe ||
                                 unsent == boost::system::errc::connection_reset;
            if (unsent && !is_gone) // The channel is as it was.
                got = answer_of(unsent.value());
            else if (!unsent)
                got = wait_for_answer(fds[number].get());
        }
    } catch (std::bad_alloc const&) { // The answer has not been taken.
    }
    if (!got)
        give_up_on_it();
    give_back(number);
    return got;
}

opener::opener() noexcept = default;
opener::opener(opener&&) noexcept = default;
opener& opener::operator=(opener&&) noexcept = default;
opener::~opener() = default;

opener opener::start(serve const& start, std::string const& folder)
{
    opener made;
    made.channels_ = std::make_unique<channels>();
    opener_channels theirs;
    make_channels(made.channels_->fds, theirs);
    pid_t const process = ::fork();
    if (process < 0)
        give_up(errno, "fork");
    if (process == 0) {
        made.channels_.reset();
        run_opener(std::move(theirs), start, folder);
    }
    for (unique_fd& each : theirs)
        each.reset();
    std::optional<descriptor_message> const first =
        wait_for_answer(made.channels_->fds.front().get());
    std::optional<opener_answer> const answer =
        first ? decode_answer(first->bytes) : std::optional<opener_answer>{};
    if (answer && answer->error == 0)
        return made;
    made.channels_.reset();
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
    give_up(answer ? answer->error : ECHILD, answer ? answer->text : "it has ended");
}

opener::state opener::present_state() const noexcept
{
    if (channels_ == nullptr)
        return state::none;
    pollfd end{native_handle(), 0, 0};
    bool const has_ended = channels_->ended || ::poll(&end, 1, 0) > 0;
    return has_ended ? state::ended : state::serves;
}

int opener::native_handle() const noexcept
{
    return channels_ == nullptr ? -1 : channels_->fds.front().get();
}

file_opening opener::open_file(std::string const& path) const
{
    return open(opener_request::kind::file, path);
}

file_opening opener::open_folder(std::string const& path) const
{
    return open(opener_request::kind::folder, path);
}

file_opening opener::open_log(std::string const& path) const
{
    return open(opener_request::kind::log, path);
}

std::string opener::whole_path(std::string const& path)
{
    return path.starts_with('/') ? path
                                 : absolute_path(std::filesystem::current_path().string(), path);
}

file_opening opener::open(opener_request::kind what, std::string const& path) const
{
    file_opening opened = ask({what, whole_path(path)}, -1);
    if (!opened.fd && !opened.reason) // No opener answers like this.
        opened.reason = make_error_code(boost::system::errc::bad_message);
    return opened;
}

file_opening opener::bind(int socket, sockaddr const& address, socklen_t size) const
{
    std::optional<bind_address> const valid = address_from(address, size);
    if (!valid)
        return no_process();
    return ask({opener_request::kind::port, {}, *valid}, socket);
}

result<std::vector<tls::file_facts>> opener::look_at(
    std::string const& folder, std::span<std::string const> names) const
{
    std::vector<tls::file_facts> found;
    found.reserve(names.size());
    opener_request request{.what = opener_request::kind::look, .path = whole_path(folder)};
    while (!names.empty()) {
        request.names.clear();
        std::size_t size = request.path.size() + 1; // Of the request.
        for (std::string const& name : names) {
            size += 1 + name.size();
            if (request.names.size() == names_max || size >= request_max)
                break;
            request.names.push_back(name);
        }
        file_opening const answer = ask(request, -1); // Without a name it is no valid request.
        if (answer.reason)
            return answer.reason;
        std::optional<std::vector<tls::file_facts>> part = decode_facts(answer.refusal);
        if (!part || part->size() != request.names.size())
            return make_error_code(boost::system::errc::bad_message);
        found.insert(found.end(), part->begin(), part->end());
        names = names.subspan(part->size());
    }
    return found;
}

result<std::vector<watched_place>> opener::watch(int inotify, std::string const& path) const
{
    file_opening const answer = ask({opener_request::kind::watch, path}, inotify);
    if (answer.reason)
        return answer.reason;
    std::optional<std::vector<watched_place>> places = decode_places(answer.refusal);
    if (!places)
        return make_error_code(boost::system::errc::bad_message);
    return std::move(*places);
}

file_opener opener::as_function(opener_request::kind what) const
{
    if (channels_ == nullptr)
        return {};
    return [this, what](std::string const& path) { return open(what, path); };
}

file_opener opener::for_files() const
{
    return as_function(opener_request::kind::file);
}

file_opener opener::for_folders() const
{
    return as_function(opener_request::kind::folder);
}

file_opener opener::for_logs() const
{
    return as_function(opener_request::kind::log);
}

file_opening opener::ask(opener_request const& request, int fd) const
{
    if (channels_ == nullptr)
        return no_process();
    std::optional<std::string> const bytes = encode(request);
    if (!bytes)
        return {unique_fd{}, make_error_code(boost::system::errc::invalid_argument), {}};
    std::optional<descriptor_message> got = channels_->exchange(*bytes, fd);
    std::optional<opener_answer> answer =
        got ? decode_answer(got->bytes) : std::optional<opener_answer>{};
    if (!answer)
        return ended_process();
    return {
        got->fds.empty() ? unique_fd{} : std::move(got->fds.front()),
        error_code{answer->error, boost::system::system_category()}, std::move(answer->text)};
}

} // namespace cleat::app
