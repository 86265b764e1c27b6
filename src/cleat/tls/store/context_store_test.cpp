// Handshakes whose certificate comes from a store.

#include <cleat/core/temporary_folder_for_tests.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/certificates/ocsp_statement_for_tests.hpp>
#include <cleat/tls/engine.hpp>
#include <cleat/tls/stapling_client_for_tests.hpp>
#include <cleat/tls/store/certificate_loader.hpp>
#include <cleat/tls/store/certificate_set.hpp>
#include <cleat/tls/store/certificate_table.hpp>

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace cleat::tls::context_store_test {
namespace {

using octet_list = std::vector<std::byte>;

/// A store with the sites one.example, which is the default, and two.example and three.example.
struct sites
{
    sites()
    {
        for (std::string const name : {"three", "two", "one"}) {
            test_identity const made = make_identity(
                {.names = {name + ".example"}, .common_name = name, .issuer = &issuer});
            folder.write(name + ".pem", made.certificate_pem + made.key_pem);
            certificate_paths const paths{name + ".pem", ""};
            certificate_on_disk const found =
                read_from_disk(table.library(), paths, folder.path(), warnings);
            last = store.add(
                {.paths = paths, .summary = summary_of(found), .names = found.read.names});
            set.add(last, {});
        }
        set.set_default(last);
    }

    [[nodiscard]] certificate_table::loaded load(certificate_store::number wanted) const
    {
        return std::make_shared<certificate const>(
            load_certificate(table.library(), store, wanted));
    }

    [[nodiscard]] file_digest const& digest(certificate_store::number number) const
    {
        return store.summary(number).digest;
    }
    void insert(certificate_store::number number) { table.insert(digest(number), load(number)); }

    // OpenSSL 4 sends no OCSP response for a certificate that signed itself.
    test_identity issuer = make_identity({.common_name = "issuer", .authority = true});
    temporary_folder folder;
    certificate_store store{folder.path()};
    certificate_set set{store};
    certificate_table table{1};
    std::vector<std::string> warnings;
    certificate_store::number last = 0;
};

context_spec server_spec(std::string const& groups = "X25519:P-256:P-384")
{
    context_spec spec;
    spec.role = role::server;
    spec.groups = groups;
    return spec;
}

context client_of(std::string const& name)
{
    context_spec spec;
    spec.role = role::client;
    spec.server_name = name;
    spec.groups = "X25519:P-256:P-384";
    return context{spec};
}

/// A client and a server, and the bytes between them.
struct conversation
{
    conversation(context const& server_context, std::string const& name)
        : client_context{client_of(name)}, server{server_context}, client{client_context}
    {
    }

    static step turn(engine& side, octet_list& received, octet_list& sent)
    {
        std::array<std::byte, 65536> block; // NOLINT: filled by the engine
        wire w{received, block, false};
        step const s = side.handshake(w);
        received.erase(received.begin(), received.end() - static_cast<std::ptrdiff_t>(w.in.size()));
        sent.insert(
            sent.end(), block.begin(), block.end() - static_cast<std::ptrdiff_t>(w.out.size()));
        return s;
    }

    // Goes on until the server waits for a certificate, or has ended its handshake.
    step go_on()
    {
        for (int i = 0; i < 10; ++i) {
            failed = turn(client, to_client, to_server).error;
            step const s = turn(server, to_server, to_client);
            if (s.error)
                failed = turn(client, to_client, to_server).error;
            if (s.error || s.next == want::certificate || s.next == want::nothing)
                return s;
        }
        FAIL("no end");
        return {};
    }

    context client_context;
    engine server;
    engine client;
    octet_list to_server;
    octet_list to_client;
    error_code failed; // The client's.
};

} // namespace

TEST_CASE_FIXTURE(sites, "the default certificate is loaded, and no other")
{
    context const server{server_spec(), set, table};
    conversation defaulted{server, "one.example"};
    CHECK(defaulted.go_on().next == want::nothing);
    CHECK(defaulted.client.peer_common_name() == "one");
    conversation unknown{server, "four.example"};
    CHECK(unknown.go_on().next == want::nothing);
    CHECK(unknown.client.peer_common_name() == "one");
    CHECK(table.size() == 0);
}

TEST_CASE_FIXTURE(sites, "a handshake waits for its certificate, and goes on with it")
{
    context const server{server_spec(), set, table};
    conversation c{server, "two.example"};
    step const waiting = c.go_on();
    CHECK(waiting.next == want::certificate);
    CHECK_FALSE(waiting.error);
    CHECK(c.to_client.empty());
    certificate_request& request = *c.server.wanted_certificate();
    CHECK(request.wanted == 1);
    // It still waits where it is called too early.
    CHECK(c.go_on().next == want::certificate);

    request.provided = load(request.wanted);
    CHECK(c.go_on().next == want::nothing);
    CHECK(c.client.peer_common_name() == "two");
    CHECK(c.server.own_certificate().key == "EC256");
    CHECK(request.wanted == certificate_request::none);
    CHECK(request.served == 1);
}

TEST_CASE_FIXTURE(
    sites, "a certificate in the table is served at once, and one that it dropped not")
{
    context const server{server_spec(), set, table};
    insert(1);
    conversation first{server, "two.example"};
    CHECK(first.go_on().next == want::nothing);
    CHECK(first.client.peer_common_name() == "two");
    insert(0);
    conversation second{server, "two.example"};
    CHECK(second.go_on().next == want::certificate);
}

TEST_CASE_FIXTURE(sites, "a certificate that the table drops during the handshake is served")
{
    context const server{server_spec(), set, table};
    conversation c{server, "two.example"};
    CHECK(c.go_on().next == want::certificate);
    c.server.wanted_certificate()->provided = load(1);
    table.insert(digest(1), c.server.wanted_certificate()->provided);
    insert(0);
    CHECK(table.find(digest(1)) == nullptr);
    CHECK(c.go_on().next == want::nothing);
    CHECK(c.client.peer_common_name() == "two");
}

TEST_CASE_FIXTURE(sites, "a certificate that cannot be loaded ends the handshake with its reason")
{
    context const server{server_spec(), set, table};
    conversation c{server, "three.example"};
    CHECK(c.go_on().next == want::certificate);
    c.server.wanted_certificate()->refusal = "cannot read three.pem";
    CHECK(c.go_on().error == error::certificate_unavailable);
    CHECK(c.server.failure().reason == "cannot read three.pem");
    CHECK(c.server.info().server_name == "three.example");
    CHECK(c.failed == error::peer_alert);
    CHECK(c.client.failure().peer_alert == 80); // internal_error (RFC 8446, section 6)
}

TEST_CASE_FIXTURE(sites, "an unknown name is refused where it is to be")
{
    context_spec spec = server_spec();
    spec.refuse_unknown_names = true;
    context const server{spec, set, table};
    conversation c{server, "four.example"};
    CHECK(c.go_on().error == error::unknown_name);
    CHECK(c.client.failure().peer_alert == 112); // unrecognized_name (RFC 6066, section 3)
}

TEST_CASE_FIXTURE(sites, "a certificate is asked for once where the client has to try again")
{
    // The client's key share is for X25519: the server answers with a HelloRetryRequest.
    context const server{server_spec("P-384"), set, table};
    conversation c{server, "two.example"};
    int waits = 0;
    step s = c.go_on();
    for (; s.next == want::certificate && waits < 10; s = c.go_on(), ++waits)
        c.server.wanted_certificate()->provided = load(1);
    CHECK(s.next == want::nothing);
    CHECK_FALSE(s.error);
    CHECK(waits == 1);
    CHECK(c.client.peer_common_name() == "two");
    CHECK(c.server.info().group == "P-384");
    CHECK(c.server.wanted_certificate()->served == 1);
}

TEST_CASE_FIXTURE(
    sites, "a context for changed certificates serves what is loaded, and the changes")
{
    context const before{server_spec(), set, table};
    insert(1);
    store.seal();
    set.seal();
    conversation waiting{before, "three.example"};
    CHECK(waiting.go_on().next == want::certificate);

    // three.example is renewed, and a name is added.
    certificate_store next_store{store};
    certificate_set next_set{set, next_store, nullptr};
    test_identity const renewed =
        make_identity({.names = {"three.example", "four.example"}, .common_name = "renewed"});
    folder.write("renewed.pem", renewed.certificate_pem + renewed.key_pem);
    certificate_on_disk const found =
        read_from_disk(table.library(), {"renewed.pem", ""}, folder.path(), warnings);
    next_set.remove(0);
    next_store.remove(0);
    next_set.add(
        next_store.add(
            {.paths = {"renewed.pem", ""},
             .summary = summary_of(found),
             .names = found.read.names}),
        {});
    next_set.set_default(last);
    next_store.seal();
    next_set.seal();

    context const after{before, next_set};
    conversation same{after, "two.example"};
    CHECK(same.go_on().next == want::nothing);
    CHECK(same.client.peer_common_name() == "two");
    for (char const* name : {"three.example", "four.example"}) {
        conversation changed{after, name};
        CHECK(changed.go_on().next == want::certificate);
        certificate_request& request = *changed.server.wanted_certificate();
        request.provided = std::make_shared<certificate const>(
            load_certificate(table.library(), *request.store, request.wanted));
        CHECK(changed.go_on().next == want::nothing);
        CHECK(changed.client.peer_common_name() == "renewed");
    }
    conversation defaulted{after, "five.example"};
    CHECK(defaulted.go_on().next == want::nothing);
    CHECK(defaulted.client.peer_common_name() == "one");

    // A connection keeps the certificates that it began with.
    waiting.server.wanted_certificate()->provided = load(0);
    CHECK(waiting.go_on().next == want::nothing);
    CHECK(waiting.client.peer_common_name() == "three");
}

TEST_CASE_FIXTURE(sites, "a handshake may end while it waits")
{
    context const server{server_spec(), set, table};
    auto c = std::make_unique<conversation>(server, "two.example");
    CHECK(c->go_on().next == want::certificate);
    c.reset();
    conversation other{server, "one.example"};
    CHECK(other.go_on().next == want::nothing);
}

namespace {

/// The sites, of which one.example, the default, and two.example have OCSP responses.
struct stapled_sites : sites
{
    void staple_until(std::chrono::system_clock::time_point next_update)
    {
        for (certificate_store::number const each : {last, certificate_store::number{1}}) {
            certificate_paths paths = store.paths(each);
            paths.ocsp_response = paths.chain + ".ocsp";
            certificate_on_disk found =
                read_from_disk(table.library(), paths, folder.path(), warnings);
            folder.write(
                paths.ocsp_response,
                ocsp_statement{.certificate = found.read.leaf.get(), .next_update = next_update}
                    .der());
            read_response_from_disk(table.library(), paths, folder.path(), found, warnings);
            responses.push_back(found.read.staple->der);
            certificate_store::number const stapled = store.add(
                {.paths = paths,
                 .source = 1, // Its names are this one's now.
                 .summary = summary_of(found),
                 .names = found.read.names,
                 .response_digest = found.response_digest});
            set.add(stapled, {});
            if (each == last)
                set.set_default(stapled);
        }
    }

    // The response that a client gets which asks for one.
    [[nodiscard]] std::string response_to(
        context const& server, std::string const& name, protocol_version version)
    {
        conversation c{server, name};
        SSL_set_max_proto_version(c.client.native_handle(), static_cast<std::uint16_t>(version));
        ask_for_ocsp(c.client.native_handle());
        for (step s = c.go_on(); s.next == want::certificate; s = c.go_on()) {
            certificate_request& request = *c.server.wanted_certificate();
            request.provided = load(request.wanted);
        }
        CHECK_FALSE(conversation::turn(c.client, c.to_client, c.to_server).error);
        CHECK(c.client.info().cipher != "");
        return received_ocsp(c.client.native_handle());
    }

    std::chrono::system_clock::time_point const now = std::chrono::system_clock::now();
    std::vector<std::string> responses;
};

constexpr std::array both_versions{protocol_version::tls_1_2, protocol_version::tls_1_3};

} // namespace

TEST_CASE_FIXTURE(stapled_sites, "a client gets the response of its certificate, or none")
{
    staple_until(now + std::chrono::hours{1});
    context const server{server_spec(), set, table};
    for (protocol_version const version : both_versions) {
        CHECK(response_to(server, "one.example", version) == responses.at(0));
        CHECK(response_to(server, "two.example", version) == responses.at(1));
        CHECK(response_to(server, "three.example", version).empty());
        CHECK(response_to(server, "four.example", version) == responses.at(0));
    }
}

TEST_CASE_FIXTURE(stapled_sites, "a stale response is not sent")
{
    staple_until(now - std::chrono::minutes{1});
    REQUIRE(warnings.size() == 2);
    context const server{server_spec(), set, table};
    for (protocol_version const version : both_versions)
        for (char const* name : {"one.example", "two.example"})
            CHECK(response_to(server, name, version).empty());
}

TEST_CASE_FIXTURE(stapled_sites, "a client that does not ask gets no response")
{
    staple_until(now + std::chrono::hours{1});
    context const server{server_spec(), set, table};
    conversation c{server, "one.example"};
    CHECK(c.go_on().next == want::nothing);
    CHECK(received_ocsp(c.client.native_handle()).empty());
}

} // namespace cleat::tls::context_store_test
