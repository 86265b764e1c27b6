// scheme_of finds the scheme in a handshake message and reads nothing beyond the message's end.

#include <cleat/tls/backend/awslc/signing.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace cleat::tls::awslc::signing_test {
namespace {

using message = std::vector<std::uint8_t>;

// From the heap and of its own size, so that a sanitizer sees a read beyond the end.
std::uint16_t scheme_of_first(message const& whole, std::size_t size)
{
    message const part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    return scheme_of(part);
}

message const certificate_verify{15, 0, 0, 6, 0x08, 0x04, 0, 2, 0xaa, 0xbb};
message const key_exchange{12, 0, 0, 12, 3, 0, 29, 2, 0xcc, 0xdd, 0x04, 0x03, 0, 2, 0xaa, 0xbb};

} // namespace

TEST_CASE("the scheme of both messages that have one, and of no part that is too short")
{
    struct row
    {
        message const& whole;
        std::uint16_t scheme;
        std::size_t end; // The scheme's end in the message.
    };
    for (row const& each :
         {row{certificate_verify, SSL_SIGN_RSA_PSS_RSAE_SHA256, 6},
          row{key_exchange, SSL_SIGN_ECDSA_SECP256R1_SHA256, 12}})
        for (std::size_t size = 0; size <= each.whole.size(); ++size)
            CHECK(scheme_of_first(each.whole, size) == (size < each.end ? 0 : each.scheme));
}

TEST_CASE("no scheme in other messages, nor where the parameters are no named group")
{
    message other = certificate_verify;
    other[0] = 20; // Finished.
    CHECK(scheme_of(other) == 0);
    message without_group = key_exchange;
    without_group[4] = 0; // For example the hint of a PSK (RFC 5489).
    CHECK(scheme_of(without_group) == 0);
    message long_key = key_exchange;
    long_key[7] = 255;
    CHECK(scheme_of(long_key) == 0);
}

} // namespace cleat::tls::awslc::signing_test
