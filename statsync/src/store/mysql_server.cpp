#include "core/failure.hpp"
#include "store/file.hpp"
#include "store/mysql_server.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace statsync {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds start_timeout{60};
constexpr std::chrono::milliseconds start_poll{50};

/// last_line: the end of the server's log, for a message.
std::string last_line(fs::path const& log)
{
    std::istringstream lines(fs::exists(log) ? read_file(log) : "");
    std::string last;
    for (std::string line; std::getline(lines, line);) {
        last = line.find("[ERROR]") != std::string::npos || last.empty() ? line : last;
    }
    return last;
}

/// become_server is what the child does between fork and exec.
[[noreturn]] void become_server(char const* program, char* const* arguments, pid_t parent)
{
    // Ctrl-C at the terminal ends statsync; then the server ends on its own, and in order.
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    int const nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(nothing, STDOUT_FILENO);
    ::dup2(nothing, STDERR_FILENO);
    if (::getppid() == parent) {
        ::execv(program, arguments);
    }
    ::_exit(127);
}

} // namespace

mysql_server::mysql_server(fs::path const& data)
{
    if (!fs::is_directory(data / "mysql") && !fs::is_directory(data / "amarok")) {
        throw failure(problem::unread, data.string() + ": it is no data directory");
    }
    start(data);
    try {
        wait_until_it_answers();
    } catch (...) {
        end();
        throw;
    }
}

mysql_server::~mysql_server()
{
    end();
}

mysql_address mysql_server::address() const
{
    return {"localhost", 0, (folder_ / "socket").string(), "root", "", ""};
}

fs::path mysql_server::program()
{
    std::string path = "/usr/sbin:/usr/local/sbin:/usr/libexec";
    if (char const* const variable = std::getenv("PATH")) {
        path = std::string(variable) + ":" + path;
    }
    std::istringstream folders(path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        fs::path const found = fs::path(folder) / "mariadbd";
        if (::access(found.c_str(), X_OK) == 0) {
            return found;
        }
    }
    return {};
}

void mysql_server::start(fs::path const& data)
{
    fs::path const server = program();
    if (server.empty()) {
        throw failure(
            problem::unread, "mariadbd is not installed; Amarok's own directory needs it");
    }
    // MySQL 8 cannot serve these directories, and no upgrade may touch them.
    std::vector<std::string> words{
        server.string(),
        "--no-defaults",
        "--datadir=" + fs::absolute(data).string(),
        "--socket=" + (folder_ / "socket").string(),
        "--pid-file=" + (folder_ / "pid").string(),
        "--log-error=" + (folder_ / "log").string(),
        "--skip-networking",
        "--skip-grant-tables",
        "--skip-innodb",
        "--default-storage-engine=MyISAM",
        "--default-tmp-storage-engine=MyISAM",
        "--myisam-recover-options=FORCE",
        "--character-set-server=utf8mb4",
        "--collation-server=utf8mb4_bin"};
    if (::geteuid() == 0) {
        words.push_back("--user=root");
    }
    std::vector<char*> arguments;
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);

    pid_t const parent = ::getpid();
    process_ = ::fork();
    if (process_ < 0) {
        throw failure(problem::unread, server.string() + ": " + std::strerror(errno));
    }
    if (process_ == 0) {
        become_server(server.c_str(), arguments.data(), parent);
    }
}

void mysql_server::wait_until_it_answers()
{
    auto const deadline = std::chrono::steady_clock::now() + start_timeout;
    while (std::chrono::steady_clock::now() < deadline) {
        if (::waitpid(process_, nullptr, WNOHANG) == process_) {
            process_ = -1;
            throw failure(
                problem::unread, "mariadbd ended at its start: " + last_line(folder_ / "log"));
        }
        if (fs::exists(folder_ / "socket")) {
            try {
                open_mysql(address());
                return;
            } catch (failure const&) {
                // The socket is there before the server answers.
            }
        }
        std::this_thread::sleep_for(start_poll);
    }
    throw failure(problem::unread, "mariadbd did not answer within 60 s");
}

void mysql_server::end()
{
    if (process_ < 0) {
        return;
    }
    ::kill(process_, SIGTERM);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
}

} // namespace statsync
