#include "lines/lines_record.hpp"
#include "lines/lines_run.hpp"
#include "report/program.hpp"
#include "report/recorder_file.hpp"
#include "standard_error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <system_error>
#include <thread>

namespace cleat::locks {
namespace {

namespace fs = std::filesystem;

constexpr char const* lines_recorder = "libcleat-lines.so";

fs::path file_for(lines_run_request const& request)
{
    fs::path const file = fs::absolute(
        request.file.empty()
            ? fs::path{fs::path{request.command.front()}.filename().string() + ".lines"}
            : request.file);
    std::error_code ec;
    if (fs::exists(file, ec))
        throw std::runtime_error{
            fmt::format("{} exists: remove it, or name another file with -o", file.string())};
    return file;
}

// The recorder is a part of the program, which may not find it by itself.
void prepare_lines(fs::path const& file)
{
    std::string folders = recorder_file(lines_recorder).parent_path().string();
    if (char const* const before = std::getenv("LD_LIBRARY_PATH"); before && *before != '\0')
        folders += fmt::format(":{}", before);
    for (auto const& [name, value] :
         {std::pair{"LD_LIBRARY_PATH", folders}, std::pair{"CLEAT_LINES_FILE", file.string()}})
        if (::setenv(name, value.c_str(), 1) != 0)
            throw std::runtime_error{
                fmt::format("{}: {}", name, std::generic_category().message(errno))};
}

int watch_lines(lines_run_request const& request, fs::path const& file)
{
    int code = 0;
    std::optional<window_edge> missed;
    {
        pid_t const program = start_program(request.command);
        std::jthread const marker{[&](std::stop_token const& stop) {
            try {
                missed = mark_at(request.window, stop, [&](window_edge edge) {
                    set_counting(file, edge == window_edge::begin);
                });
            } catch (std::exception const& e) {
                complain("cleat-locks: the window was not marked: {}\n", e.what());
            }
        }};
        code = exit_code(wait_for_program(program).wait_status);
    }
    if (missed)
        complain(
            "cleat-locks: warning: {} ended before --{}: {}\n", request.command.front(),
            *missed == window_edge::begin ? "from" : "to",
            *missed == window_edge::begin ? "nothing was counted"
                                          : "the record ends with the program");
    return code;
}

} // namespace

int run_with_lines(lines_run_request const& request)
{
    static_cast<void>(program_file(request.command.front()));
    fs::path const file = file_for(request);
    make_lines_file(file, !request.waits && !request.window.from);
    int code = 0;
    bool is_recorded = false;
    try {
        prepare_lines(file);
        code = watch_lines(request, file);
        is_recorded = read_lines(file).pid != 0;
    } catch (...) {
        std::error_code ec;
        fs::remove(file, ec);
        throw;
    }
    if (!is_recorded) {
        std::error_code ec;
        fs::remove(file, ec);
        throw std::runtime_error{fmt::format(
            "{} ended with exit code {}, and nothing was recorded: it is not linked with {}. "
            "`cleat-locks lines-flags` shows how to build it",
            request.command.front(), code, lines_recorder)};
    }
    std::string const shown =
        request.file.empty() ? file.filename().string() : request.file.string();
    complain("cleat-locks: recorded into {0}; read it with: cleat-locks lines-report {0}\n", shown);
    return code;
}

std::string lines_flags()
{
    std::string const folder = recorder_file(lines_recorder).parent_path().string();
    return fmt::format(
        "compile: -fsanitize=thread -g -O2\n"
        "link:    -L{0} -lcleat-lines -Wl,-rpath,{0}   (and without -fsanitize=thread)\n",
        folder);
}

} // namespace cleat::locks
