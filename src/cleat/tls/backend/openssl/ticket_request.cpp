// How many tickets OpenSSL sends, and the extension ticket_request (RFC 9149): a client of TLS 1.3
// says how many it can use, and the server how many will come.

#include <cleat/core/limits.hpp>
#include <cleat/tls/backend.hpp>
#include <cleat/tls/backend/openssl/ticket_request.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace cleat::tls {
namespace {

int plan_index() noexcept
{
    static int const index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return index;
}

backend::ticket_plan const& plan_of(SSL const* ssl) noexcept
{
    return *static_cast<backend::ticket_plan const*>(
        SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), plan_index()));
}

// The answer is one byte, which the library copies later.
int add_expected(
    SSL* ssl, unsigned, unsigned, unsigned char const** out, std::size_t* size, X509*, std::size_t,
    int*, void*) noexcept
{
    static constexpr std::array<unsigned char, limits::tickets_max + 1> numbers{
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    *out = &numbers.at(std::min<std::size_t>(SSL_get_num_tickets(ssl), limits::tickets_max));
    *size = 1;
    return 1;
}

// Two bytes: how many tickets the client wants with a full handshake, and with a resumed one. The
// library has chosen between the two before.
int read_request(
    SSL* ssl, unsigned, unsigned context, unsigned char const* wanted, std::size_t size, X509*,
    std::size_t, int* alert, void*) noexcept
{
    if (context != SSL_EXT_CLIENT_HELLO)
        return 1;
    if (size != 2) {
        *alert = SSL_AD_DECODE_ERROR;
        return 0;
    }
    ticket_counts const planned = plan_of(ssl).counts;
    bool const is_resumed = SSL_session_reused(ssl) != 0;
    std::uint8_t const most = is_resumed ? planned.resumed : planned.full;
    SSL_set_num_tickets(ssl, std::min(most, wanted[is_resumed ? 1 : 0]));
    return 1;
}

} // namespace

unsigned openssl::resumed_tickets(SSL const* ssl) noexcept
{
    return plan_of(ssl).counts.resumed;
}

// tls_construct_new_session_ticket's caller ends after one where the session is resumed.
unsigned backend::resumed_tickets_max() noexcept
{
    return 1;
}

bool backend::plan_tickets(SSL_CTX* ctx, ticket_plan const* plan)
{
    constexpr unsigned ticket_request = 58;
    constexpr unsigned where = SSL_EXT_CLIENT_HELLO | SSL_EXT_TLS1_3_ENCRYPTED_EXTENSIONS |
                               SSL_EXT_TLS_ONLY | SSL_EXT_TLS1_3_ONLY;
    return SSL_CTX_set_ex_data(ctx, plan_index(), const_cast<ticket_plan*>(plan)) == 1 &&
           SSL_CTX_set_num_tickets(ctx, plan->counts.full) == 1 &&
           SSL_CTX_add_custom_ext(
               ctx, ticket_request, where, add_expected, nullptr, nullptr, read_request, nullptr) ==
               1;
}

} // namespace cleat::tls
