// The names of asio::ssl: a setting that is accepted takes effect, and any other is an error.

#include <cleat/core/temporary_folder_for_tests.hpp>
#include <cleat/net/handshakes_for_tests.hpp>
#include <cleat/net/ssl.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace asio = boost::asio;

namespace cleat::net::ssl_test {
namespace {

std::string file_with(
    temporary_folder const& folder, std::string const& name, std::string const& text)
{
    std::string const path = folder.path() / name;
    std::ofstream{path} << text;
    return path;
}

ssl::context serving(ssl::context::method method = ssl::context::sslv23)
{
    test_chain const& made = chain_for_tests();
    ssl::context context{method};
    context.use_certificate_chain(made.chain());
    context.use_private_key(made.leaf.key_pem, ssl::context::pem);
    return context;
}

ssl::context verifying(ssl::context::method method = ssl::context::sslv23)
{
    ssl::context context{method};
    context.add_certificate_authority(chain_for_tests().root.certificate_pem);
    context.set_verify_mode(ssl::verify_peer);
    return context;
}

outcome meet_each(ssl::context& server, ssl::context& client)
{
    return meet(static_cast<tls::context&>(server), static_cast<tls::context&>(client));
}

std::string version_of(ssl::context& server, ssl::context& client)
{
    std::string version;
    boost::asio::io_context io{1};
    auto ends = connected_pair(io);
    ssl::stream<plain_socket> one{std::move(ends.first), server};
    ssl::stream<plain_socket> other{std::move(ends.second), client};
    one.async_handshake(ssl::stream_base::server, [](error_code ec) { CHECK(!ec); });
    other.async_handshake(ssl::stream_base::client, [&](error_code ec) {
        CHECK(!ec);
        version = other.info().version;
    });
    io.run();
    return version;
}

TEST_CASE("old names of methods still work")
{
    for (auto const how :
         {ssl::context::sslv23, ssl::context::sslv23_server, ssl::context::tls_server}) {
        ssl::context server = serving(how);
        for (auto const other : {ssl::context::sslv23, ssl::context::sslv23_client}) {
            ssl::context client = verifying(other);
            CHECK(meet_each(server, client).both());
        }
    }
}

TEST_CASE("certificates, keys and authorities come from files and from memory")
{
    temporary_folder const folder;
    test_chain const& made = chain_for_tests();
    std::string const chain = file_with(folder, "chain.pem", made.chain());
    std::string const key = file_with(folder, "key.pem", made.leaf.key_pem);
    std::string const root = file_with(folder, "root.pem", made.root.certificate_pem);
    ssl::context from_files{ssl::context::tls_server};
    error_code ec = asio::error::fault;
    CHECK(!from_files.use_certificate_chain_file(chain, ec));
    CHECK(!ec);
    CHECK(!from_files.use_private_key_file(key, ssl::context::pem, ec));
    ssl::context client{ssl::context::tls_client};
    CHECK(!client.load_verify_file(root, ec));
    CHECK(!client.set_verify_mode(ssl::verify_peer, ec));
    CHECK(meet_each(from_files, client).both());

    ssl::context from_memory{ssl::context::tls_server};
    CHECK(!from_memory.use_certificate_chain(asio::buffer(made.chain()), ec));
    std::string const with_zero = made.leaf.key_pem + '\0'; // As of a literal.
    CHECK(!from_memory.use_private_key(asio::buffer(with_zero), ssl::context::pem, ec));
    ssl::context other{ssl::context::tls_client};
    CHECK(!other.add_certificate_authority(asio::buffer(made.root.certificate_pem), ec));
    other.set_verify_mode(ssl::verify_peer);
    CHECK(meet_each(from_memory, other).both());
}

TEST_CASE("a file that cannot be read is an error, returned or thrown")
{
    ssl::context context{ssl::context::tls_server};
    std::string const nowhere = "/nonexistent/site.pem";
    auto const none = boost::system::errc::no_such_file_or_directory;
    error_code ec;
    CHECK(context.use_certificate_chain_file(nowhere, ec) == none);
    CHECK(context.use_certificate_file(nowhere, ssl::context::pem, ec) == none);
    CHECK(context.use_private_key_file(nowhere, ssl::context::pem, ec) == none);
    CHECK(context.load_verify_file(nowhere, ec) == none);
    CHECK_THROWS_AS(context.use_certificate_chain_file(nowhere), boost::system::system_error);
    CHECK_THROWS_AS(
        context.use_certificate_file(nowhere, ssl::context::pem), boost::system::system_error);
    CHECK_THROWS_AS(
        context.use_private_key_file(nowhere, ssl::context::pem), boost::system::system_error);
    CHECK_THROWS_AS(context.load_verify_file(nowhere), boost::system::system_error);
}

TEST_CASE("a text that is no certificate and no key is refused in the call, by file and by reason")
{
    temporary_folder const folder;
    test_chain const& made = chain_for_tests();
    std::string const garbage = file_with(folder, "hostname", "a-machine\n");
    std::string const cut = file_with(folder, "cut.pem", made.leaf.certificate_pem.substr(0, 200));
    ssl::context context{ssl::context::tls_server};
    for (std::string const& path : {garbage, cut}) {
        CAPTURE(path);
        error_code ec;
        CHECK(context.use_certificate_chain_file(path, ec) == error::unusable_pem);
        CHECK(context.use_certificate_file(path, ssl::context::pem, ec) == error::unusable_pem);
        CHECK(context.use_private_key_file(path, ssl::context::pem, ec) == error::unusable_pem);
        CHECK(context.load_verify_file(path, ec) == error::unusable_pem);
        CHECK(ec == error::unusable_pem);
        CHECK_THROWS_AS(context.load_verify_file(path), boost::system::system_error);
        CHECK_THROWS_AS(
            context.use_private_key_file(path, ssl::context::pem), boost::system::system_error);
    }
    asio::const_buffer const text = asio::buffer("a-machine", 9);
    error_code ec;
    CHECK(context.use_certificate_chain(text, ec) == error::unusable_pem);
    CHECK(context.use_certificate(text, ssl::context::pem, ec) == error::unusable_pem);
    CHECK(context.use_private_key(text, ssl::context::pem, ec) == error::unusable_pem);
    CHECK(context.add_certificate_authority(text, ec) == error::unusable_pem);
    try {
        context.use_certificate_chain_file(cut);
        FAIL("a file that is cut short was accepted");
    } catch (boost::system::system_error const& e) {
        CHECK(e.code() == error::unusable_pem);
        std::string const what = e.what();
        CHECK(what.find("cut.pem: the CERTIFICATE that begins on line 1") != std::string::npos);
    }
}

TEST_CASE("a key that does not belong to its certificate is refused, whichever came first")
{
    test_chain const& made = chain_for_tests();
    tls::test_identity const other = tls::make_identity({.names = {"other.example"}});
    ssl::context context{ssl::context::tls_server};
    context.use_certificate_chain(made.chain());
    error_code ec;
    asio::const_buffer const wrong = asio::buffer(other.key_pem);
    CHECK(context.use_private_key(wrong, ssl::context::pem, ec) == error::key_mismatch);
    context.use_private_key(made.leaf.key_pem, ssl::context::pem); // Nothing was changed before.
    ssl::context client = verifying();
    CHECK(meet_each(context, client).both());

    ssl::context reversed{ssl::context::tls_server};
    CHECK(!reversed.use_private_key(wrong, ssl::context::pem, ec));
    CHECK(reversed.use_certificate_chain(asio::buffer(made.chain()), ec) == error::key_mismatch);
    CHECK(!reversed.use_certificate_chain(asio::buffer(other.certificate_pem), ec));
    CHECK(!reversed.check(ec));
}

TEST_CASE("a certificate after a complete pair begins another pair")
{
    test_chain const& made = chain_for_tests();
    tls::test_identity const rsa =
        tls::make_identity({.type = tls::key_type::rsa, .names = {"cleat.example"}});
    ssl::context both = serving();
    both.use_certificate_chain(rsa.certificate_pem);
    both.use_private_key(rsa.key_pem, ssl::context::pem);
    ssl::context client = verifying(); // It trusts the first pair's authority only.
    client.spec().server_name = "cleat.example";
    CHECK(meet_each(both, client).both());

    tls::test_identity const newer = tls::make_identity({.names = {"cleat.example"}});
    ssl::context renewed = serving();
    renewed.use_certificate_chain(newer.certificate_pem);
    renewed.use_private_key(newer.key_pem, ssl::context::pem);
    ssl::context knows_newer{ssl::context::tls_client};
    knows_newer.add_certificate_authority(newer.certificate_pem);
    knows_newer.set_verify_mode(ssl::verify_peer);
    CHECK(meet_each(renewed, knows_newer).both());
    CHECK(made.leaf.certificate_pem != newer.certificate_pem);
}

TEST_CASE("settings that cannot be used together fail check, and each handshake")
{
    ssl::context keyless{ssl::context::tls_server};
    keyless.use_certificate_chain(chain_for_tests().chain());
    error_code ec;
    CHECK(keyless.check(ec) == error::unusable_context);
    CHECK_THROWS_AS(keyless.check(), boost::system::system_error);
    CHECK_THROWS_AS(static_cast<void>(keyless.native_handle()), tls::spec_error);
    ssl::context client = verifying();
    outcome const found =
        meet(keyless, client, [](plain_stream&, plain_stream&) {}); // The constructor: no error.
    CHECK(found.server == error::unusable_context);

    boost::asio::io_context io{1};
    ssl::context misnamed{ssl::context::tls_client};
    misnamed.spec().groups = "no-group";
    auto ends = connected_pair(io);
    ssl::stream<plain_socket> stream{std::move(ends.first), misnamed};
    stream.async_handshake(ssl::stream_base::client, [&](error_code why) {
        CHECK(why == error::unusable_context);
        CHECK(stream.engine().failure().reason.find("no-group") != std::string::npos);
    });
    CHECK(io.run() != 0);
    CHECK(misnamed.check(ec) == error::unusable_context); // Also after the first stream.

    ssl::context repaired{ssl::context::tls_server};
    CHECK(repaired.check(ec) == error::unusable_context);
    repaired.use_certificate_chain(chain_for_tests().chain());
    repaired.use_private_key(chain_for_tests().leaf.key_pem, ssl::context::pem);
    CHECK(!repaired.check(ec));
    CHECK(meet_each(repaired, client).both());
}

TEST_CASE("failure_reason has the text of the last call that failed, after both forms")
{
    ssl::context context{ssl::context::tls_server};
    CHECK(context.failure_reason().empty());
    error_code ec;
    auto const reason_has = [&](char const* words) {
        CAPTURE(context.failure_reason());
        return context.failure_reason().find(words) != std::string::npos;
    };
    CHECK(context.check(ec));
    CHECK(reason_has("certificate"));
    CHECK(context.use_certificate_chain_file("/nowhere/site.pem", ec));
    CHECK(reason_has("/nowhere/site.pem"));
    CHECK(context.use_private_key(asio::buffer("no key", 6), ssl::context::pem, ec));
    CHECK(reason_has("use_private_key"));
    CHECK(context.add_certificate_authority(asio::buffer("none", 4), ec));
    CHECK(reason_has("add_certificate_authority"));
    CHECK(context.set_options(0x4, ec));
    CHECK(reason_has("SSL_OP_LEGACY_SERVER_CONNECT"));
    CHECK(context.set_verify_mode(ssl::verify_fail_if_no_peer_cert, ec));
    CHECK(reason_has("verify_peer"));
    CHECK(context.set_verify_depth(-1, ec));
    CHECK(reason_has("set_verify_depth"));
    std::string thrown;
    try {
        context.check();
    } catch (boost::system::system_error const& e) {
        thrown = e.what();
    }
    CHECK(context.failure_reason() == thrown);

    context.use_certificate_chain(chain_for_tests().chain());
    context.use_private_key(chain_for_tests().leaf.key_pem, ssl::context::pem);
    CHECK(!context.check(ec));
    CHECK(context.failure_reason() == thrown); // It is that of the last failure.
    CHECK(context.set_default_verify_paths(ec) == boost::system::errc::operation_not_permitted);
    CHECK(reason_has("set it before its first stream"));
}

TEST_CASE("use_certificate takes one certificate, without the ones behind it")
{
    temporary_folder const folder;
    test_chain const& made = chain_for_tests();
    std::string const chain = file_with(folder, "chain.pem", made.chain());
    ssl::context from_file{ssl::context::tls_server};
    from_file.use_certificate_file(chain, ssl::context::pem);
    from_file.use_private_key(asio::buffer(made.leaf.key_pem), ssl::context::pem);
    ssl::context client = verifying();
    CHECK(meet_each(from_file, client).client == error::unknown_authority); // No intermediate.

    ssl::context from_memory{ssl::context::tls_server};
    from_memory.use_certificate(asio::buffer(made.leaf.certificate_pem), ssl::context::pem);
    from_memory.use_private_key(asio::buffer(made.leaf.key_pem), ssl::context::pem);
    ssl::context knows_more = verifying();
    knows_more.add_certificate_authority(made.middle.certificate_pem);
    CHECK(meet_each(from_memory, knows_more).both());
}

TEST_CASE("an encrypted key is decrypted with the callback's passphrase")
{
    test_chain const& made = chain_for_tests();
    std::string const locked = tls::encrypted_pem(made.leaf.key.get());
    auto const give = [](std::string const& word) {
        return [word](std::size_t length_max, ssl::context::password_purpose purpose) {
            CHECK(length_max >= word.size());
            CHECK(purpose == ssl::context::for_reading);
            return word;
        };
    };
    ssl::context server{ssl::context::tls_server};
    server.use_certificate_chain(made.chain());
    server.set_password_callback(give("secret"));
    server.use_private_key(locked, ssl::context::pem);
    ssl::context client = verifying();
    CHECK(meet_each(server, client).both());

    ssl::context wrong{ssl::context::tls_server};
    wrong.set_password_callback(give("guess"));
    error_code ec;
    CHECK(
        wrong.use_private_key(asio::buffer(locked), ssl::context::pem, ec) ==
        boost::system::errc::permission_denied);
    ssl::context silent{ssl::context::tls_server};
    CHECK(
        silent.use_private_key(asio::buffer(locked), ssl::context::pem, ec) ==
        boost::system::errc::permission_denied);
}

TEST_CASE("options narrow the versions, and the others are always in effect")
{
    ssl::context server = serving();
    server.set_options(
        ssl::context::default_workarounds | ssl::context::no_sslv2 | ssl::context::no_sslv3 |
        ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1 | ssl::context::single_dh_use |
        ssl::context::no_compression);
    ssl::context any = verifying();
    CHECK(version_of(server, any) == "TLSv1.3");
    ssl::context old = verifying();
    old.set_options(ssl::context::no_tlsv1_3);
    CHECK(version_of(server, old) == "TLSv1.2");
    ssl::context modern = serving();
    modern.set_options(ssl::context::no_tlsv1_2);
    CHECK(meet_each(modern, old).server == error::no_shared_version);
    ssl::context neither = serving();
    error_code ec;
    neither.set_options(ssl::context::no_tlsv1_2);
    CHECK(neither.set_options(ssl::context::no_tlsv1_3, ec) == asio::error::invalid_argument);
    CHECK(version_of(neither, any) == "TLSv1.3"); // Nothing of the refused call was done.
}

TEST_CASE("an option that is not honoured is refused by name")
{
    ssl::context context = serving();
    error_code ec;
    constexpr ssl::context::options legacy_connect = 0x4;
    CHECK(context.set_options(legacy_connect, ec) == asio::error::invalid_argument);
    auto const refusal = [&](ssl::context::options o) {
        try {
            context.set_options(o);
        } catch (boost::system::system_error const& e) {
            CHECK(e.code() == asio::error::invalid_argument);
            return std::string{e.what()};
        }
        return std::string{};
    };
    CHECK(refusal(legacy_connect).find("SSL_OP_LEGACY_SERVER_CONNECT") != std::string::npos);
    CHECK(refusal(0x1 | ssl::context::no_tlsv1_2).find("0x1:") != std::string::npos);
    CHECK(context.spec().version_min == tls::protocol_version::tls_1_2); // No part of it was done.
}

TEST_CASE("options of OpenSSL that a spec has a member for set it")
{
    ssl::context context = serving();
    context.spec().tickets = std::make_shared<tls::ticket_secret const>();
    context.set_options(0x0040'0000); // SSL_OP_CIPHER_SERVER_PREFERENCE
    CHECK(context.spec().prefer_server_ciphers);
    CHECK(context.spec().tickets != nullptr);
    context.set_options(0x4000'4000); // SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET
    CHECK(context.spec().tickets == nullptr);
    CHECK(!context.spec().want_tickets);
}

TEST_CASE("a FIN without close_notify is an error that has Asio's name, too")
{
    boost::asio::io_context io{1};
    auto ends = connected_pair(io);
    ssl::context server = serving();
    ssl::context client = verifying();
    ssl::stream<plain_socket> one{std::move(ends.first), server};
    ssl::stream<plain_socket> other{std::move(ends.second), client};
    char byte = 0;
    error_code found;
    one.async_handshake(ssl::stream_base::server, [&](error_code) {
        one.async_read_some(
            asio::buffer(&byte, 1), [&](error_code ec, std::size_t) { found = ec; });
    });
    other.async_handshake(
        ssl::stream_base::client, [&](error_code) { other.lowest_layer().close(); });
    io.run();
    CHECK(found == ssl::error::stream_truncated);
}

TEST_CASE("a context verifies by mode, depth and callback")
{
    ssl::context server = serving();
    ssl::context shallow = verifying();
    shallow.set_verify_depth(0);
    error_code const refused = meet_each(server, shallow).client; // TLS libraries differ.
    CHECK((refused == error::bad_certificate || refused == error::unknown_authority));
    ssl::context deep = verifying();
    deep.set_verify_depth(1);
    CHECK(meet_each(server, deep).both());

    ssl::context named = verifying();
    named.set_verify_callback(ssl::host_name_verification{"cleat.example"});
    CHECK(meet_each(server, named).both());
    ssl::context misnamed = verifying();
    misnamed.set_verify_callback(ssl::host_name_verification{"another.example"});
    CHECK(meet_each(server, misnamed).client == error::bad_certificate);
    ssl::context by_spec = verifying();
    by_spec.spec().server_name = "another.example";
    CHECK(meet_each(server, by_spec).client == error::wrong_name);

    ssl::context lax{ssl::context::tls_client};
    lax.set_verify_callback([](bool, ssl::verify_context&) { return false; });
    CHECK(meet_each(server, lax).client == error::unknown_authority); // Without a mode, too.
    ssl::context none{ssl::context::tls_client};
    none.set_verify_callback([](bool, ssl::verify_context&) { return false; });
    none.set_verify_mode(ssl::verify_none);
    CHECK(meet_each(server, none).both());
}

TEST_CASE("a server's callback is called whichever certificate SNI selects")
{
    ssl::context server = serving();
    tls::test_identity const second = tls::make_identity({.names = {"second.example"}});
    server.spec().certificates.push_back(second.source("second"));
    server.add_certificate_authority(chain_for_tests().root.certificate_pem);
    int asked = 0;
    server.set_verify_callback([&asked](bool preverified, ssl::verify_context&) {
        ++asked;
        return preverified && asked < 3;
    });
    ssl::context client = serving(ssl::context::tls_client);
    client.spec().server_name = "second.example";
    CHECK(meet_each(server, client).server == error::bad_certificate);
    CHECK(asked == 3);
}

TEST_CASE("set_default_verify_paths adds the system's authorities to others")
{
    temporary_folder const folder;
    test_chain const& made = chain_for_tests();
    std::string const system = file_with(folder, "system.pem", made.root.certificate_pem);
    REQUIRE(::setenv("SSL_CERT_FILE", system.c_str(), 1) == 0);
    ssl::context server = serving();
    tls::test_identity const stranger =
        tls::make_identity({.common_name = "another root", .authority = true});
    ssl::context without{ssl::context::tls_client};
    without.add_certificate_authority(stranger.certificate_pem);
    without.set_verify_mode(ssl::verify_peer);
    ssl::context with_system{ssl::context::tls_client};
    with_system.add_certificate_authority(stranger.certificate_pem);
    with_system.set_default_verify_paths();
    with_system.set_verify_mode(ssl::verify_peer);
    CHECK(meet_each(server, without).client == error::unknown_authority);
    CHECK(meet_each(server, with_system).both());
    ::unsetenv("SSL_CERT_FILE");
}

TEST_CASE("several threads may make the first streams of a context at the same time")
{
    for (int round = 0; round < 20; ++round) {
        ssl::context shared = verifying();
        std::array<tls::context*, 4> seen{};
        {
            std::vector<std::jthread> threads;
            for (tls::context*& each : seen)
                threads.emplace_back([&shared, &each] {
                    boost::asio::io_context io{1};
                    ssl::stream<plain_socket> const own{plain_socket{io}, shared};
                    each = &static_cast<tls::context&>(shared);
                });
        }
        for (tls::context const* each : seen)
            CHECK(each == seen.front());
    }
}

TEST_CASE("changing a context that is in use is an error")
{
    ssl::context context = serving();
    CHECK(context.native_handle() == static_cast<tls::context&>(context).native_handle());
    auto const late = boost::system::errc::operation_not_permitted;
    error_code ec;
    CHECK(context.set_verify_mode(ssl::verify_peer, ec) == late);
    CHECK(context.set_verify_depth(1, ec) == late);
    CHECK(
        context.set_verify_callback([](bool, ssl::verify_context&) { return false; }, ec) == late);
    CHECK(context.set_options(ssl::context::no_tlsv1_2, ec) == late);
    CHECK(context.set_default_verify_paths(ec) == late);
    CHECK(context.add_certificate_authority(asio::buffer("x", 1), ec) == late);
    CHECK(context.load_verify_file("/nonexistent", ec) == late);
    CHECK(context.use_certificate_chain(asio::buffer("x", 1), ec) == late);
    CHECK(context.use_certificate_chain_file("/nonexistent", ec) == late);
    CHECK(context.use_certificate(asio::buffer("x", 1), ssl::context::pem, ec) == late);
    CHECK(context.use_private_key(asio::buffer("x", 1), ssl::context::pem, ec) == late);
    CHECK(context.use_private_key_file("/nonexistent", ssl::context::pem, ec) == late);
    CHECK(!context.check(ec));
    CHECK_THROWS_AS(context.set_verify_mode(ssl::verify_peer), boost::system::system_error);
    CHECK_THROWS_AS(static_cast<void>(context.spec()), boost::system::system_error);
}

} // namespace
} // namespace cleat::net::ssl_test
