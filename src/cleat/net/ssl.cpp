#include <cleat/core/limits.hpp>
#include <cleat/net/ssl.hpp>

#include <boost/system/system_error.hpp>

#include <cerrno>
#include <fstream>
#include <iterator>

namespace cleat::net::ssl {
namespace {

using cleat::tls::peer_verification;
using cleat::tls::protocol_version;
using cleat::tls::role;

std::string text_of(std::string const& path)
{
    errno = 0;
    std::ifstream file{path, std::ios::binary};
    std::string text(limits::pem_file_max + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (!file.is_open() || file.bad() || text.size() > limits::pem_file_max)
        throw boost::system::system_error{
            errno != 0 ? errno : EFBIG, boost::system::system_category(), path};
    return text;
}

} // namespace

context::context(method m) : role_is_open_{m == tls || m == tlsv12 || m == tlsv13}
{
    bool const client = m == tls_client || m == tlsv12_client || m == tlsv13_client;
    spec_.role = client ? role::client : role::server;
    if (m == tlsv12 || m == tlsv12_client || m == tlsv12_server)
        spec_.version_max = protocol_version::tls_1_2;
    if (m == tlsv13 || m == tlsv13_client || m == tlsv13_server)
        spec_.version_min = protocol_version::tls_1_3;
}

void context::use_certificate_chain_file(std::string const& path)
{
    certificate_.chain = text_of(path);
    certificate_.origin = path;
}

void context::use_private_key_file(std::string const& path, file_format)
{
    certificate_.private_key = text_of(path);
}

void context::load_verify_file(std::string const& path)
{
    spec_.verify_authorities += text_of(path);
    spec_.verify_origin = path;
}

void context::set_verify_mode(verify_mode mode)
{
    bool const must = (mode & verify_fail_if_no_peer_cert) != 0 || spec_.role == role::client;
    if ((mode & verify_peer) == 0)
        spec_.verify = peer_verification::none;
    else
        spec_.verify = must ? peer_verification::required : peer_verification::optional;
}

context::operator cleat::tls::context&()
{
    if (!made_) {
        if (role_is_open_ && certificate_.chain.empty()) {
            spec_.role = role::client;
            // A client's server has a certificate always: verify_peer alone means that it must be
            // good.
            if (spec_.verify == peer_verification::optional)
                spec_.verify = peer_verification::required;
        }
        if (!certificate_.chain.empty()) {
            if (certificate_.private_key.empty())
                certificate_.private_key = certificate_.chain;
            spec_.certificates.push_back(certificate_);
        }
        made_.emplace(spec_);
    }
    return *made_;
}

} // namespace cleat::net::ssl
