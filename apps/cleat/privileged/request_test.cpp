#include "privileged/request.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace cleat::app::request_test {
namespace {

using namespace std::string_literals;

using kind = opener_request::kind;

bind_address ipv4(char const* host, std::uint16_t port)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    REQUIRE(::inet_pton(AF_INET, host, &address.sin_addr) == 1);
    return address_from(reinterpret_cast<sockaddr const&>(address), sizeof address).value();
}

bind_address ipv6(char const* host, std::uint16_t port)
{
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    address.sin6_scope_id = 3;
    REQUIRE(::inet_pton(AF_INET6, host, &address.sin6_addr) == 1);
    return address_from(reinterpret_cast<sockaddr const&>(address), sizeof address).value();
}

bool is_same(bind_address const& a, bind_address const& b)
{
    return a.size == b.size && std::memcmp(&a.storage, &b.storage, sizeof a.storage) == 0;
}

} // namespace

TEST_CASE("a request for a file, a folder, a log or a watch is read as it was written")
{
    for (kind const what : {kind::file, kind::folder, kind::log, kind::watch}) {
        std::optional<opener_request> const read =
            decode_request(encode({what, "/etc/site.pem", {}}).value());
        REQUIRE(read);
        CHECK(read->what == what);
        CHECK(read->path == "/etc/site.pem");
    }
}

TEST_CASE("a request for a port is read as it was written, with the scope of IPv6")
{
    for (bind_address const& address : {ipv4("192.0.2.1", 443), ipv6("2001:db8::1", 80)}) {
        std::optional<opener_request> const read =
            decode_request(encode({kind::port, {}, address}).value());
        REQUIRE(read);
        CHECK(is_same(read->address, address));
    }
    CHECK(ipv6("::", 443).port() == 443);
}

TEST_CASE("a path that is not absolute, empty, too long or has a NUL in it is no request")
{
    std::string const longest = "/" + std::string(request_max - 2, 'x');
    CHECK(encode({kind::file, longest, {}}));
    for (std::string const& path :
         {""s, "site.pem"s, "../site.pem"s, "/etc/site.pem\0"s, "/etc\0/shadow"s, longest + 'x'}) {
        CAPTURE(path);
        CHECK_FALSE(encode({kind::file, path, {}}));
        CHECK_FALSE(decode_request("f" + path));
    }
}

TEST_CASE("a port has its own size, no bytes behind it, and no other family")
{
    std::string const good = encode({kind::port, {}, ipv4("192.0.2.1", 443)}).value();
    REQUIRE(decode_request(good));
    CHECK_FALSE(decode_request(good + '\0'));
    CHECK_FALSE(decode_request(good.substr(0, good.size() - 1)));
    CHECK_FALSE(decode_request("p"));
    std::string other_family = good;
    other_family[1] = 1; // AF_UNIX
    CHECK_FALSE(decode_request(other_family));
    std::string padded = good;
    padded.back() = 1;
    CHECK_FALSE(decode_request(padded));
}

TEST_CASE(
    "a request to look at files has names of files in the folder, as many as an answer can have")
{
    opener_request const wanted{kind::look, "/keys", {}, {"one.pem", "a b\xff"}};
    std::optional<opener_request> const read = decode_request(encode(wanted).value());
    REQUIRE(read);
    CHECK(read->what == kind::look);
    CHECK(read->path == wanted.path);
    CHECK(read->names == wanted.names);

    std::vector<std::string> const most(names_max, "x");
    REQUIRE(decode_request(encode({kind::look, "/keys", {}, most}).value()));
    std::vector<std::string> more = most;
    more.emplace_back("x");
    CHECK_FALSE(encode({kind::look, "/keys", {}, more}));
    CHECK_FALSE(encode({kind::look, "/keys", {}, {}}));
    CHECK_FALSE(encode({kind::look, "keys", {}, {"x"}}));
    CHECK_FALSE(encode({kind::look, "/keys", {}, {std::string(request_max, 'x')}}));
    for (std::string const& name : {""s, "."s, ".."s, "../shadow"s, "a\0b"s})
        CHECK_FALSE(encode({kind::look, "/keys", {}, {name}}));

    std::string long_list = "s/keys";
    for (std::string const& each : more)
        long_list.append(1, '\0').append(each);
    for (std::string const& wrong :
         {"s"s, "s/keys"s, "s/keys\0"s, "s/keys\0a\0"s, "s/keys\0\0a"s, "s/keys\0../shadow"s,
          "s/keys\0.."s, "skeys\0a"s, long_list})
        CHECK_FALSE(decode_request(wrong));
}

TEST_CASE("the facts of files")
{
    std::vector<tls::file_facts> const facts{{1, 2, 3, 4, 5, 6}, {}};
    std::optional<std::vector<tls::file_facts>> const got = decode_facts(encode(facts));
    REQUIRE(got);
    REQUIRE(got->size() == 2);
    CHECK(got->front().size == 2);
    CHECK(got->front().changed_ns == 6);
    CHECK(got->back().inode == 0);
    CHECK_FALSE(decode_facts(encode(facts).substr(1)));
    std::vector<tls::file_facts> const most(names_max);
    CHECK(encode(opener_answer{0, encode(most)}).size() < answer_max);
}

TEST_CASE("bytes that are no request")
{
    CHECK_FALSE(decode_request(""));
    CHECK_FALSE(decode_request("x/etc/site.pem"));
    CHECK_FALSE(decode_request("\0/etc/site.pem"s));
    CHECK_FALSE(decode_request(std::string(request_max + 1, 'f')));
}

TEST_CASE("an address of another family or size cannot be asked for")
{
    sockaddr_storage address{};
    auto const& any = reinterpret_cast<sockaddr const&>(address);
    address.ss_family = AF_UNIX;
    CHECK_FALSE(address_from(any, sizeof address));
    address.ss_family = AF_INET;
    CHECK_FALSE(address_from(any, sizeof(sockaddr_in) - 1));
    CHECK_FALSE(encode({kind::port, {}, {}}));
}

TEST_CASE("an answer is read as it was written, and its text is cut where it is too long")
{
    std::optional<opener_answer> const read = decode_answer(encode(opener_answer{13, "no"}));
    REQUIRE(read);
    CHECK(read->error == 13);
    CHECK(read->text == "no");
    CHECK(encode(opener_answer{1, std::string(2 * answer_max, 'x')}).size() == answer_max);
    CHECK_FALSE(decode_answer(""));
    CHECK_FALSE(decode_answer("abc"));
    CHECK_FALSE(decode_answer(std::string(answer_max + 1, 'x')));
}

TEST_CASE("the places of a watch, with any name that a file may have")
{
    std::vector<watched_place> const places{{1, "site.pem"}, {23, ""}, {4, "a\nb\xff 5"}};
    std::string const text = encode(places);
    std::optional<std::vector<watched_place>> const got = decode_places(text);
    REQUIRE(got);
    REQUIRE(got->size() == places.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
        CHECK(got->at(i).watch == places[i].watch);
        CHECK(got->at(i).name == places[i].name);
    }
    REQUIRE(decode_places(""));
    CHECK(decode_places("")->empty());
    for (char const* wrong : {"1", "1/", "1/x", "/x/", "x/1/", "1/x/2", "99999999999/x/", " 1/x/"})
        CHECK_MESSAGE(!decode_places(wrong), wrong);
}

} // namespace cleat::app::request_test
