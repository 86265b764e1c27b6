// A server and a client in the style of Asio's own examples, with callbacks. Only their line
// `namespace ssl` names cleat.

#include <cleat/core/temporary_folder_for_tests.hpp>
#include <cleat/net/handshakes_for_tests.hpp>
#include <cleat/net/ssl.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/error_code.hpp>
#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace ssl_examples_test {

namespace asio = boost::asio;
namespace ssl = cleat::net::ssl; // was: namespace ssl = boost::asio::ssl;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

class session : public std::enable_shared_from_this<session>
{
public:
    explicit session(ssl::stream<tcp::socket> socket) : socket_{std::move(socket)} {}

    void start()
    {
        auto self{shared_from_this()};
        socket_.async_handshake(ssl::stream_base::server, [this, self](error_code const& ec) {
            if (!ec)
                read();
        });
    }

private:
    void read()
    {
        auto self{shared_from_this()};
        socket_.async_read_some(
            asio::buffer(data_), [this, self](error_code const& ec, std::size_t length) {
                if (!ec)
                    write(length);
            });
    }

    void write(std::size_t length)
    {
        auto self{shared_from_this()};
        asio::async_write(
            socket_, asio::buffer(data_, length), [this, self](error_code const& ec, std::size_t) {
                if (!ec)
                    read();
            });
    }

    ssl::stream<tcp::socket> socket_;
    std::array<char, 1024> data_{};
};

class echo_server
{
public:
    echo_server(asio::io_context& io, std::string const& folder)
        : acceptor_{io, tcp::endpoint{asio::ip::address_v4::loopback(), 0}}
        , context_{ssl::context::sslv23}
    {
        context_.set_options(
            ssl::context::default_workarounds | ssl::context::no_sslv2 |
            ssl::context::single_dh_use);
        context_.set_password_callback(std::bind(&echo_server::password, this));
        context_.use_certificate_chain_file(folder + "/server.pem");
        context_.use_private_key_file(folder + "/key.pem", ssl::context::pem);
        accept();
    }

    [[nodiscard]] tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }

private:
    [[nodiscard]] std::string password() const { return "secret"; }

    void accept()
    {
        acceptor_.async_accept([this](error_code const& ec, tcp::socket socket) {
            if (!ec)
                std::make_shared<session>(ssl::stream<tcp::socket>{std::move(socket), context_})
                    ->start();
        });
    }

    tcp::acceptor acceptor_;
    ssl::context context_;
};

class echo_client
{
public:
    echo_client(asio::io_context& io, ssl::context& context, tcp::endpoint const& server)
        : socket_{io, context}
    {
        socket_.set_verify_mode(ssl::verify_peer);
        socket_.set_verify_callback(std::bind(
            &echo_client::verify_certificate, this, std::placeholders::_1, std::placeholders::_2));
        std::array<tcp::endpoint, 1> const all{server};
        asio::async_connect(
            socket_.lowest_layer(), all, [this](error_code const& ec, tcp::endpoint const&) {
                REQUIRE(!ec);
                handshake();
            });
    }

    [[nodiscard]] std::string const& answer() const { return answer_; }
    [[nodiscard]] int verified() const { return verified_; }

private:
    bool verify_certificate(bool preverified, ssl::verify_context& context)
    {
        ++verified_;
        char subject[256];
        X509* const shown = X509_STORE_CTX_get_current_cert(context.native_handle());
        X509_NAME_oneline(X509_get_subject_name(shown), subject, sizeof subject);
        CHECK(std::strstr(subject, "CN=test") != nullptr);
        return preverified;
    }

    void handshake()
    {
        socket_.async_handshake(ssl::stream_base::client, [this](error_code const& ec) {
            REQUIRE(!ec);
            asio::async_write(
                socket_, asio::buffer("message", 7), [this](error_code const& failed, std::size_t) {
                    REQUIRE(!failed);
                    receive();
                });
        });
    }

    void receive()
    {
        answer_.resize(7);
        asio::async_read(socket_, asio::buffer(answer_), [this](error_code const& ec, std::size_t) {
            CHECK(!ec);
            socket_.lowest_layer().close();
        });
    }

    ssl::stream<tcp::socket> socket_;
    std::string answer_;
    int verified_ = 0;
};

} // namespace

TEST_CASE("a server and a client that were written for Asio talk over cleat")
{
    cleat::temporary_folder const folder;
    cleat::net::test_chain const& made = cleat::net::chain_for_tests();
    std::ofstream{folder.path() / "server.pem"} << made.chain();
    std::ofstream{folder.path() / "key.pem"} << cleat::tls::encrypted_pem(made.leaf.key.get());
    std::ofstream{folder.path() / "ca.pem"} << made.root.certificate_pem;

    asio::io_context io;
    echo_server const server{io, folder.path().string()};
    ssl::context context{ssl::context::sslv23};
    context.load_verify_file(folder.path().string() + "/ca.pem");
    echo_client const client{io, context, server.endpoint()};
    io.run();
    CHECK(client.answer() == "message");
    CHECK(client.verified() == 3);
}

} // namespace ssl_examples_test
