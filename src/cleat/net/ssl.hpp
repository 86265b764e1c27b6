// ssl: the names of boost::asio::ssl on cleat, for a program that is already written.
//
//     namespace ssl = cleat::net::ssl; // was: namespace ssl = boost::asio::ssl;
//
// A program with a context, stream and handshakes compiles with that line changed. A call of a
// function that Asio has and cleat lacks is an error of the compiler. A call that comes too late,
// or an option that is not honoured, is an error when the program runs. New programs use
// net::stream and tls::context_spec.

#pragma once

#include <cleat/net/stream.hpp>
#include <cleat/net/verify.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/context_spec.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/stream_traits.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cleat::net {

// A program on beast::ssl_stream may call it without its namespace.
using boost::beast::get_lowest_layer;

} // namespace cleat::net

namespace cleat::net::ssl {

/// The names that asio::ssl has.
using stream_base = net::stream_base;

using net::host_name_verification;
using net::verify_client_once;
using net::verify_context;
using net::verify_fail_if_no_peer_cert;
using net::verify_mode;
using net::verify_none;
using net::verify_peer;

/// error has Asio's names for errors of the stream.
namespace error {
/// stream_truncated: the peer's FIN came without its close_notify.
inline constexpr cleat::error stream_truncated = cleat::error::truncated;
} // namespace error

/// context_base has Asio's names for a context's settings.
class context_base
{
public:
    /// sslv23 is the old name for "any version that both sides support".
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
        sslv23 = tls,
        sslv23_client = tls_client,
        sslv23_server = tls_server,
    };
    /// file_format has PEM only.
    enum file_format
    {
        pem
    };
    /// password_purpose is always for_reading: no key is written.
    enum password_purpose
    {
        for_reading,
        for_writing
    };

    /// options have OpenSSL's values. Those with a name are always in effect, except no_tlsv1_2 and
    /// no_tlsv1_3, which narrow the versions. Of OpenSSL's own, set_options also takes
    /// SSL_OP_CIPHER_SERVER_PREFERENCE, SSL_OP_NO_TICKET and SSL_OP_NO_RENEGOTIATION.
    using options = std::uint64_t;
    static constexpr options default_workarounds = 0x8000'0850;
    static constexpr options single_dh_use = 0;
    static constexpr options no_sslv2 = 0;
    static constexpr options no_sslv3 = 0x0200'0000;
    static constexpr options no_tlsv1 = 0x0400'0000;
    static constexpr options no_tlsv1_1 = 0x1000'0000;
    static constexpr options no_tlsv1_2 = 0x0800'0000;
    static constexpr options no_tlsv1_3 = 0x2000'0000;
    static constexpr options no_compression = 0x0002'0000;

protected:
    ~context_base() = default;
};

/// context collects settings as asio::ssl::context does, and becomes a tls::context at its first
/// use: by a stream, or native_handle. After that it can no longer be changed, and every setting is
/// errc::operation_not_permitted. The defaults are secure ones, where Asio's are the library's.
///
/// Certificates, keys and authorities are read, decoded and compared in the call that gives them.
/// A call that fails changes nothing. Each has two forms, as in Asio: one returns the error_code,
/// the other throws boost::system::system_error with the same code. Its what() names the file, the
/// line and the cure, and so does failure_reason after either form.
///
/// A stream's constructor never throws for a setting. A mistake that only all settings together
/// show, such as a certificate without a key, is an error of `check`. Without that call each
/// handshake fails with error::unusable_context, and stream::engine().failure().reason says why. So
/// a program that renews certificates makes a new context, calls `check`, and then replaces the old
/// one.
///
/// Settings are one thread's. Streams of any thread may then use the context at the same time.
class context : public context_base
{
public:
    /// native_handle_type is SSL_CTX of the TLS library.
    using native_handle_type = ssl_ctx_st*;

    /// A method without a role is a server's, or a client's if no certificate is set.
    explicit context(method m);

    /// use_certificate_chain: the certificate with its intermediates. error::unusable_pem: there is
    /// none, or one is damaged. A file that cannot be read is an error of the system.
    ///
    /// The key follows it. A key that came first must belong to it: error::key_mismatch. After a
    /// certificate and its key, a certificate for another key begins a second pair, which takes
    /// the place of one with the same type of key; so a server can have ECDSA and RSA.
    void use_certificate_chain(std::string_view pem_text);
    void use_certificate_chain(boost::asio::const_buffer const& pem_text);
    error_code use_certificate_chain(boost::asio::const_buffer const& pem_text, error_code& ec);
    void use_certificate_chain_file(std::string const& path);
    error_code use_certificate_chain_file(std::string const& path, error_code& ec);

    /// Only the first certificate of the text.
    void use_certificate(boost::asio::const_buffer const& pem_text, file_format);
    error_code use_certificate(
        boost::asio::const_buffer const& pem_text, file_format, error_code& ec);
    void use_certificate_file(std::string const& path, file_format);
    error_code use_certificate_file(std::string const& path, file_format, error_code& ec);

    /// use_private_key: error::unusable_pem where there is no key, or one that servers cannot use;
    /// error::key_mismatch where it does not belong to the certificate before it. An encrypted key
    /// is decrypted with the passphrase of set_password_callback; errc::permission_denied where
    /// that is wrong or was not called before. Without this call the key is looked for in the
    /// text of the certificate.
    void use_private_key(std::string_view pem_text, file_format);
    void use_private_key(boost::asio::const_buffer const& pem_text, file_format);
    error_code use_private_key(
        boost::asio::const_buffer const& pem_text, file_format, error_code& ec);
    void use_private_key_file(std::string const& path, file_format);
    error_code use_private_key_file(std::string const& path, file_format, error_code& ec);

    /// set_password_callback: std::string(std::size_t length_max, password_purpose), called by
    /// use_private_key and use_private_key_file. Set it before them.
    template <class Callback>
    void set_password_callback(Callback callback)
    {
        error_code ec;
        set_password_callback(std::move(callback), ec);
        throw_if(ec, "set_password_callback");
    }
    template <class Callback>
    error_code set_password_callback(Callback callback, error_code& ec)
    {
        if (!(ec = kept({changeable(), "set_password_callback"})))
            password_ = std::move(callback);
        return ec;
    }

    /// Authorities that peers' certificates must chain to. Each call adds to them. A text without
    /// a certificate, or with a damaged one, is error::unusable_pem.
    void add_certificate_authority(std::string_view pem_text);
    void add_certificate_authority(boost::asio::const_buffer const& pem_text);
    error_code add_certificate_authority(boost::asio::const_buffer const& pem_text, error_code& ec);
    void load_verify_file(std::string const& path);
    error_code load_verify_file(std::string const& path, error_code& ec);
    /// set_default_verify_paths adds the system's authorities.
    void set_default_verify_paths();
    error_code set_default_verify_paths(error_code& ec);

    /// set_verify_mode: see verification_of for error::bad_verify_setting.
    void set_verify_mode(verify_mode mode);
    error_code set_verify_mode(verify_mode mode, error_code& ec);
    /// set_verify_depth: how many intermediates a peer may send; negative:
    /// error::bad_verify_setting.
    void set_verify_depth(int depth);
    error_code set_verify_depth(int depth, error_code& ec);
    /// set_verify_callback: bool(bool preverified, verify_context&), called during handshakes on
    /// their thread; an exception means false. Where verification is off it turns verify_peer on,
    /// because otherwise the callback's result would have no effect; verify_none after it turns
    /// that off again.
    template <class Callback>
    void set_verify_callback(Callback callback)
    {
        error_code ec;
        set_verify_callback(std::move(callback), ec);
        throw_if(ec, "set_verify_callback");
    }
    template <class Callback>
    error_code set_verify_callback(Callback callback, error_code& ec)
    {
        return set_verify_function(verify_function_of(std::move(callback)), ec);
    }

    /// set_options: an option that cannot take effect is errc::invalid_argument, as are options
    /// that leave no version of TLS; what() says which.
    void set_options(options o);
    error_code set_options(options o, error_code& ec);

    /// use_tmp_dh and use_tmp_dh_file do not compile: delete the call.
    template <class... Arguments>
    void use_tmp_dh(Arguments const&...)
    {
        refuse_parameters<Arguments...>();
    }
    template <class... Arguments>
    void use_tmp_dh_file(Arguments const&...)
    {
        refuse_parameters<Arguments...>();
    }

    /// spec gives access to settings for which Asio has no function, such as server_name. Throws
    /// once the context is in use.
    [[nodiscard]] cleat::tls::context_spec& spec();

    /// check makes the context: after it no setting can be changed. error::unusable_context where
    /// the settings cannot be used together, and failure_reason says why; then they can still be
    /// changed.
    void check();
    error_code check(error_code& ec);

    /// failure_reason is the text of the last call of this context that failed, what() of the form
    /// that throws: which file and line, or which settings, and the cure. Empty: none has failed.
    /// For the thread that makes the settings.
    [[nodiscard]] std::string const& failure_reason() const noexcept { return failure_reason_; }

    /// The context itself, made by the first call. Where its settings cannot be used, it is
    /// tls::context::unusable.
    operator cleat::tls::context&();

    /// native_handle is the TLS library's SSL_CTX, made by the first call: make all other settings
    /// before. Changes to it affect streams made later. Where there are several certificates it is
    /// the default one's. Throws tls::spec_error.
    [[nodiscard]] native_handle_type native_handle();

private:
    template <class... Arguments>
    static constexpr void refuse_parameters()
    {
        static_assert(
            sizeof...(Arguments) == std::size_t(-1),
            "delete this call: cleat agrees on keys with the named groups of spec().groups, which "
            "need no Diffie-Hellman parameters");
    }

    // The outcome of a call: no error, or an error and its text.
    struct outcome
    {
        error_code error{};
        std::string text{};
    };

    [[nodiscard]] error_code changeable() const noexcept;
    [[nodiscard]] outcome keep_chain(cleat::tls::secret_text text, std::string const& origin);
    [[nodiscard]] outcome keep_key(cleat::tls::secret_text text, std::string const& origin);
    [[nodiscard]] outcome keep_authorities(std::string_view text, std::string const& origin);
    [[nodiscard]] outcome keep_options(options o);
    [[nodiscard]] outcome decrypt(cleat::tls::secret_text& key, std::string const& origin) const;
    [[nodiscard]] outcome read(std::string const& path, cleat::tls::secret_text& text) const;
    [[nodiscard]] cleat::tls::context_spec whole_spec() const;
    void drop_texts() noexcept;
    void make();
    error_code set_verify_function(cleat::tls::verify_function decide, error_code& ec);
    error_code kept(outcome const& found);
    void throw_if(error_code const& ec, std::string const& what);
    void throw_if(outcome const& found);

    // Made by the first stream, or by check. Several threads may have a first one.
    struct lazy_context
    {
        std::mutex making; // house(mutex): threads of the program, and only until it is made
        std::atomic<bool> is_done{false};
        std::optional<cleat::tls::context> context;
    };

    // A certificate with its key, before another one.
    struct pair
    {
        cleat::tls::certificate_source source;
        unsigned key_type; // Its tls::key_type.
    };

    cleat::tls::context_spec spec_;
    std::vector<pair> pairs_;                    // Complete; each of another type.
    cleat::tls::certificate_source certificate_; // The last one. Its parts may be missing.
    std::function<std::string(std::size_t, password_purpose)> password_;
    std::unique_ptr<lazy_context> made_;
    bool role_is_open_ = false;
    std::string failure_reason_;
};

/// stream is asio::ssl::stream's name for net::stream.
template <class NextLayer>
using stream = net::stream<NextLayer>;

} // namespace cleat::net::ssl
