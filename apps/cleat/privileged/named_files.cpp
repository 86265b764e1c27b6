#include "command_line/command.hpp"
#include "command_line/command_line.hpp"
#include "privileged/named_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

namespace cleat::app {
namespace {

bool is_same(timespec const& a, timespec const& b) noexcept
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

} // namespace

named_files::named_files(serve const& start, std::string folder, trusted_paths const& paths)
    : start_{start}, folder_{std::move(folder)}, paths_{paths}
{
    // Words and standard input are root's, and do not change.
    if (start_.settings.file.empty() || start_.settings.file == "-")
        keep(permissions{start_.settings, folder_});
    else
        read_again();
}

bool named_files::allows(std::function<bool(permissions const&)> const& is_allowed)
{
    if (!start_.settings.file.empty() && start_.settings.file != "-")
        read_again();
    return std::ranges::any_of(readings_, is_allowed);
}

void named_files::read_again()
{
    fault_.clear();
    file_opening file = paths_.open_own_file(absolute_path(folder_, start_.settings.file));
    struct stat facts = {};
    if (!file.fd || ::fstat(file.fd.get(), &facts) != 0) {
        fault_ = fmt::format("cannot read {}: {}", start_.settings.file, to_string(file));
        last_ = {};
        return;
    }
    version const now{facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtim, facts.st_ctim};
    bool const is_known = now.device == last_.device && now.inode == last_.inode &&
                          now.size == last_.size && is_same(now.modified, last_.modified) &&
                          is_same(now.changed, last_.changed);
    if (!is_known) {
        last_ = now;
        parse(std::move(file.fd));
    }
    fault_ = parse_fault_;
}

void named_files::parse(unique_fd file)
{
    std::vector<char const*> words;
    for (std::string const& word : start_.command_line)
        words.push_back(word.c_str());
    command read = parse_command_line(
        words, [&](std::string const&) { return file_opening{std::move(file)}; });
    parse_fault_.clear();
    if (serve const* const wanted = std::get_if<serve>(&read))
        keep(permissions{wanted->settings, folder_});
    else if (refused const* const mistakes = std::get_if<refused>(&read))
        parse_fault_ = fmt::format(
            "{}: {}", to_string(mistakes->problems.front().where), mistakes->problems.front().text);
}

void named_files::keep(permissions made)
{
    readings_.push_front(std::move(made));
    if (readings_.size() > readings_max)
        readings_.pop_back();
}

} // namespace cleat::app
