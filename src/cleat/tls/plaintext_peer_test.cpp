#include <cleat/tls/plaintext_peer.hpp>

#include <doctest/doctest.h>

#include <initializer_list>
#include <string_view>
#include <vector>

namespace cleat::tls::plaintext_peer_test {
namespace {

bool http(std::string_view text)
{
    return begins_like_http(std::as_bytes(std::span{text.data(), text.size()}));
}

TEST_CASE("a request of HTTP/1 is recognised by its shape, whatever the method")
{
    for (std::string_view const request :
         {"GET / HTTP/1.1\r\n", "DELETE /x HTTP/1.1\r\n", "OPTIONS * HTTP/1.1\r\n",
          "PROPFIND /dav HTTP/1.1\r\n", "CONNECT host:443 HTTP/1.1\r\n", "M-SEARCH * HTTP/1.1\r\n",
          "PRI * HTTP/2.0\r\n", "GET /"})
        CHECK_MESSAGE(http(request), request);
}

TEST_CASE("other text that begins with letters is not HTTP")
{
    for (std::string_view const other :
         {"", "G", "GET", "GET ", "GET  /", "get / HTTP/1.1", "SSH-2.0-OpenSSH_9.2\r\n", "EHLO",
          "EHLO foo\r\n", "HELO mail.example.org\r\n", "MAIL FROM:<a@example.org>\r\n",
          "\x16\x03\x01\x02", "OK\r\n", "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n",
          "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA /"})
        CHECK_FALSE_MESSAGE(http(other), other);
}

bool proxy(std::string_view text)
{
    return begins_like_proxy_header(std::as_bytes(std::span{text.data(), text.size()}));
}

TEST_CASE("a PROXY header is recognised in both versions, as far as it is there")
{
    constexpr std::string_view version_2{"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c", 16};
    for (std::size_t size = 5; size <= version_2.size(); ++size)
        CHECK(proxy(version_2.substr(0, size)));
    for (std::string_view const header : {"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n", "PROXY"})
        CHECK_MESSAGE(proxy(header), header);
    for (std::string_view const other :
         {"", "P", "PROX", "PROXYING", "GET / HTTP/1.1", "\r\n\r\n", "\r\n\r\nQUIT\n",
          "\x16\x03\x01\x02\x00"})
        CHECK_FALSE_MESSAGE(proxy(other), other);
}

int alert_in(std::initializer_list<int> octets)
{
    std::vector<std::byte> bytes;
    for (int const octet : octets)
        bytes.push_back(static_cast<std::byte>(octet));
    return plaintext_alert(bytes);
}

TEST_CASE("a fatal alert in plaintext is found, also behind a ChangeCipherSpec")
{
    CHECK(alert_in({21, 3, 3, 0, 2, 2, 48}) == 48);
    CHECK(alert_in({20, 3, 3, 0, 1, 1, 21, 3, 3, 0, 2, 2, 42}) == 42);
}

TEST_CASE("a warning, an encrypted alert and a cut record are no fatal alert in plaintext")
{
    CHECK(alert_in({}) == -1);
    CHECK(alert_in({21, 3, 3, 0, 2, 1, 90}) == -1);
    CHECK(alert_in({21, 3, 3, 0, 3, 2, 48, 0}) == -1);
    CHECK(alert_in({21, 3, 3, 0, 2, 2}) == -1);
    CHECK(alert_in({23, 3, 3, 0, 2, 2, 48}) == -1);
    CHECK(alert_in({20, 3, 3, 255, 255, 1}) == -1);
    // Behind a handshake message: it is not what the library failed at.
    CHECK(alert_in({22, 3, 3, 0, 1, 0, 21, 3, 3, 0, 2, 2, 40}) == -1);
}

} // namespace
} // namespace cleat::tls::plaintext_peer_test
