// Handshakes of GnuTLS, on push and pull functions in memory.
//
// GnuTLS has no cache of sessions: a program brings one. Here it is a table with a mutex, as a
// server with threads would have it; where contexts are shared, so is the table.
#include "handshakes.hpp"
#include "memory_transport.hpp"

#include <cerrno>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <gnutls/gnutls.h>
#include <sys/types.h>

namespace {

using study::bytes;
using study::handshake_kind;
using study::role;
using study::task;
using study::unsupported;

void must(int result, char const* what)
{
    if (result < 0)
        throw std::runtime_error(std::string{what} + ": " + gnutls_strerror(result));
}

// ECDSA's is another one in TLS 1.3, which binds it to the curve.
char const* signature(task const& use)
{
    return use.rsa()     ? "+SIGN-RSA-PSS-RSAE-SHA256"
           : use.tls13() ? "+SIGN-ECDSA-SECP256R1-SHA256"
                         : "+SIGN-ECDSA-SHA256";
}

std::string priorities(task const& use)
{
    std::string const base =
        std::string{"NORMAL:-CIPHER-ALL:+AES-128-GCM:-MAC-ALL:+AEAD:-SIGN-ALL:"} + signature(use) +
        ":-GROUP-ALL:";
    if (use.tls13())
        return base + (use.post_quantum() ? "+GROUP-X25519-MLKEM768" : "+GROUP-X25519") +
               ":-VERS-ALL:+VERS-TLS1.3";
    // In TLS 1.2 the list is also that of the curves which a certificate may be on.
    return base + "+GROUP-X25519:+GROUP-SECP256R1:-VERS-ALL:+VERS-TLS1.2:-KX-ALL:" +
           (use.rsa() ? "+ECDHE-RSA" : "+ECDHE-ECDSA");
}

char const* suite(task const& use)
{
    return use.tls13() ? "TLS_AES_128_GCM_SHA256"
           : use.rsa() ? "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
                       : "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256";
}

/// session_table is what a server resumes from by ID. The oldest goes when it is full.
class session_table
{
public:
    static int store(void* self, gnutls_datum_t key, gnutls_datum_t data)
    {
        auto& table = *static_cast<session_table*>(self);
        std::lock_guard const held{table.mutex_};
        if (table.sessions_.size() == size_max)
            table.sessions_.clear(); // simple, and never in a run of seconds
        table.sessions_.insert_or_assign(text(key), text(data));
        return 0;
    }

    static gnutls_datum_t retrieve(void* self, gnutls_datum_t key)
    {
        auto& table = *static_cast<session_table*>(self);
        std::lock_guard const held{table.mutex_};
        auto const found = table.sessions_.find(text(key));
        if (found == table.sessions_.end())
            return {nullptr, 0};
        // GnuTLS frees it with its own allocator.
        auto const size = static_cast<unsigned>(found->second.size());
        auto* const copy = static_cast<unsigned char*>(gnutls_malloc(size));
        std::copy(found->second.begin(), found->second.end(), copy);
        return {copy, size};
    }

    static int remove(void* self, gnutls_datum_t key)
    {
        auto& table = *static_cast<session_table*>(self);
        std::lock_guard const held{table.mutex_};
        table.sessions_.erase(text(key));
        return 0;
    }

private:
    static constexpr std::size_t size_max = 20 * 1024; // as many as OpenSSL keeps by default

    static std::string text(gnutls_datum_t const& datum)
    {
        return {reinterpret_cast<char const*>(datum.data), datum.size};
    }

    std::mutex mutex_;
    std::map<std::string, std::string> sessions_;
};

/// gnutls_contexts is what a program of GnuTLS shares between its sessions.
class gnutls_contexts
{
public:
    explicit gnutls_contexts(task const& asked) : use(asked)
    {
        if (use.contexts == study::sharing::library)
            throw unsupported("the library has no library contexts");
        if (use.kind == handshake_kind::id && use.tls13())
            throw unsupported("in TLS 1.3 the server resumes from tickets only");
        int const known = gnutls_priority_init(&pinned, priorities(use).c_str(), nullptr);
        if (known < 0 && use.post_quantum())
            throw unsupported("the library does not have this group");
        must(known, "the priorities");
        must(gnutls_certificate_allocate_credentials(&client), "credentials");
        must(gnutls_certificate_allocate_credentials(&server), "credentials");
        char const* const pem = use.certificate.c_str();
        must(
            gnutls_certificate_set_x509_key_file(server, pem, pem, GNUTLS_X509_FMT_PEM),
            "the certificate");
        must(gnutls_session_ticket_key_generate(&ticket_key), "the ticket key");
    }
    gnutls_contexts(gnutls_contexts const&) = delete;
    gnutls_contexts& operator=(gnutls_contexts const&) = delete;
    ~gnutls_contexts()
    {
        gnutls_free(ticket_key.data);
        gnutls_certificate_free_credentials(server);
        gnutls_certificate_free_credentials(client);
        gnutls_priority_deinit(pinned);
    }

    task const& use;
    gnutls_priority_t pinned = nullptr;
    gnutls_certificate_credentials_t client = nullptr;
    gnutls_certificate_credentials_t server = nullptr;
    gnutls_datum_t ticket_key{};
    session_table sessions;
};

/// gnutls_thread is the state of a thread: its transports, and the session that its next client
/// resumes.
struct gnutls_thread
{
    explicit gnutls_thread(gnutls_contexts& shared) : contexts(shared) {}
    gnutls_thread(gnutls_thread const&) = delete;
    gnutls_thread& operator=(gnutls_thread const&) = delete;
    ~gnutls_thread() { gnutls_free(session.data); }

    gnutls_contexts& contexts;
    study::memory_transport client;
    study::memory_transport server;
    gnutls_datum_t session{};
};

/// gnutls_side is one connection's client or server.
class gnutls_side
{
public:
    gnutls_side(gnutls_thread& thread, role as)
        : thread_(thread)
        , use_(thread.contexts.use)
        , as_(as)
        , transport_(as == role::client ? thread.client : thread.server)
    {
        bool const tickets = use_.kind == handshake_kind::ticket;
        unsigned const flags = GNUTLS_NONBLOCK | GNUTLS_NO_AUTO_SEND_TICKET |
                               (tickets ? 0U : static_cast<unsigned>(GNUTLS_NO_TICKETS));
        must(
            gnutls_init(&tls_, flags | (as == role::client ? GNUTLS_CLIENT : GNUTLS_SERVER)),
            "gnutls_init");
        must(gnutls_priority_set(tls_, thread.contexts.pinned), "the priorities");
        must(
            gnutls_credentials_set(
                tls_, GNUTLS_CRD_CERTIFICATE,
                as == role::client ? thread.contexts.client : thread.contexts.server),
            "the credentials");
        transport_.clear();
        gnutls_transport_set_ptr(tls_, this);
        gnutls_transport_set_push_function(tls_, push);
        gnutls_transport_set_pull_function(tls_, pull);
        gnutls_transport_set_pull_timeout_function(tls_, pull_timeout);
        if (as == role::client)
            resume();
        else
            keep_sessions();
    }
    gnutls_side(gnutls_side const&) = delete;
    gnutls_side& operator=(gnutls_side const&) = delete;
    ~gnutls_side() { gnutls_deinit(tls_); }

    bool shake(bytes incoming)
    {
        transport_.receive(incoming);
        if (done_) // a further gnutls_handshake would be a renegotiation
            return true;
        if (request_awaited_ && !requested())
            return false;
        int const result = gnutls_handshake(tls_);
        if (result != GNUTLS_E_AGAIN)
            must(result, "the handshake");
        done_ = result == GNUTLS_E_SUCCESS;
        return done_;
    }

    bytes outgoing() const { return transport_.outgoing(); }

    void send()
    {
        if (use_.tls13() && use_.kind == handshake_kind::ticket)
            must(gnutls_session_ticket_send(tls_, 1, 0), "the ticket");
        must(static_cast<int>(gnutls_record_send(tls_, "!", 1)), "the byte");
    }

    bool receive(bytes incoming)
    {
        transport_.receive(incoming);
        char byte = 0;
        ssize_t result = 0;
        do // a ticket ends a call, as if there were nothing more
            result = gnutls_record_recv(tls_, &byte, 1);
        while (result == GNUTLS_E_AGAIN && transport_.readable() > 0);
        bool const good = result == 1 && byte == '!';
        // In TLS 1.2 a client resumes one session again and again.
        if (good && use_.resumes() && (use_.tls13() || !gnutls_session_is_resumed(tls_))) {
            gnutls_free(std::exchange(thread_.session.data, nullptr));
            must(gnutls_session_get_data2(tls_, &thread_.session), "the session");
        }
        return good;
    }

    void ask_again()
    {
        transport_.clear();
        must(gnutls_rehandshake(tls_), "gnutls_rehandshake");
    }

    void expect_again()
    {
        done_ = false;
        request_awaited_ = as_ == role::client;
    }

    void check(bool resumed) const
    {
        if (gnutls_protocol_get_version(tls_) != (use_.tls13() ? GNUTLS_TLS1_3 : GNUTLS_TLS1_2))
            throw std::runtime_error("another version of TLS was agreed on");
        char const* const agreed = gnutls_ciphersuite_get(tls_);
        if (agreed == nullptr || std::string_view{agreed} != suite(use_))
            throw std::runtime_error("another suite was agreed on");
        gnutls_group_t const group =
            use_.post_quantum() ? gnutls_group_get_id("X25519-MLKEM768") : GNUTLS_GROUP_X25519;
        if (gnutls_group_get(tls_) != group && !(resumed && !use_.tls13()))
            throw std::runtime_error("another group was agreed on");
        if ((gnutls_session_is_resumed(tls_) != 0) != resumed)
            throw std::runtime_error(resumed ? "not resumed" : "resumed");
    }

private:
    void resume()
    {
        if (thread_.session.data != nullptr)
            must(
                gnutls_session_set_data(tls_, thread_.session.data, thread_.session.size),
                "the session");
    }

    void keep_sessions()
    {
        if (use_.kind == handshake_kind::ticket)
            must(
                gnutls_session_ticket_enable_server(tls_, &thread_.contexts.ticket_key), "tickets");
        if (use_.kind != handshake_kind::id)
            return;
        gnutls_db_set_ptr(tls_, &thread_.contexts.sessions);
        gnutls_db_set_store_function(tls_, session_table::store);
        gnutls_db_set_retrieve_function(tls_, session_table::retrieve);
        gnutls_db_set_remove_function(tls_, session_table::remove);
    }

    // A client meets the server's request where it reads.
    bool requested()
    {
        char none = 0;
        auto const result = static_cast<int>(gnutls_record_recv(tls_, &none, 1));
        if (result != GNUTLS_E_AGAIN && result != GNUTLS_E_REHANDSHAKE)
            must(result == 0 ? GNUTLS_E_PREMATURE_TERMINATION : result, "the request");
        request_awaited_ = result != GNUTLS_E_REHANDSHAKE;
        return !request_awaited_;
    }

    static gnutls_side& side(gnutls_transport_ptr_t self)
    {
        return *static_cast<gnutls_side*>(self);
    }
    static ssize_t push(gnutls_transport_ptr_t self, void const* from, std::size_t size)
    {
        if (side(self).transport_.write(from, size) == size)
            return static_cast<ssize_t>(size);
        gnutls_transport_set_errno(side(self).tls_, ENOBUFS);
        return -1;
    }
    static ssize_t pull(gnutls_transport_ptr_t self, void* buffer, std::size_t size)
    {
        std::size_t const taken = side(self).transport_.read(buffer, size);
        if (taken > 0)
            return static_cast<ssize_t>(taken);
        gnutls_transport_set_errno(side(self).tls_, EAGAIN);
        return -1;
    }
    static int pull_timeout(gnutls_transport_ptr_t self, unsigned)
    {
        return side(self).transport_.readable() > 0 ? 1 : 0;
    }

    gnutls_thread& thread_;
    task const& use_;
    role as_;
    study::memory_transport& transport_;
    gnutls_session_t tls_ = nullptr;
    bool done_ = false;
    bool request_awaited_ = false;
};

struct gnutls
{
    using contexts = gnutls_contexts;
    using thread_state = gnutls_thread;
    using side = gnutls_side;
    static std::string version() { return std::string{"GnuTLS "} + gnutls_check_version(nullptr); }
};

} // namespace

int main(int argc, char** argv)
{
    return study::run<gnutls>(argc, argv);
}
