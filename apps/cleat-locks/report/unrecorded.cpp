#include "report/recordable.hpp"
#include "report/unrecorded.hpp"
#include "report/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace cleat::locks {
namespace {

namespace fs = std::filesystem;

// whole_file is a file's text, up to the first error: a process may end while its file is read, and
// a stream's iterators throw then.
std::string whole_file(std::string const& name)
{
    std::string text;
    int const file = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return text;
    std::array<char, 16384> block{};
    for (ssize_t got = 0; (got = ::read(file, block.data(), block.size())) > 0;)
        text.append(block.data(), static_cast<std::size_t>(got));
    ::close(file);
    return text;
}

// listed is a process as the kernel lists it.
struct listed
{
    int parent = 0;
    std::uint64_t began = 0;
};

// parse_stat reads /proc/PID/stat. The name in it may have spaces and parentheses.
std::optional<listed> parse_stat(std::string_view text)
{
    constexpr int parent_field = 2; // After the name: the state, the parent.
    constexpr int began_field = 20;
    std::size_t const name_end = text.rfind(')');
    if (name_end == text.npos)
        return std::nullopt;
    text.remove_prefix(name_end + 1);
    listed found;
    for (int field = 1; field <= began_field; ++field) {
        text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
        std::string_view const word = text.substr(0, text.find(' '));
        text.remove_prefix(word.size());
        if (field == 1 && (word == "Z" || word == "X"))
            return std::nullopt; // It has ended.
        if (field == parent_field)
            std::from_chars(word.data(), word.data() + word.size(), found.parent);
        if (field == began_field)
            std::from_chars(word.data(), word.data() + word.size(), found.began);
    }
    return found;
}

std::map<int, listed> all_processes()
{
    std::map<int, listed> found;
    std::error_code ec;
    fs::directory_iterator each{"/proc", ec};
    for (; !ec && each != fs::directory_iterator{}; each.increment(ec)) {
        std::string const name = each->path().filename().string();
        int pid = 0;
        if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc{})
            continue;
        if (std::optional<listed> const one = parse_stat(whole_file(each->path() / "stat")))
            found.emplace(pid, *one);
    }
    return found;
}

bool descends(std::map<int, listed> const& all, int pid, int ancestor)
{
    std::size_t steps = all.size(); // The list is not of one moment: it may have a circle.
    for (auto each = all.find(pid); each != all.end() && steps-- != 0;
         each = all.find(each->second.parent))
        if (each->second.parent == ancestor)
            return true;
    return false;
}

// why says why the recorder is not in a process that runs.
std::string why(int pid)
{
    std::string const environment = whole_file(fmt::format("/proc/{}/environ", pid));
    constexpr std::string_view name = "LD_PRELOAD=";
    std::string_view left = environment;
    bool any = false;
    while (!left.empty()) {
        std::string_view const entry = left.substr(0, left.find('\0'));
        left.remove_prefix(std::min(entry.size() + 1, left.size()));
        if (!entry.starts_with(name) || entry.size() == name.size())
            continue;
        any = true;
        if (entry.find("libcleat-locks.so") != entry.npos)
            return why_not_recorded(
                fmt::format("/proc/{}/exe", pid),
                parse_surroundings(environment, whole_file(fmt::format("/proc/{}/limits", pid))));
    }
    return any ? "it was started with another LD_PRELOAD" : "it was started without LD_PRELOAD";
}

} // namespace

std::string text_of(std::vector<unrecorded_process> const& processes)
{
    std::string text;
    for (unrecorded_process const& each : processes)
        text += fmt::format("{}\t{}\t{}\n", each.pid, each.program, each.why);
    return text;
}

std::vector<unrecorded_process> parse_unrecorded(std::string_view text)
{
    std::vector<unrecorded_process> found;
    while (!text.empty()) {
        std::string_view const line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        std::size_t const first = line.find('\t');
        std::size_t const second = line.rfind('\t');
        unrecorded_process one;
        if (first == line.npos || first == second ||
            std::from_chars(line.data(), line.data() + first, one.pid).ec != std::errc{})
            continue;
        one.program = in_utf8(line.substr(first + 1, second - first - 1));
        one.why = in_utf8(line.substr(second + 1));
        found.push_back(std::move(one));
    }
    return found;
}

std::vector<unrecorded_process> read_unrecorded(fs::path const& folder)
{
    return parse_unrecorded(whole_file((folder / unrecorded_file).string()));
}

unrecorded_search::unrecorded_search(fs::path const& folder) : folder_{folder}
{
    std::error_code ec;
    folder_in_maps_ = " " + fs::canonical(folder, ec).string() + "/";
}

// A process with the recorder has its trace mapped, and one that has forked its parent's.
bool unrecorded_search::is_recorded(std::string const& maps) const
{
    return maps.find(folder_in_maps_) != maps.npos;
}

void unrecorded_search::look()
{
    std::map<int, listed> const all = all_processes();
    std::set<running> suspects;
    for (auto const& [pid, process] : all) {
        if (!descends(all, pid, ::getpid()))
            continue;
        std::error_code ec;
        fs::path const program = fs::read_symlink(fmt::format("/proc/{}/exe", pid), ec);
        std::string const maps = whole_file(fmt::format("/proc/{}/maps", pid));
        if (ec || maps.empty())
            continue;
        running one{pid, process.began, program.string()};
        if (is_recorded(maps)) {
            found_.erase(one);
            continue;
        }
        if (suspects_.contains(one) && !found_.contains(one)) {
            std::string name;
            std::getline(std::ifstream{fmt::format("/proc/{}/comm", pid)}, name);
            std::ranges::replace(name, '\t', ' ');
            found_.emplace(one, unrecorded_process{pid, in_utf8(name), why(pid)});
        }
        suspects.insert(std::move(one));
    }
    suspects_ = std::move(suspects);
}

void unrecorded_search::write() const
{
    std::error_code ec;
    if (found_.empty()) {
        fs::remove(folder_ / unrecorded_file, ec); // An earlier write may have named some.
        return;
    }
    std::vector<unrecorded_process> all;
    for (auto const& [program, process] : found_)
        all.push_back(process);
    fs::path const fresh = folder_ / "unrecorded.new";
    std::ofstream{fresh, std::ios::binary} << text_of(all);
    fs::rename(fresh, folder_ / unrecorded_file, ec);
}

} // namespace cleat::locks
