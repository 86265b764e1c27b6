#include "report/trace_files.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>

namespace cleat::locks {

namespace fs = std::filesystem;

std::vector<fs::path> trace_files(fs::path const& folder, std::error_code& ec)
{
    std::vector<fs::path> found;
    fs::directory_iterator each{folder, ec};
    for (; !ec && each != fs::directory_iterator{}; each.increment(ec))
        if (each->path().extension() == ".trace")
            found.push_back(each->path());
    return found;
}

trace_name parse_trace_name(fs::path const& trace)
{
    std::string const name = trace.stem().string();
    char const* const end = name.data() + name.size();
    trace_name found;
    char const* const dot = std::from_chars(name.data(), end, found.pid).ptr;
    if (dot != end)
        std::from_chars(dot + 1, end, found.run);
    return found;
}

fs::path beside(fs::path const& trace, std::string_view extension)
{
    return fs::path{trace}.replace_extension(extension);
}

} // namespace cleat::locks
