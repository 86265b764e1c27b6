// connection_for_tests: a connection in memory between the SSL of two contexts.

#pragma once

#include <cleat/tls/backend.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/handles.hpp>
#include <cleat/tls/memory_handshake.hpp>
#include <cleat/tls/openssl_error.hpp>

#include <array>
#include <string>
#include <vector>

namespace cleat::tls {

/// both_versions are those that the library speaks.
inline constexpr std::array both_versions{protocol_version::tls_1_2, protocol_version::tls_1_3};

using session_ptr = std::unique_ptr<SSL_SESSION, freed_by<SSL_SESSION_free>>;

/// test_connection is a connection before its handshake; settings of either side can still be
/// changed.
struct test_connection
{
    test_connection(context const& server_context, context const& client_context)
        : server{SSL_new(server_context.native_handle())}
        , client{SSL_new(client_context.native_handle())}
    {
        joined = join_in_memory(server.get(), client.get());
        client_context.prepare_client(client.get());
        SSL_set_ex_data(client.get(), sessions_index(), &sessions);
        SSL_CTX_set_session_cache_mode(client_context.native_handle(), SSL_SESS_CACHE_CLIENT);
        SSL_CTX_sess_set_new_cb(client_context.native_handle(), keep_session);
    }

    /// OpenSSL does not resume a session whose connection ended without close_notify.
    ~test_connection()
    {
        SSL_set_shutdown(client.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    }
    test_connection(test_connection const&) = delete;
    test_connection& operator=(test_connection const&) = delete;

    /// handshake runs the handshake, and then sends a byte from the server: tickets come before it.
    bool handshake()
    {
        clear_errors();
        ok = joined && shake_hands(server.get(), client.get());
        failure = drain_errors();
        char byte = 'x';
        if (ok)
            ok = SSL_write(server.get(), &byte, 1) == 1 && SSL_read(client.get(), &byte, 1) == 1;
        return ok;
    }

    /// client_alert is the alert that the client reads after the server has failed, or 0.
    int client_alert()
    {
        clear_errors();
        static_cast<void>(SSL_do_handshake(client.get()));
        char byte = 0;
        static_cast<void>(SSL_read(client.get(), &byte, 1));
        int const reason = ERR_GET_REASON(drain_errors().code);
        return reason > 1000 ? reason - 1000 : 0;
    }

    [[nodiscard]] std::string server_identity() const
    {
        return backend::peer_common_name(client.get());
    }

    [[nodiscard]] std::string alpn() const
    {
        unsigned char const* data = nullptr;
        unsigned size = 0;
        SSL_get0_alpn_selected(client.get(), &data, &size);
        return {reinterpret_cast<char const*>(data), size};
    }

    [[nodiscard]] bool resumed() const { return SSL_session_reused(server.get()) == 1; }

    ssl_ptr server;
    ssl_ptr client;
    bool joined = false;
    bool ok = false;
    library_failure failure;
    std::vector<session_ptr> sessions; ///< The client's new sessions, in order.

private:
    static int sessions_index()
    {
        static int const index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
        return index;
    }

    static int keep_session(SSL* ssl, SSL_SESSION* session)
    {
        auto* const kept =
            static_cast<std::vector<session_ptr>*>(SSL_get_ex_data(ssl, sessions_index()));
        kept->emplace_back(session);
        return 1; // It has taken over the reference.
    }
};

} // namespace cleat::tls
