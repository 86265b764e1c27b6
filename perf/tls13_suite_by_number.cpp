#include "tls13_suite.hpp"

#include <cstdint>
#include <string_view>

bool set_tls13_suite(SSL_CTX* context, char const* name)
{
    for (std::uint16_t each = 0x1301; each <= 0x1305; ++each) // RFC 8446, appendix B.4.
        if (SSL_CIPHER const* const suite = SSL_get_cipher_by_value(each);
            suite != nullptr && std::string_view{name} == SSL_CIPHER_standard_name(suite))
            return SSL_CTX_set1_tls13_ciphers(context, &each, nullptr, 1) == 1;
    return false;
}
