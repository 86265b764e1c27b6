#include "command_line/command.hpp"
#include "privileged/opener_service.hpp"

#include <cleat/core/temporary_folder_for_tests.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cerrno>
#include <climits>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cleat::app::opener_service_test {
namespace {

using kind = opener_request::kind;

// cleat was started with `--config /etc/cleat.conf`, in a file system of the test's own.
struct service_fixture
{
    service_fixture()
    {
        folder.write("keys/one.pem", "one");
        folder.write("keys/two.pem", "two");
        folder.write("etc/shadow", "secret");
        configure("pem-file = \"/keys/one.pem\"\n");
        for (char const* each : {"", "keys", "etc"})
            REQUIRE(::chmod((folder.path() / each).c_str(), 0755) == 0);
        start.settings.file = "/etc/cleat.conf";
        start.command_line = {"cleat", "--config", "/etc/cleat.conf"};
    }

    void configure(std::string const& text) const
    {
        folder.write("etc/new", text);
        std::filesystem::rename(folder.path() / "etc/new", folder.path() / "etc/cleat.conf");
    }

    [[nodiscard]] trusted_paths paths() const
    {
        return trusted_paths{
            unique_fd{::open(folder.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)},
            ::geteuid()};
    }

    static opener_service::reply ask(opener_service& service, std::string bytes, int fd = -1)
    {
        descriptor_message message{.bytes = std::move(bytes)};
        if (fd >= 0)
            message.fds.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
        return service.serve_one(message);
    }

    static std::string read(opener_service& service, std::string const& path)
    {
        opener_service::reply const got = ask(service, "f" + path);
        if (!got.fd)
            return got.answer.text;
        std::string text(100, '\0');
        ssize_t const size = ::read(got.fd.get(), text.data(), text.size());
        text.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
        return text;
    }

    temporary_folder folder;
    serve start;
};

bind_address local_port(std::uint16_t port)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address_from(reinterpret_cast<sockaddr const&>(address), sizeof address).value();
}

} // namespace

TEST_CASE_FIXTURE(service_fixture, "a file that the configuration names is handed over")
{
    opener_service service{start, "/", paths()};
    CHECK(read(service, "/keys/one.pem") == "one");
    CHECK(read(service, "/etc/cleat.conf") == "pem-file = \"/keys/one.pem\"\n");
}

TEST_CASE_FIXTURE(service_fixture, "any other file is refused without a look at it")
{
    opener_service service{start, "/", paths()};
    for (char const* path : {"/etc/shadow", "/keys/two.pem", "/keys/none.pem"}) {
        opener_service::reply const got = ask(service, std::string{"f"} + path);
        CHECK_FALSE(got.fd);
        CHECK(got.answer.error == EACCES);
        CHECK(got.answer.text == std::string{"the configuration on disk does not name "} + path);
    }
    CHECK_FALSE(ask(service, "l/keys/one.pem").fd);
    CHECK_FALSE(ask(service, "d/keys").fd);
}

TEST_CASE_FIXTURE(service_fixture, "a file that the configuration names is watched in its folder")
{
    opener_service service{start, "/", paths()};
    unique_fd const inotify{::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
    opener_service::reply const got = ask(service, "w/keys/one.pem", inotify.get());
    CHECK(got.answer.error == 0);
    CHECK(got.answer.text == "1/one.pem/"); // The kernel counts from there.
    CHECK_FALSE(got.fd);
    std::ofstream{folder.path() / "keys/one.pem"} << "renewed";
    std::array<char, sizeof(inotify_event) + NAME_MAX + 1> events{};
    CHECK(::read(inotify.get(), events.data(), events.size()) > 0);

    for (char const* other : {"w/", "w/keys", "w/keys/two.pem", "w/keys/../etc/shadow"})
        CHECK_MESSAGE(ask(service, other, inotify.get()).answer.error == EACCES, other);
    unique_fd const file{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    CHECK(ask(service, "w/keys/one.pem", file.get()).answer.error == EINVAL);
    CHECK(ask(service, "w/keys/one.pem").answer.error == EINVAL);
}

TEST_CASE_FIXTURE(service_fixture, "files of a pem-dir are looked at, and no others")
{
    configure("pem-dir = \"/keys\"\npem-dir-glob = \"*.pem\"\n");
    folder.write("keys/note.txt", "");
    std::filesystem::create_symlink("one.pem", folder.path() / "keys/link.pem");
    opener_service service{start, "/", paths()};
    auto const look = [&](std::string const& path, std::vector<std::string> const& names) {
        return ask(service, encode({kind::look, path, {}, names}).value()).answer;
    };

    opener_answer const got = look("/keys", {"two.pem", "gone.pem", "link.pem", "one.pem"});
    REQUIRE(got.error == 0);
    std::vector<tls::file_facts> const facts = decode_facts(got.text).value();
    REQUIRE(facts.size() == 4);
    struct stat expected = {};
    REQUIRE(::stat((folder.path() / "keys/two.pem").c_str(), &expected) == 0);
    CHECK(facts[0].inode == expected.st_ino);
    CHECK(facts[0].size == 3);
    CHECK(facts[0].changed_ns == expected.st_ctim.tv_nsec);
    CHECK(facts[1].inode == 0);
    CHECK(facts[2].inode == 0);
    CHECK(facts[3].inode != facts[0].inode);

    for (auto const& [path, name] :
         {std::pair{"/keys", "note.txt"}, {"/etc", "shadow"}, {"/", "one.pem"}})
        CHECK(look(path, {"one.pem", name}).error == EACCES);
}

TEST_CASE_FIXTURE(service_fixture, "the configuration counts as it is on disk now")
{
    opener_service service{start, "/", paths()};
    configure("pem-file = \"/keys/two.pem\"\n");
    CHECK(read(service, "/keys/two.pem") == "two");
    CHECK(read(service, "/keys/one.pem") == "one"); // Connections may still need it.
}

TEST_CASE_FIXTURE(service_fixture, "a configuration with a mistake names nothing new")
{
    opener_service service{start, "/", paths()};
    configure("pem-file = \"/keys/two.pem\"\nno-such-key = 1\n");
    CHECK(read(service, "/keys/one.pem") == "one");
    std::string const why = read(service, "/keys/two.pem");
    CHECK_MESSAGE(why.find("as far as it can be used: /etc/cleat.conf:2:1") != why.npos, why);
    configure("pem-file = \"/keys/two.pem\"\n");
    CHECK(read(service, "/keys/two.pem") == "two");
}

TEST_CASE_FIXTURE(service_fixture, "a configuration that others may write to names nothing")
{
    REQUIRE(::chmod((folder.path() / "etc/cleat.conf").c_str(), 0666) == 0);
    opener_service service{start, "/", paths()};
    std::string const why = read(service, "/keys/one.pem");
    CHECK_MESSAGE(why.find("other users than root may write to /etc/cleat.conf") != why.npos, why);
    REQUIRE(::chmod((folder.path() / "etc/cleat.conf").c_str(), 0644) == 0);
    CHECK(read(service, "/keys/one.pem") == "one");
    REQUIRE(::chmod((folder.path() / "etc").c_str(), 0777) == 0);
    configure("pem-file = \"/keys/two.pem\"\n");
    CHECK(read(service, "/keys/two.pem").find("the folder /etc") != std::string::npos);
}

TEST_CASE_FIXTURE(service_fixture, "the words of the command line need no configuration file")
{
    start = {};
    pem_file& named = start.settings.pem_files.emplace_back();
    named.cert.value = "keys/one.pem";
    opener_service service{start, "/", paths()};
    CHECK(read(service, "/keys/one.pem") == "one");
    CHECK(read(service, "/etc/cleat.conf") != "pem-file = \"/keys/one.pem\"\n");
}

TEST_CASE_FIXTURE(service_fixture, "what is no request gets an answer, and nothing else")
{
    using namespace std::string_literals;
    opener_service service{start, "/", paths()};
    for (std::string const& bytes :
         {""s, "f"s, "fkeys/one.pem"s, "f/keys/one.pem\0"s, "f/keys/one.pem\0/x"s,
          "?/keys/one.pem"s, "p"s, std::string(request_max + 1, 'f')}) {
        opener_service::reply const got = ask(service, bytes);
        CHECK(got.answer.error == EINVAL);
        CHECK_FALSE(got.fd);
    }
    unique_fd const extra{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    CHECK(ask(service, "f/keys/one.pem", extra.get()).answer.error == EINVAL);
    opener_service::reply const cut = service.serve_one({.bytes = "f/keys", .is_whole = false});
    CHECK(cut.answer.error == EMSGSIZE);
}

TEST_CASE_FIXTURE(service_fixture, "a TCP socket is bound to a frontend's address, and to no other")
{
    configure("frontend = \"[127.0.0.1]:0\"\npem-file = \"/keys/one.pem\"\n");
    opener_service service{start, "/", paths()};
    unique_fd const socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    std::string const other = encode({kind::port, {}, local_port(22)}).value();
    CHECK(ask(service, other, socket.get()).answer.error == EACCES);

    std::string const named = encode({kind::port, {}, local_port(0)}).value();
    CHECK(ask(service, named).answer.error == EINVAL); // There is no socket.
    unique_fd const datagrams{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    unique_fd const file{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    unique_fd const of_unix{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    for (unique_fd const* const each : {&datagrams, &file, &of_unix})
        CHECK(ask(service, named, each->get()).answer.text == "this is no TCP socket");

    CHECK(ask(service, named, socket.get()).answer.error == 0);
    CHECK(::listen(socket.get(), 1) == 0);
    CHECK(ask(service, named, socket.get()).answer.error == EINVAL); // It is bound already.
}

} // namespace cleat::app::opener_service_test
