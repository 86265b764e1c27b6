#include <cleat/core/limits.hpp>
#include <cleat/core/unique_fd.hpp>
#include <cleat/tls/store/file_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cleat::tls {
namespace {

file_text system_failure()
{
    return {.text = {}, .fault = file_fault::error, .reason = last_system_error()};
}

// The coarsest clock of a usual file system has whole seconds.
constexpr std::time_t clock_step = 2;

// A file can shrink while it is read, or grow: `size` is what fstat said. For a file that the
// kernel makes when it is read, that is 0.
file_text read_all(int fd, std::size_t size, std::size_t size_max)
{
    std::string text(size + 1, '\0');
    std::size_t used = 0;
    for (;;) {
        ssize_t const n =
            ::pread(fd, text.data() + used, text.size() - used, static_cast<off_t>(used));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            file_text failed = system_failure();
            secret_text const wiped{std::move(text)};
            return failed;
        }
        used += static_cast<std::size_t>(n);
        if (n == 0 || used == text.size())
            break;
    }
    bool const fits = used <= size;
    text.resize(used);
    secret_text whole{std::move(text)};
    if (fits)
        return {.text = std::move(whole)};
    if (size < size_max)
        return read_all(fd, size_max, size_max); // Once more, from the beginning.
    return {.text = {}, .fault = file_fault::too_large, .size_max = size_max};
}

} // namespace

file_text read_file(std::string const& path, file_opener const& opener, std::size_t size_max)
{
    // NONBLOCK: opening a FIFO would wait for its writer.
    constexpr int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    file_opening const opened = open_or_ask(path, flags, opener);
    int const fd = opened.fd.get();
    if (!opened.fd)
        return {
            .text = {},
            .fault = file_fault::error,
            .reason = opened.reason,
            .refusal = opened.refusal};
    struct stat facts = {};
    if (::fstat(fd, &facts) != 0)
        return system_failure();
    if (S_ISDIR(facts.st_mode))
        return {.text = {}, .fault = file_fault::is_directory};
    if (!S_ISREG(facts.st_mode))
        return {.text = {}, .fault = file_fault::not_a_regular_file};
    if (facts.st_size > static_cast<off_t>(size_max))
        return {.text = {}, .fault = file_fault::too_large, .size_max = size_max};
    file_text whole = read_all(fd, static_cast<std::size_t>(facts.st_size), size_max);
    whole.stamp = stamp_of(facts_from(facts));
    return whole;
}

file_stamp stamp_of(std::string const& path, std::time_t now) noexcept
{
    struct stat facts = {};
    return ::stat(path.c_str(), &facts) == 0 ? stamp_of(facts_from(facts), now) : 0;
}

file_stamp stamp_of(file_facts const& facts, std::time_t now) noexcept
{
    if (facts.inode == 0 || std::max(facts.modified_s, facts.changed_s) + clock_step >= now)
        return 0;
    file_stamp hash = 14695981039346656037U; // FNV-1a, eight bytes at a time.
    for (auto const part :
         {facts.inode, facts.size, static_cast<file_stamp>(facts.modified_s),
          static_cast<file_stamp>(facts.modified_ns), static_cast<file_stamp>(facts.changed_s),
          static_cast<file_stamp>(facts.changed_ns)}) {
        hash = (hash ^ part) * 1099511628211U;
        hash ^= hash >> 32U;
    }
    return hash == 0 ? 1 : hash;
}

std::string description(file_text const& failed, std::string_view path)
{
    switch (failed.fault) {
    case file_fault::is_directory:
        return fmt::format("{} is a directory", path);
    case file_fault::not_a_regular_file:
        return fmt::format("{} is a FIFO, a socket or a device", path);
    case file_fault::too_large:
        return fmt::format("{} is larger than {} MiB", path, failed.size_max >> 20U);
    case file_fault::none:
    case file_fault::error:
        break;
    }
    std::string text = fmt::format("cannot read {}: {}", path, failed.reason.message());
    return failed.refusal.empty() ? text : text + ": " + failed.refusal;
}

std::string_view cure(file_text const& failed) noexcept
{
    switch (failed.fault) {
    case file_fault::is_directory:
        return "Name a file. A directory of certificates is for pem-dir.";
    case file_fault::not_a_regular_file:
        return "Copy what it gives into a file.";
    case file_fault::too_large:
        return "A PEM file of a certificate, its chain and its key is far smaller.";
    case file_fault::none:
    case file_fault::error:
        break;
    }
    if (failed.reason == boost::system::errc::too_many_files_open)
        return "Raise the limit of open files: see `ulimit -n`.";
    if (may_pass(failed))
        return "The machine is out of memory or descriptors: see what uses them.";
    if (!failed.refusal.empty())
        return "Make the path root's alone, or let the user that cleat runs as read the file.";
    return "Check the path and who may read it.";
}

bool may_pass(file_text const& failed) noexcept
{
    return failed.fault == file_fault::error &&
           (is_out_of_resources(failed.reason) ||
            failed.reason == boost::system::errc::interrupted ||
            failed.reason == boost::system::errc::resource_unavailable_try_again);
}

} // namespace cleat::tls
