#include "command_line/command.hpp"
#include "privileged/opener.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

namespace cleat::app::opener_test {
namespace {

// A file of root's that everybody may read, and whose folders are root's everywhere.
constexpr char const* named = "/etc/passwd";

serve naming_a_file()
{
    serve start;
    start.settings.pem_files.emplace_back().cert.value = named;
    return start;
}

} // namespace

TEST_CASE("without a process nothing is opened, and nothing is asked")
{
    opener const none;
    CHECK(none.present_state() == opener::state::none);
    CHECK(none.native_handle() == -1);
    CHECK(is_denied(none.open_file(named).reason));
    CHECK(none.open_file(named).refusal.empty());
    CHECK_FALSE(none.for_files());
}

TEST_CASE("the process hands over what the command line names, and says why it hands over no more")
{
    serve const start = naming_a_file();
    opener const asked = opener::start(start, "/");
    CHECK(asked.present_state() == opener::state::serves);
    file_opening const opened = asked.open_file(named);
    REQUIRE_MESSAGE(opened.fd, to_string(opened));
    std::array<char, 5> text{};
    REQUIRE(::read(opened.fd.get(), text.data(), text.size()) == 5);
    CHECK(std::string(text.data(), 5) == "root:");

    file_opening const other = asked.open_file("/etc/shadow");
    CHECK_FALSE(other.fd);
    CHECK(is_denied(other.reason));
    CHECK(other.refusal == "the configuration on disk does not name /etc/shadow");
}

TEST_CASE("each of many threads gets the answer to its own question")
{
    serve const start = naming_a_file();
    opener const asked = opener::start(start, "/");
    std::atomic<int> wrong{0};
    {
        std::vector<std::jthread> threads;
        for (int number = 0; number < 12; ++number)
            threads.emplace_back([&, path = "/none/" + std::to_string(number)] {
                for (int i = 0; i < 50; ++i)
                    wrong += asked.open_file(path).refusal !=
                                 "the configuration on disk does not name " + path ||
                             !asked.open_file(named).fd;
            });
    }
    CHECK(wrong == 0);
}

TEST_CASE("a path that cannot be asked for is an error, and the process goes on")
{
    serve const start = naming_a_file();
    opener const asked = opener::start(start, "/");
    using namespace std::string_literals;
    for (std::string const& path : {"/etc/passwd\0x"s, "/" + std::string(5000, 'x')})
        CHECK(asked.open_file(path).reason == boost::system::errc::invalid_argument);
    CHECK(asked.open_file(named).fd);
    CHECK(asked.present_state() == opener::state::serves);
}

TEST_CASE("without a number for the descriptor one request fails, and the next one does not")
{
    serve const start = naming_a_file();
    opener const asked = opener::start(start, "/");
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    rlimit const none{1, before.rlim_max}; // poll(2) takes as many as this.
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    file_opening const refused = asked.open_file(named);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(refused.reason == boost::system::errc::too_many_files_open);
    CHECK(asked.present_state() == opener::state::serves);
    CHECK(asked.open_file(named).fd);
}

} // namespace cleat::app::opener_test
