#include "config/read_files.hpp"
#include "privileged/permissions.hpp"
#include "privileged/trusted_path.hpp"
#include "start/named_places.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/unique_fd.hpp>
#include <cleat/tls/store/file_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <ranges>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace cleat::app {
namespace {

// A file of client-verify that asks nobody is kept for later, and not read.
bool asks_a_client(config const& settings)
{
    auto const asks = [](auto const& one) {
        return one.client_verify && **one.client_verify != client_verify::none;
    };
    auto const one_asks = [&](std::vector<pem_file> const& pems) {
        return std::ranges::any_of(pems, asks);
    };
    return *settings.client_verify != client_verify::none || one_asks(settings.pem_files) ||
           std::ranges::any_of(own_settings_of(settings), [&](frontend_config const* each) {
               return asks(*each) || one_asks(each->pem_files);
           });
}

// Files and folders are opened alike. A FIFO does not wait for its writer.
error_code reading_fault(std::string const& path)
{
    unique_fd const fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
    return fd ? error_code{} : last_system_error();
}

// The files in each folder, too.
std::vector<file_place> with_files_in_folders(
    std::vector<file_place> const& places, bool is_recursive)
{
    namespace fs = std::filesystem;
    std::vector<file_place> all;
    for (file_place const& each : places) {
        all.push_back(each);
        std::error_code ec;
        for (fs::recursive_directory_iterator i{each.path, ec}, end; !ec && i != end;
             i.increment(ec)) {
            all.push_back({each.where, each.key, i->path().string()});
            if (!is_recursive)
                i.disable_recursion_pending();
        }
    }
    return all;
}

// The refusals of the process that opens root's files, and the places that each of them is for.
class later_refusals
{
public:
    later_refusals(config const& settings, std::vector<file_place> const& places)
        : folder_{std::filesystem::current_path().string()}, allowed_{settings, folder_}
    {
        for (std::size_t i = 0; i < places.size(); ++i)
            look(places[i].path, i);
        if (settings.file.empty() || settings.file == "-")
            return;
        // It reads the configuration before any file that this names.
        file_opening const own = paths_.open_own_file(absolute_path(folder_, settings.file));
        for (std::size_t i = 0; i < places.size(); ++i)
            note(own, i);
    }

    [[nodiscard]] auto const& all() const noexcept { return found_; }

private:
    // Not every file in a pem-dir is a certificate.
    void look(std::string const& path, std::size_t place)
    {
        std::error_code unknown;
        std::string const whole = absolute_path(folder_, path);
        std::size_t const below = allowed_.names_below(path);
        if (std::filesystem::is_directory(path, unknown)) {
            if (allowed_.may_list(path))
                note(paths_.open_folder(whole, below), place);
        } else if (allowed_.may_read(path))
            note(paths_.open_file(whole, below), place);
    }

    void note(file_opening const& opened, std::size_t place)
    {
        if (!opened.fd && opened.reason == boost::system::errc::permission_denied &&
            !opened.refusal.empty())
            found_[opened.refusal].push_back(place);
    }

    std::string folder_;
    permissions allowed_;
    trusted_paths paths_{unique_fd{::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)}};
    std::map<std::string, std::vector<std::size_t>> found_;
};

} // namespace

std::vector<file_place> file_places_of(config const& settings)
{
    bool const asks_clients = asks_a_client(settings);
    std::vector<file_place> found;
    for (read_file const& each : read_files_of(settings)) {
        bool const is_for_clients =
            each.use == file_use::verification || each.use == file_use::crls;
        bool const is_elsewhere =
            each.use == file_use::configuration || each.use == file_use::challenges;
        if (!is_elsewhere && (asks_clients || !is_for_clients))
            found.push_back({each.where, each.key, each.path});
    }
    return found;
}

std::vector<problem> problems_of_named_files(
    config const& partial, std::span<problem const> known, opener const& root_files)
{
    auto const is_flag = [](std::string const& source) { return source.starts_with('-'); };
    bool const has_wrong_flag =
        std::ranges::any_of(known, [&](problem const& each) { return is_flag(each.where.source); });
    bool const is_for_root = root_files.present_state() == opener::state::serves;
    std::vector<problem> found;
    for (file_place const& each : file_places_of(partial)) {
        error_code const why = reading_fault(each.path);
        if (is_for_root && why == boost::system::errc::permission_denied)
            continue;
        if (!why || (has_wrong_flag && each.where.line == 0 && !is_flag(each.where.source)))
            continue;
        tls::file_text const failed{.text = {}, .fault = tls::file_fault::error, .reason = why};
        found.push_back(
            {problem::severity::error, each.where, std::string{each.key},
             description(failed, each.path), std::string{cure(failed)}});
    }
    return found;
}

void find_places_refused_later(
    config const& settings, std::optional<identity> const& user, std::vector<problem>& problems)
{
    if (::geteuid() != 0 || !user || user->uid == 0 || !settings.chroot->empty())
        return;
    std::vector<file_place> const places =
        with_files_in_folders(file_places_of(settings), *settings.pem_dir_recursive);
    later_refusals const refusals{settings, places};
    for (auto const& [refusal, refused] : refusals.all()) {
        // Each question is a process: one finds out whether there is any, and some more which.
        auto const are_readable = [&, &refused = refused](std::size_t count) {
            return !run_as(*user, [&] {
                for (std::size_t const i : std::span{refused}.first(count))
                    if (error_code const ec = reading_fault(places[i].path))
                        return ec;
                return error_code{};
            });
        };
        if (are_readable(refused.size()))
            continue;
        auto const counts = std::views::iota(std::size_t{1}, refused.size());
        auto const first = std::ranges::partition_point(counts, are_readable);
        file_place const& place = places[refused[static_cast<std::size_t>(first - counts.begin())]];
        problems.push_back(
            {problem::severity::warning, place.where, std::string{place.key},
             fmt::format(
                 "no reload will read {}, which the user {} may not read: {}", place.path,
                 user->user, refusal),
             "Make the path root's alone, or let this user read the file."});
    }
}

} // namespace cleat::app
