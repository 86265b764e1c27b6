#include "report/shrink.hpp"
#include "report/trace_files.hpp"

#include <fmt/format.h>

#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace cleat::locks {
namespace {

namespace fs = std::filesystem;

// give_back punches holes where the file system has allocated space that was never written. Pages
// that were only read are in the kernel's cache, and count as written until they leave it.
void give_back(int file)
{
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    off_t const end = ::lseek(file, 0, SEEK_END);
    for (off_t hole = 0; hole < end;) {
        off_t data = ::lseek(file, hole, SEEK_DATA);
        if (data < 0)
            data = end; // There is no more.
        if (data > hole)
            ::fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, hole, data - hole);
        hole = data < end ? ::lseek(file, data, SEEK_HOLE) : end;
        if (hole <= data)
            return;
    }
}

} // namespace

void shrink_ended(fs::path const& folder)
{
    std::error_code ec;
    for (fs::path const& each : trace_files(folder, ec)) {
        if (fs::exists(fmt::format("/proc/{}", parse_trace_name(each).pid)))
            continue;
        int const file = ::open(each.c_str(), O_RDWR | O_CLOEXEC);
        if (file < 0)
            continue;
        give_back(file);
        ::close(file);
    }
}

} // namespace cleat::locks
