#include "privileged/opener_service.hpp"
#include "watch/watched_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>

namespace cleat::app {
namespace {

// The text of an answer with all places; beside it the number.
constexpr std::size_t places_max = answer_max - 16;

opener_service::reply without_descriptor(int error, std::string text)
{
    return {{error, std::move(text)}};
}

int option_of(int socket, int option) noexcept
{
    int value = -1;
    socklen_t size = sizeof value;
    return ::getsockopt(socket, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

tls::file_facts regular_file_in(int folder, std::string const& name) noexcept
{
    struct stat found = {};
    bool const is_there = ::fstatat(folder, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
    return is_there && S_ISREG(found.st_mode) ? tls::facts_from(found) : tls::file_facts{};
}

} // namespace

opener_service::reply opener_service::serve_one(descriptor_message const& message)
{
    if (!message.is_whole)
        return without_descriptor(EMSGSIZE, "the request is too long");
    std::optional<opener_request> const request = decode_request(message.bytes);
    bool const is_port = request && request->what == opener_request::kind::port;
    bool const is_watch = request && request->what == opener_request::kind::watch;
    if (!request || message.fds.size() != (is_port || is_watch ? 1U : 0U))
        return without_descriptor(EINVAL, "this is no request");
    if (request->what == opener_request::kind::look)
        return look(*request);
    if (is_watch)
        return watch(request->path, message.fds.front().get());
    return is_port ? bind(request->address, message.fds.front().get()) : open(*request);
}

opener_service::reply opener_service::open(opener_request const& request)
{
    std::size_t names_below = 0;
    bool const is_allowed = named_.allows([&](permissions const& each) {
        names_below = each.names_below(request.path);
        switch (request.what) {
        case opener_request::kind::file:
            return each.may_read(request.path);
        case opener_request::kind::folder:
            return each.may_list(request.path);
        case opener_request::kind::log:
            return each.may_log_to(request.path);
        case opener_request::kind::look:
        case opener_request::kind::port:
        case opener_request::kind::watch:
            break;
        }
        return false;
    });
    if (!is_allowed)
        return not_named(request.path);
    file_opening opened = request.what == opener_request::kind::file
                              ? paths_.open_file(request.path, names_below)
                          : request.what == opener_request::kind::folder
                              ? paths_.open_folder(request.path, names_below)
                              : paths_.open_log(request.path);
    if (!opened.fd)
        return without_descriptor(opened.reason.value(), std::move(opened.refusal));
    return {{}, std::move(opened.fd)};
}

// Of files that cleat may have opened one by one. A link's facts are not those of the file it leads
// to, so it has none.
opener_service::reply opener_service::look(opener_request const& request)
{
    std::size_t names_below = 0;
    bool const is_allowed = named_.allows([&](permissions const& each) {
        names_below = each.names_below(request.path);
        return each.may_list(request.path) &&
               std::ranges::all_of(request.names, [&](std::string const& name) {
                   return each.may_read(request.path + '/' + name);
               });
    });
    if (!is_allowed)
        return not_named(request.path);
    file_opening const opened = paths_.open_folder(request.path, names_below);
    if (!opened.fd)
        return without_descriptor(opened.reason.value(), opened.refusal);
    std::vector<tls::file_facts> found;
    for (std::string const& name : request.names)
        found.push_back(regular_file_in(opened.fd.get(), name));
    return without_descriptor(0, encode(found));
}

// The kernel watches what a descriptor leads to, which is a folder that the trusted path has
// reached. It refuses a descriptor that is not inotify's.
opener_service::reply opener_service::watch(std::string const& path, int inotify)
{
    std::size_t names_below = 0;
    bool is_folder = false;
    if (!named_.allows([&](permissions const& each) {
            names_below = each.names_below(path);
            is_folder = each.may_list(path);
            return is_folder || each.may_read(path);
        }))
        return not_named(path);
    std::vector<watched_place> places;
    file_opening const walked =
        paths_.follow(path, names_below, is_folder, [&](int folder, std::string const& name) {
            std::string const reached = fmt::format("/proc/self/fd/{}", folder);
            int const number = ::inotify_add_watch(inotify, reached.c_str(), watched_events);
            if (number < 0)
                return last_system_error();
            places.push_back({number, name});
            return error_code{};
        });
    if (walked.reason)
        return without_descriptor(walked.reason.value(), walked.refusal);
    std::string text = encode(places);
    return text.size() > places_max ? without_descriptor(ENAMETOOLONG, {})
                                    : without_descriptor(0, std::move(text));
}

opener_service::reply opener_service::bind(bind_address const& address, int socket)
{
    if (!named_.allows([&](permissions const& each) { return each.may_bind(address); }))
        return not_named(fmt::format("port {} with this address", address.port()));
    if (option_of(socket, SO_DOMAIN) != address.family() ||
        option_of(socket, SO_TYPE) != SOCK_STREAM || option_of(socket, SO_PROTOCOL) != IPPROTO_TCP)
        return without_descriptor(EINVAL, "this is no TCP socket");
    if (::bind(socket, address.data(), address.size) != 0)
        return without_descriptor(errno, {});
    return {};
}

opener_service::reply opener_service::not_named(std::string const& wanted) const
{
    std::string text = fmt::format("the configuration on disk does not name {}", wanted);
    if (!named_.fault().empty())
        text += fmt::format(", as far as it can be used: {}", named_.fault());
    return without_descriptor(EACCES, std::move(text));
}

} // namespace cleat::app
