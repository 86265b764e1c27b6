// libssl_dialect.hpp: where OpenSSL, AWS-LC and BoringSSL differ in what the study asks of them.
// Each function has one definition in a program, from the file that CMake picked.
#pragma once

#include "handshakes.hpp"

#include <openssl/ssl.h>

#include <cstdint>
#include <string>

namespace study {

/// library_context is a thread's own copy of what the library shares otherwise, if it is asked for.
class library_context
{
public:
    /// Throws unsupported where the library has no such thing.
    explicit library_context(bool own);
    library_context(library_context const&) = delete;
    library_context& operator=(library_context const&) = delete;
    ~library_context();

    /// new_ctx gives a context; nullptr when there is no memory.
    SSL_CTX* new_ctx(SSL_METHOD const* method) const;

private:
    void* own_ = nullptr;
};

std::string libssl_version();

/// group_number is the group of the last key exchange, as TLS numbers it.
std::uint16_t group_number(SSL const* tls);

/// Whether a TLS 1.3 server resumes from state that it keeps, instead of from what a ticket holds.
bool resumes_tls13_from_state();

/// Whether a server can ask for, and make, a renegotiation.
bool server_renegotiates();

} // namespace study
