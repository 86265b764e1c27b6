#include "commands/secret_command.hpp"
#include "start/start.hpp"
#include "tickets/ratchet_text.hpp"
#include "tickets/secret_text.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/unique_fd.hpp>
#include <cleat/core/write_whole.hpp>
#include <cleat/tls/store/file_text.hpp>
#include <cleat/tls/ticket_secret.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cleat::app {
namespace {

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

tls::secret_text new_line(make_ticket_secret const& request)
{
    if (!request.ratchet)
        return tls::secret_text{hex_text(*tls::new_ticket_secret())};
    std::int64_t const present =
        tls::ticket_epoch(*request.ratchet, std::chrono::system_clock::now());
    return ratchet_text(
        *tls::new_ticket_ratchet(present - new_ratchet_epochs_back), *request.ratchet);
}

} // namespace

int write_ticket_secret(make_ticket_secret const& request)
{
    tls::secret_text const text = new_line(request);
    if (request.file.empty()) {
        fmt::print("{}", text.view());
        return EXIT_SUCCESS;
    }
    unique_fd const made{
        ::open(request.file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR)};
    if (!made)
        return refuse_to_make(request.file, last_system_error());
    error_code failed = write_whole(made.get(), text.view());
    if (!failed && ::fsync(made.get()) != 0)
        failed = last_system_error();
    if (failed) {
        static_cast<void>(::unlink(request.file.c_str()));
        return refuse_to_make(request.file, failed);
    }
    return EXIT_SUCCESS;
}

} // namespace cleat::app
