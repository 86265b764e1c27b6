// alpn.hpp: a server that selects one protocol by ALPN (RFC 7301).
#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <cstring>
#include <string>

namespace perf {

// select_protocol has the connections of a server's context select this protocol, where the client
// offers it, and none otherwise. Empty: none is selected. `protocol` must outlive the context.
inline void select_protocol(SSL_CTX* context, std::string const& protocol)
{
    if (protocol.empty())
        return;
    auto const select = [](SSL*, unsigned char const** out, unsigned char* out_size,
                           unsigned char const* offered, unsigned int size, void* wanted) {
        std::string const& own = *static_cast<std::string const*>(wanted);
        for (unsigned int i = 0; i < size; i += 1U + offered[i]) {
            std::size_t const length = offered[i];
            if (length != own.size() || i + 1 + length > size ||
                std::memcmp(offered + i + 1, own.data(), length) != 0)
                continue;
            *out = offered + i + 1;
            *out_size = static_cast<unsigned char>(length);
            return SSL_TLSEXT_ERR_OK;
        }
        return SSL_TLSEXT_ERR_NOACK;
    };
    SSL_CTX_set_alpn_select_cb(context, select, const_cast<std::string*>(&protocol));
}

} // namespace perf
