#include "report/recorder_file.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace cleat::locks {

namespace fs = std::filesystem;

fs::path recorder_file(std::string_view name)
{
    fs::path const here = fs::read_symlink("/proc/self/exe").parent_path();
    for (std::string_view const folder : {CLEAT_LOCKS_FROM_BIN, "../lib/cleat"}) {
        fs::path const found = fs::weakly_canonical(here / folder / name);
        if (fs::exists(found))
            return found;
    }
    throw std::runtime_error{fmt::format(
        "{} is not there: it belongs into {}", name,
        fs::weakly_canonical(here / CLEAT_LOCKS_FROM_BIN).string())};
}

} // namespace cleat::locks
