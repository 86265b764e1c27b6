#include <cleat/core/limits.hpp>
#include <cleat/net/ssl.hpp>
#include <cleat/tls/certificates/certificate_check.hpp>
#include <cleat/tls/certificates/private_key.hpp>

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <fstream>

namespace cleat::net::ssl {
namespace asio = boost::asio;
namespace {

using cleat::tls::certificate_source;
using cleat::tls::peer_verification;
using cleat::tls::protocol_version;
using cleat::tls::role;
using cleat::tls::secret_text;

// The longest passphrase that OpenSSL's PEM functions take: length_max of Asio's callbacks.
constexpr std::size_t passphrase_max = 1024;

// Of OpenSSL's own options.
constexpr context_base::options server_preference = 0x0040'0000;
constexpr context_base::options no_ticket = 0x0000'4000;
constexpr context_base::options no_renegotiation = 0x4000'0000; // Always in effect.

constexpr context_base::options honoured =
    server_preference | no_ticket | no_renegotiation | context_base::default_workarounds |
    context_base::no_sslv3 | context_base::no_tlsv1 | context_base::no_tlsv1_1 |
    context_base::no_tlsv1_2 | context_base::no_tlsv1_3 | context_base::no_compression;

secret_text text_of(std::string const& path, error_code& ec)
{
    errno = 0;
    std::ifstream file;
    file.rdbuf()->pubsetbuf(nullptr, 0); // A buffer would keep a part of the text.
    file.open(path, std::ios::binary);
    std::string text(limits::pem_file_max + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (!file.is_open() || file.bad() || text.size() > limits::pem_file_max)
        ec.assign(errno != 0 ? errno : EFBIG, boost::system::system_category());
    secret_text const whole{std::move(text)};
    return secret_text{whole.view()}; // Of its own size.
}

secret_text text_of(asio::const_buffer const& buffer)
{
    std::string_view text{static_cast<char const*>(buffer.data()), buffer.size()};
    // asio::buffer of a string literal includes its terminator.
    while (!text.empty() && text.back() == '\0')
        text.remove_suffix(1);
    return secret_text{text};
}

secret_text first_certificate_in(std::string_view text)
{
    constexpr std::string_view end = "-----END CERTIFICATE-----";
    std::size_t const found = text.find(end);
    return secret_text{text.substr(0, found == text.npos ? found : found + end.size())};
}

// The text of the spec_error that a check throws; empty: none.
template <class Check>
std::string reason_against(Check check)
{
    try {
        check();
    } catch (cleat::tls::spec_error const& wrong) {
        return wrong.what();
    }
    return {};
}

// Names the options, and for the most frequent ones what to do instead.
std::string option_names(context_base::options o)
{
    struct known
    {
        context_base::options bit;
        char const* name;
    };
    constexpr std::array<known, 3> all{{
        {0x0000'0004, "SSL_OP_LEGACY_SERVER_CONNECT"},
        {0x0004'0000, "SSL_OP_ALLOW_UNSAFE_LEGACY_RENEGOTIATION"},
        {0x0000'0080, "SSL_OP_IGNORE_UNEXPECTED_EOF"},
    }};
    std::string names;
    for (known const& each : all)
        if ((o & each.bit) != 0) {
            names += names.empty() ? each.name : std::string{", "} + each.name;
            o &= ~each.bit;
        }
    if (o != 0)
        names += fmt::format("{}0x{:x}", names.empty() ? "" : ", ", o);
    return names;
}

boost::system::system_error thrown_for(error_code const& ec, std::string what)
{
    if (ec == boost::system::errc::operation_not_permitted)
        what += ": the context is in use; set it before its first stream";
    return {ec, what};
}

} // namespace

context::context(method m)
    : made_{std::make_unique<lazy_context>()}, role_is_open_{m == tls || m == tlsv12 || m == tlsv13}
{
    bool const client = m == tls_client || m == tlsv12_client || m == tlsv13_client;
    spec_.role = client ? role::client : role::server;
    if (m == tlsv12 || m == tlsv12_client || m == tlsv12_server)
        spec_.version_max = protocol_version::tls_1_2;
    if (m == tlsv13 || m == tlsv13_client || m == tlsv13_server)
        spec_.version_min = protocol_version::tls_1_3;
}

error_code context::changeable() const noexcept
{
    return made_->is_done ? make_error_code(boost::system::errc::operation_not_permitted)
                          : error_code{};
}

error_code context::kept(outcome const& found)
{
    if (found.error)
        failure_reason_ = thrown_for(found.error, found.text).what();
    return found.error;
}

void context::throw_if(error_code const& ec, std::string const& what)
{
    throw_if(outcome{ec, what});
}

void context::throw_if(outcome const& found)
{
    if (kept(found))
        throw thrown_for(found.error, found.text);
}

context::outcome context::read(std::string const& path, secret_text& text) const
{
    error_code ec = changeable();
    if (!ec)
        text = text_of(path, ec);
    return {ec, path};
}

context::outcome context::keep_chain(secret_text text, std::string const& origin)
{
    if (error_code const late = changeable())
        return {late, origin};
    certificate_source const made{text, certificate_.private_key, origin};
    std::string why = reason_against([&] { cleat::tls::check_chain_pem(text, origin); });
    if (!why.empty())
        return {cleat::error::unusable_pem, std::move(why)};
    if (!made.private_key.empty())
        why = reason_against([&] { static_cast<void>(cleat::tls::check_pair(made)); });
    if (!why.empty() && certificate_.chain.empty())
        return {cleat::error::key_mismatch, std::move(why)};
    if (!why.empty()) {
        auto const type = static_cast<unsigned>(cleat::tls::check_pair(certificate_));
        std::erase_if(pairs_, [&](pair const& each) { return each.key_type == type; });
        pairs_.push_back({std::exchange(certificate_, {}), type});
    }
    certificate_.chain = std::move(text);
    certificate_.origin = origin;
    return {};
}

context::outcome context::keep_key(secret_text text, std::string const& origin)
{
    if (error_code const late = changeable())
        return {late, origin};
    if (cleat::tls::has_encrypted_key(text))
        if (outcome found = decrypt(text, origin); found.error)
            return found;
    std::string why = reason_against([&] { cleat::tls::check_key_pem(text, origin); });
    if (!why.empty())
        return {cleat::error::unusable_pem, std::move(why)};
    if (!certificate_.chain.empty())
        why = reason_against([&] {
            static_cast<void>(cleat::tls::check_pair({certificate_.chain, text, origin}));
        });
    if (!why.empty())
        return {cleat::error::key_mismatch, std::move(why)};
    certificate_.private_key = std::move(text);
    return {};
}

context::outcome context::decrypt(secret_text& key, std::string const& origin) const
{
    error_code const denied = make_error_code(boost::system::errc::permission_denied);
    if (!password_)
        return {
            denied, origin + ": the private key is encrypted, and no password callback is set: "
                             "call set_password_callback before"};
    secret_text const passphrase{password_(passphrase_max, for_reading)};
    std::optional<secret_text> opened = cleat::tls::decrypt_private_key(key, passphrase);
    if (!opened)
        return {denied, origin + ": the passphrase does not open the private key"};
    key = *std::move(opened);
    return {};
}

context::outcome context::keep_authorities(std::string_view text, std::string const& origin)
{
    if (error_code const late = changeable())
        return {late, origin};
    std::string why = reason_against([&] { cleat::tls::check_authorities_pem(text, origin); });
    if (!why.empty())
        return {cleat::error::unusable_pem, std::move(why)};
    spec_.verify_authorities.append(text).append("\n");
    spec_.verify_origin = origin;
    return {};
}

void context::use_certificate_chain(std::string_view pem_text)
{
    use_certificate_chain(asio::buffer(pem_text));
}

void context::use_certificate_chain(asio::const_buffer const& pem_text)
{
    throw_if(keep_chain(text_of(pem_text), "use_certificate_chain"));
}

error_code context::use_certificate_chain(asio::const_buffer const& pem_text, error_code& ec)
{
    return ec = kept(keep_chain(text_of(pem_text), "use_certificate_chain"));
}

void context::use_certificate_chain_file(std::string const& path)
{
    secret_text text;
    throw_if(read(path, text));
    throw_if(keep_chain(std::move(text), path));
}

error_code context::use_certificate_chain_file(std::string const& path, error_code& ec)
{
    secret_text text;
    if (!(ec = kept(read(path, text))))
        ec = kept(keep_chain(std::move(text), path));
    return ec;
}

void context::use_certificate(asio::const_buffer const& pem_text, file_format)
{
    throw_if(keep_chain(first_certificate_in(text_of(pem_text)), "use_certificate"));
}

error_code context::use_certificate(asio::const_buffer const& pem_text, file_format, error_code& ec)
{
    return ec = kept(keep_chain(first_certificate_in(text_of(pem_text)), "use_certificate"));
}

void context::use_certificate_file(std::string const& path, file_format)
{
    secret_text text;
    throw_if(read(path, text));
    throw_if(keep_chain(first_certificate_in(text), path));
}

error_code context::use_certificate_file(std::string const& path, file_format, error_code& ec)
{
    secret_text text;
    if (!(ec = kept(read(path, text))))
        ec = kept(keep_chain(first_certificate_in(text), path));
    return ec;
}

void context::use_private_key(std::string_view pem_text, file_format format)
{
    use_private_key(asio::buffer(pem_text), format);
}

void context::use_private_key(asio::const_buffer const& pem_text, file_format)
{
    throw_if(keep_key(text_of(pem_text), "use_private_key"));
}

error_code context::use_private_key(asio::const_buffer const& pem_text, file_format, error_code& ec)
{
    return ec = kept(keep_key(text_of(pem_text), "use_private_key"));
}

void context::use_private_key_file(std::string const& path, file_format)
{
    secret_text text;
    throw_if(read(path, text));
    throw_if(keep_key(std::move(text), path));
}

error_code context::use_private_key_file(std::string const& path, file_format, error_code& ec)
{
    secret_text text;
    if (!(ec = kept(read(path, text))))
        ec = kept(keep_key(std::move(text), path));
    return ec;
}

void context::add_certificate_authority(std::string_view pem_text)
{
    add_certificate_authority(asio::buffer(pem_text));
}

void context::add_certificate_authority(asio::const_buffer const& pem_text)
{
    throw_if(keep_authorities(text_of(pem_text), "add_certificate_authority"));
}

error_code context::add_certificate_authority(asio::const_buffer const& pem_text, error_code& ec)
{
    return ec = kept(keep_authorities(text_of(pem_text), "add_certificate_authority"));
}

void context::load_verify_file(std::string const& path)
{
    secret_text text;
    throw_if(read(path, text));
    throw_if(keep_authorities(text, path));
}

error_code context::load_verify_file(std::string const& path, error_code& ec)
{
    secret_text text;
    if (!(ec = kept(read(path, text))))
        ec = kept(keep_authorities(text, path));
    return ec;
}

void context::set_default_verify_paths()
{
    error_code ec;
    throw_if(set_default_verify_paths(ec), "set_default_verify_paths");
}

error_code context::set_default_verify_paths(error_code& ec)
{
    if (!(ec = kept({changeable(), "set_default_verify_paths"})))
        spec_.verify_system_authorities = true;
    return ec;
}

void context::set_verify_mode(verify_mode mode)
{
    error_code ec;
    throw_if(set_verify_mode(mode, ec), "set_verify_mode");
}

error_code context::set_verify_mode(verify_mode mode, error_code& ec)
{
    if ((ec = kept({changeable(), "set_verify_mode"})))
        return ec;
    result<peer_verification> const verification = verification_of(mode, spec_.role);
    if (verification)
        spec_.verify = *verification;
    return ec = kept({verification ? error_code{} : verification.error(), "set_verify_mode"});
}

void context::set_verify_depth(int depth)
{
    error_code ec;
    throw_if(set_verify_depth(depth, ec), "set_verify_depth");
}

error_code context::set_verify_depth(int depth, error_code& ec)
{
    if ((ec = kept({changeable(), "set_verify_depth"})))
        return ec;
    if (depth < 0)
        return ec = kept({cleat::error::bad_verify_setting, "set_verify_depth"});
    spec_.verify_depth = depth;
    return ec;
}

error_code context::set_verify_function(cleat::tls::verify_function decide, error_code& ec)
{
    if ((ec = kept({changeable(), "set_verify_callback"})))
        return ec;
    spec_.verify_function = std::move(decide);
    return spec_.verify == peer_verification::none ? set_verify_mode(verify_peer, ec) : ec;
}

context::outcome context::keep_options(options o)
{
    if (error_code const late = changeable())
        return {late, "set_options"};
    if (options const others = o & ~honoured; others != 0)
        return {
            asio::error::invalid_argument, "set_options: not honoured: " + option_names(others)};
    protocol_version const lowest =
        (o & no_tlsv1_2) != 0 ? protocol_version::tls_1_3 : spec_.version_min;
    protocol_version const highest =
        (o & no_tlsv1_3) != 0 ? protocol_version::tls_1_2 : spec_.version_max;
    if (lowest > highest)
        return {asio::error::invalid_argument, "set_options: no version of TLS is left"};
    spec_.version_min = lowest;
    spec_.version_max = highest;
    if ((o & server_preference) != 0)
        spec_.prefer_server_ciphers = true;
    if ((o & no_ticket) != 0) {
        spec_.tickets = nullptr;
        spec_.want_tickets = false;
    }
    return {};
}

void context::set_options(options o)
{
    throw_if(keep_options(o));
}

error_code context::set_options(options o, error_code& ec)
{
    return ec = kept(keep_options(o));
}

cleat::tls::context_spec& context::spec()
{
    throw_if(changeable(), "spec");
    return spec_;
}

cleat::tls::context_spec context::whole_spec() const
{
    cleat::tls::context_spec spec = spec_;
    if (role_is_open_ && certificate_.chain.empty() && spec.certificates.empty()) {
        spec.role = role::client;
        // A server always sends a certificate: for a client verify_peer means that it must be
        // good.
        if (spec.verify == peer_verification::optional)
            spec.verify = peer_verification::required;
    }
    for (pair const& each : pairs_)
        spec.certificates.push_back(each.source);
    if (!certificate_.chain.empty()) {
        spec.certificates.push_back(certificate_);
        if (certificate_.private_key.empty())
            spec.certificates.back().private_key = certificate_.chain;
    }
    return spec;
}

// The context has the keys now, and nothing can be changed any more.
void context::drop_texts() noexcept
{
    spec_.certificates.clear();
    pairs_.clear();
    certificate_ = {};
}

void context::make()
{
    std::lock_guard const lock{made_->making}; // house(mutex): see lazy_context
    if (!made_->context) {
        made_->context.emplace(whole_spec());
        drop_texts();
        made_->is_done = true;
    } else if (!made_->context->unusable_reason().empty()) {
        throw cleat::tls::spec_error{made_->context->unusable_reason()};
    }
}

void context::check()
{
    std::string const why = reason_against([this] { make(); });
    if (!why.empty())
        throw_if({cleat::error::unusable_context, why});
}

error_code context::check(error_code& ec)
{
    std::string const why = reason_against([this] { make(); });
    return ec = why.empty() ? error_code{} : kept({cleat::error::unusable_context, why});
}

context::operator cleat::tls::context&()
{
    if (made_->is_done)
        return *made_->context;
    std::lock_guard const lock{made_->making}; // house(mutex): see lazy_context
    std::optional<cleat::tls::context>& only = made_->context;
    if (!only) {
        cleat::tls::context_spec const spec = whole_spec();
        std::string why = reason_against([&] { only.emplace(spec); });
        if (!only)
            only.emplace(cleat::tls::context::unusable(spec.role, std::move(why)));
        drop_texts();
        made_->is_done = true;
    }
    return *only;
}

ssl_ctx_st* context::native_handle()
{
    make();
    return made_->context->native_handle();
}

} // namespace cleat::net::ssl
