#include "start.hpp"
#include "tickets/secret_command.hpp"
#include "tickets/secret_text.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/unique_fd.hpp>
#include <cleat/tls/store/file_text.hpp>
#include <cleat/tls/ticket_secret.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cleat::app {
namespace {

error_code write_all(int fd, std::string_view text)
{
    while (!text.empty()) {
        ssize_t const n = ::write(fd, text.data(), text.size());
        if (n < 0 && errno != EINTR)
            return last_system_error();
        if (n > 0)
            text.remove_prefix(static_cast<std::size_t>(n));
    }
    return ::fsync(fd) == 0 ? error_code{} : last_system_error();
}

int refuse_to_make(std::string const& file, error_code why)
{
    bool const is_there = why == boost::system::errc::file_exists;
    report(
        {{problem::severity::error,
          {"cleat ticket-secret"},
          {},
          fmt::format("cannot make {}: {}", file, why.message()),
          is_there ? "Name a new file. To rotate, add its line to the end of the one that serves."
                   : "Check the path and who may write there."}});
    return EXIT_FAILURE;
}

} // namespace

int write_ticket_secret(make_ticket_secret const& request)
{
    tls::secret_text const text{hex_text(*tls::new_ticket_secret())};
    if (request.file.empty()) {
        fmt::print("{}", text.view());
        return EXIT_SUCCESS;
    }
    unique_fd const made{
        ::open(request.file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR)};
    if (!made)
        return refuse_to_make(request.file, last_system_error());
    if (error_code const failed = write_all(made.get(), text.view())) {
        static_cast<void>(::unlink(request.file.c_str()));
        return refuse_to_make(request.file, failed);
    }
    return EXIT_SUCCESS;
}

} // namespace cleat::app
