// Certificates that answer challenges come from files as they are now, and reach connections that
// may have ended meanwhile.

#include "acme/challenge_maker.hpp"

#include <cleat/core/temporary_folder_for_tests.hpp>
#include <cleat/core/text_for_tests.hpp>
#include <cleat/net/task.hpp>
#include <cleat/net/worker.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string>

namespace cleat::app::challenge_maker_test {
namespace {

using namespace std::chrono_literals;

constexpr char const* name = "www.example.org";

struct scene
{
    [[nodiscard]] challenge question(char const* server_name = name) const
    {
        return {
            folder.path().string(), server_name, tls::protocol_version::tls_1_2,
            tls::protocol_version::tls_1_3};
    }

    [[nodiscard]] made_challenge make() const { return make_challenge(question(), {}); }

    temporary_folder folder;
    tls::test_identity identity = tls::make_identity({.names = {name}});
};

TEST_CASE("a certificate and its key come from two files, or from one")
{
    scene s;
    SUBCASE("two")
    {
        s.folder.write("www.example.org.crt.pem", s.identity.certificate_pem);
        s.folder.write("www.example.org.key.pem", s.identity.key_pem);
    }
    SUBCASE("one")
    {
        s.folder.write("www.example.org.pem", s.identity.certificate_pem + s.identity.key_pem);
    }
    made_challenge const made = s.make();
    CHECK(made.refusal.empty());
    CHECK(made.context != nullptr);
}

TEST_CASE("what is missing or wrong is named, with its file")
{
    scene s;
    std::string const place = s.folder.path().string() + "/www.example.org";
    CHECK(contains(s.make().refusal, "there is no " + place + ".crt.pem"));

    s.folder.write("www.example.org.crt.pem", s.identity.certificate_pem);
    CHECK(contains(s.make().refusal, "cannot read " + place + ".key.pem"));

    s.folder.write("www.example.org.key.pem", "nonsense");
    CHECK(contains(s.make().refusal, place));

    s.folder.write("www.example.org.key.pem", tls::make_identity({.names = {name}}).key_pem);
    CHECK(contains(s.make().refusal, place));

    s.folder.write("www.example.org.key.pem", s.identity.key_pem);
    CHECK(s.make().refusal.empty());
}

struct connection
{
    // The connection's wait, until the answer or its deadline.
    net::detached run()
    {
        net::interrupt interrupt{worker};
        interrupt.expires_in(patience, error::handshake_timeout);
        made_challenge made;
        ended = co_await challenge_arrival{maker, interrupt, files.question(), made};
        has_context = made.context != nullptr;
        worker.stop();
    }

    scene& files;
    std::chrono::milliseconds patience;
    net::worker worker{};
    challenge_maker maker{[] {}, {}};
    std::optional<error_code> ended{};
    bool has_context = false;
};

TEST_CASE("a connection waits for the certificate")
{
    scene s;
    s.folder.write("www.example.org.pem", s.identity.certificate_pem + s.identity.key_pem);
    connection c{s, 10s};
    c.run();
    CHECK_FALSE(c.ended);
    c.maker.serve();
    c.worker.run();
    CHECK(c.ended == error_code{});
    CHECK(c.has_context);
}

TEST_CASE("a connection whose deadline passes leaves, and the certificate comes too late")
{
    scene s;
    s.folder.write("www.example.org.pem", s.identity.certificate_pem + s.identity.key_pem);
    connection c{s, 1ms};
    c.run();
    c.worker.run();
    CHECK(c.ended == error::handshake_timeout);
    CHECK_FALSE(c.has_context);
    SUBCASE("it is made all the same, and dropped")
    {
        c.maker.serve();
    }
    SUBCASE("nobody makes it any more") {}
}

} // namespace
} // namespace cleat::app::challenge_maker_test
