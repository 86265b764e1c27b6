#include "probe/renegotiation.hpp"
#include "probe/visit.hpp"
#include "wire/bytes.hpp"
#include "wire/client_hello.hpp"

#include <cleat/tls/renegotiation.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include <poll.h>
#include <sys/socket.h>

namespace cleat::bench {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view gcm_suites = "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
                                        "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
                                        "AES128-GCM-SHA256:AES256-GCM-SHA384";
constexpr std::size_t reply_header_size = 5;
// A HelloRequest, with what AES-GCM adds: the server may send one at any time.
constexpr std::size_t hello_request_size = 4 + 8 + 16;

// first_reply is the type of the first record that is an answer: a handshake message or an alert.
// 0: the server closed, which sets `closed`, or there was none in the time.
std::size_t first_reply(int fd, milliseconds time, bool& closed)
{
    auto const deadline = std::chrono::steady_clock::now() + time;
    std::string bytes;
    for (;;) {
        while (bytes.size() >= reply_header_size) {
            wire::reader header{bytes};
            std::size_t const type = header.number(1);
            static_cast<void>(header.number_16()); // The version.
            std::size_t const size = header.number_16();
            bool const request = type == static_cast<std::size_t>(wire::record_type::handshake) &&
                                 size == hello_request_size;
            if (!request && (type == static_cast<std::size_t>(wire::record_type::handshake) ||
                             type == static_cast<std::size_t>(wire::record_type::alert)))
                return type;
            if (bytes.size() < reply_header_size + size)
                break;
            bytes.erase(0, reply_header_size + size);
        }
        auto const left =
            std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
        if (left.count() <= 0)
            return 0;
        pollfd one{fd, POLLIN, 0};
        ::poll(&one, 1, static_cast<int>(left.count())); // A signal may end it early.
        std::array<char, 4096> block{};
        ssize_t const got = ::recv(fd, block.data(), block.size(), MSG_DONTWAIT);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        closed = got == 0 || (got < 0 && errno == ECONNRESET);
        if (got <= 0)
            return 0;
        bytes.append(block.data(), static_cast<std::size_t>(got));
    }
}

// second_hello offers what the connection has agreed on, with its verify_data (RFC 5746, 3.5).
wire::client_hello second_hello(
    raw_client const& client, std::string const& suite, std::string const& verify_data)
{
    std::array<std::uint16_t, 1> const numbers{wire::find_suite(suite)->number};
    wire::client_hello hello = client.hello(wire::version::tls_1_2, numbers);
    std::erase_if(hello.extensions, [](wire::extension const& each) {
        return each.type == static_cast<std::uint16_t>(wire::extension_type::renegotiation_info);
    });
    hello.extensions.emplace_back(
        wire::extension_type::renegotiation_info, wire::sized(verify_data, 1));
    hello.extensions.push_back(wire::empty_extension(wire::extension_type::extended_master_secret));
    return hello;
}

} // namespace

void set_renegotiating(tls::context_spec& spec)
{
    spec.version_min = spec.version_max = tls::protocol_version::tls_1_2;
    spec.ciphers = gcm_suites;
    spec.alpn.clear();
}

probed_answer find_client_renegotiation(raw_client const& client, tls::context const& context)
{
    visit_options const options{.context = &context, .stays_open = true};
    connection visitor{client.address(), options, client.timeout()};
    visit const first = visitor.run({}, {});
    if (!first.established || wire::find_suite(first.suite) == nullptr)
        return {
            feature_name::client_renegotiation,
            {},
            "no handshake of TLS 1.2 with AES-GCM: " + first.failure.kind};
    std::string const record = tls::seal_handshake(
        visitor.engine(), wire::message_of(second_hello(
                              client, first.suite, tls::client_verify_data(visitor.engine()))));
    if (record.empty() || ::send(visitor.socket(), record.data(), record.size(), MSG_NOSIGNAL) !=
                              static_cast<ssize_t>(record.size()))
        return {feature_name::client_renegotiation, {}, "it could not be sent"};
    bool closed = false;
    std::size_t const reply =
        first_reply(visitor.socket(), std::min(client.timeout(), last_answer_time), closed);
    if (reply == static_cast<std::size_t>(wire::record_type::handshake))
        return {
            feature_name::client_renegotiation, true,
            "permitted: the server begins another handshake"};
    if (reply != 0)
        return {feature_name::client_renegotiation, false, "refused with an alert"};
    if (closed)
        return {
            feature_name::client_renegotiation, false, "refused: the server closes the connection"};
    return {feature_name::client_renegotiation, {}, "not answered"};
}

} // namespace cleat::bench
