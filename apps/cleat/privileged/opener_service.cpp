#include "privileged/opener_service.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <utility>

#include <netinet/in.h>
#include <sys/socket.h>

namespace cleat::app {
namespace {

opener_service::reply refuse(int error, std::string text)
{
    return {{error, std::move(text)}};
}

int option_of(int socket, int option) noexcept
{
    int value = -1;
    socklen_t size = sizeof value;
    return ::getsockopt(socket, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

} // namespace

opener_service::reply opener_service::serve_one(descriptor_message const& message)
{
    if (!message.is_whole)
        return refuse(EMSGSIZE, "the request is too long");
    std::optional<opener_request> const request = decode_request(message.bytes);
    bool const is_port = request && request->what == opener_request::kind::port;
    if (!request || message.fds.size() != (is_port ? 1U : 0U))
        return refuse(EINVAL, "this is no request");
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
        case opener_request::kind::port:
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
        return refuse(opened.reason.value(), std::move(opened.refusal));
    return {{}, std::move(opened.fd)};
}

opener_service::reply opener_service::bind(bind_address const& address, int socket)
{
    if (!named_.allows([&](permissions const& each) { return each.may_bind(address); }))
        return not_named(fmt::format("port {} with this address", address.port()));
    if (option_of(socket, SO_DOMAIN) != address.family() ||
        option_of(socket, SO_TYPE) != SOCK_STREAM || option_of(socket, SO_PROTOCOL) != IPPROTO_TCP)
        return refuse(EINVAL, "this is no TCP socket");
    if (::bind(socket, address.data(), address.size) != 0)
        return refuse(errno, {});
    return {};
}

opener_service::reply opener_service::not_named(std::string const& wanted) const
{
    std::string text = fmt::format("the configuration on disk does not name {}", wanted);
    if (!named_.fault().empty())
        text += fmt::format(", as far as it can be used: {}", named_.fault());
    return refuse(EACCES, std::move(text));
}

} // namespace cleat::app
