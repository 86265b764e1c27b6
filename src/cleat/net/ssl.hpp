// ssl: the names of boost::asio::ssl on cleat, for a program that is already written.
//
//     namespace ssl = cleat::net::ssl; // was: namespace ssl = boost::asio::ssl;
//
// A program with a context, stream and handshakes compiles on with that line changed. What has no
// equal here does not compile, rather than do nothing. New programs use net::stream and
// tls::context_spec.

#pragma once

#include <cleat/net/stream.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/context_spec.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace cleat::net::ssl {

using stream_base = net::stream_base;

/// verify_mode has the flags that asio::ssl::context::set_verify_mode takes.
using verify_mode = int;
inline constexpr verify_mode verify_none = 0;
inline constexpr verify_mode verify_peer = 1;
inline constexpr verify_mode verify_fail_if_no_peer_cert = 2;

/// context collects settings as asio::ssl::context does, and becomes a tls::context at its first
/// use: after that it can no longer be changed. Secure defaults stand where Asio has the library's.
class context
{
public:
    enum method
    {
        tls,
        tls_client,
        tls_server,
        tlsv12,
        tlsv12_client,
        tlsv12_server,
        tlsv13,
        tlsv13_client,
        tlsv13_server,
    };
    enum file_format
    {
        pem
    };

    /// A method that names no role is a server's, unless it gets no certificate.
    explicit context(method m);

    /// The files are read here, and found good or bad at the context's first use. Throw
    /// boost::system::system_error when a file cannot be read.
    void use_certificate_chain_file(std::string const& path);
    void use_private_key_file(std::string const& path, file_format);
    void load_verify_file(std::string const& path);

    /// The same from memory.
    void use_certificate_chain(std::string_view pem_text) { certificate_.chain = pem_text; }
    void use_private_key(std::string_view pem_text, file_format)
    {
        certificate_.private_key = pem_text;
    }
    void add_certificate_authority(std::string_view pem_text)
    {
        spec_.verify_authorities += pem_text;
    }

    void set_verify_mode(verify_mode mode);

    /// spec has the settings for which Asio has no function. For use before the first stream.
    [[nodiscard]] cleat::tls::context_spec& spec() noexcept { return spec_; }

    /// The context itself, made now if it was not before: throws tls::spec_error.
    operator cleat::tls::context&();

private:
    cleat::tls::context_spec spec_;
    cleat::tls::certificate_source certificate_;
    std::optional<cleat::tls::context> made_;
    bool role_is_open_ = false;
};

template <class NextLayer>
using stream = net::stream<NextLayer>;

} // namespace cleat::net::ssl
