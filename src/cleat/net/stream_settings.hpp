// stream_settings: the calls of a stream that come before its handshake: its server, sessions to
// resume, and how its peer is verified.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/net/verify.hpp>
#include <cleat/tls/context_spec.hpp>
#include <cleat/tls/session.hpp>

#include <boost/asio/detail/throw_error.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cleat::net {

/// stream_settings is a part of a net::stream, and not used alone.
template <class Stream>
class stream_settings
{
public:
    // Clients: the server's name, and sessions. set_server and resume come before the handshake,
    // and are error::handshake_begun after its start. On a server's stream both are
    // error::wrong_role.

    /// set_server names the server of this stream. `host` is a DNS name, which is sent as SNI, or
    /// an IP address, which is not. error::bad_host_name: it is neither. Where the context or
    /// set_verify_mode verifies, the server's certificate must have this host: otherwise the
    /// handshake is error::wrong_name. With context_spec::sessions the stream offers a session of
    /// this host and port, and keeps the sessions that the server issues. The context must have no
    /// server_name.
    error_code set_server(std::string const& host, std::uint16_t port, error_code& ec)
    {
        if (!(ec = changeable_client()) && !self().engine().set_server(host, port))
            ec = error::bad_host_name;
        return ec;
    }
    void set_server(std::string const& host, std::uint16_t port)
    {
        error_code ec;
        throw_if(set_server(host, port, ec), "set_server");
    }

    /// resume offers a session, such as take_sessions has given; info().resumed says whether the
    /// server has accepted it; otherwise the handshake is a full one. Give a session only to the
    /// server that issued it: the server's certificate is not verified again. error::no_session:
    /// the session is empty.
    error_code resume(tls::session const& offered, error_code& ec)
    {
        if ((ec = changeable_client()))
            return ec;
        if (!offered)
            return ec = error::no_session;
        self().engine().resume(offered);
        return ec;
    }
    void resume(tls::session const& offered)
    {
        error_code ec;
        throw_if(resume(offered, ec), "resume");
    }

    /// take_sessions returns the sessions that the server has issued since the last call, oldest
    /// first, where the context has keep_sessions. In TLS 1.3 they come with the first reads.
    [[nodiscard]] std::vector<tls::session> take_sessions() noexcept
    {
        return self().engine().take_sessions();
    }

    // These functions replace the context's verification settings for this stream. After the start
    // of the handshake they are error::handshake_begun. A server's stream with settings of its own
    // resumes no session, and a client's leaves the cache of context_spec::sessions. Without an
    // error_code they throw boost::system::system_error.

    /// set_verify_mode: see verify_mode; error::bad_verify_setting for unknown flags. The
    /// authorities are the context's: where it has none, no certificate is good.
    error_code set_verify_mode(verify_mode mode, error_code& ec)
    {
        if (!(ec = changeable()))
            ec = detail::set_verify_mode(self().native_handle(), role(), mode);
        return ec;
    }
    void set_verify_mode(verify_mode mode)
    {
        error_code ec;
        throw_if(set_verify_mode(mode, ec), "set_verify_mode");
    }

    /// set_verify_depth: how many intermediates the peer may send; negative:
    /// error::bad_verify_setting.
    error_code set_verify_depth(int depth, error_code& ec)
    {
        if (!(ec = changeable()))
            ec = detail::set_verify_depth(self().native_handle(), depth);
        return ec;
    }
    void set_verify_depth(int depth)
    {
        error_code ec;
        throw_if(set_verify_depth(depth, ec), "set_verify_depth");
    }

    /// set_verify_callback: bool(bool preverified, verify_context&), called during the handshake on
    /// its thread; an exception means false. Where verification is off it turns verify_peer on,
    /// because otherwise the callback's result would have no effect; verify_none after it turns
    /// that off again.
    template <class Callback>
    error_code set_verify_callback(Callback callback, error_code& ec)
    {
        if (!(ec = changeable()))
            ec = detail::set_verify_function(
                self().native_handle(), verify_function_of(std::move(callback)));
        return ec;
    }
    template <class Callback>
    void set_verify_callback(Callback callback)
    {
        error_code ec;
        throw_if(set_verify_callback(std::move(callback), ec), "set_verify_callback");
    }

protected:
    stream_settings() = default;

private:
    [[nodiscard]] Stream& self() noexcept { return static_cast<Stream&>(*this); }
    [[nodiscard]] tls::role role() noexcept { return self().core_.role; }
    [[nodiscard]] error_code changeable() noexcept
    {
        return self().core_.begun ? error_code{error::handshake_begun} : error_code{};
    }
    [[nodiscard]] error_code changeable_client() noexcept
    {
        return role() == tls::role::client ? changeable() : error_code{error::wrong_role};
    }
    static void throw_if(error_code const& ec, char const* what)
    {
        boost::asio::detail::throw_error(ec, what);
    }
};

} // namespace cleat::net
