// context: the settings of TLS connections, made from a spec, immutable, one for each worker.

#pragma once

#include <cleat/tls/context_spec.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct ssl_ctx_st;
struct ssl_st;

namespace cleat::tls {

class candidates;
class certificate_choice;
class certificate_set;
class certificate_table;
class session_id_cache;
struct cache_use;
struct certificate_request;

/// spec_error is a context_spec that cannot be used: what() names the setting or the certificate's
/// source, and the cure.
struct spec_error : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

/// certificate_end is when a certificate expires, and how long it was valid until then.
struct certificate_end
{
    std::string origin; ///< As in certificate_source.
    /// In seconds: a system_clock::time_point cannot hold dates after 2262.
    std::chrono::sys_seconds valid_until;
    std::chrono::seconds lifetime{};
};

/// engine_count is the number of engines of a context. An owner that replaces a context frees the
/// old one when its last engine has ended. The count has no lock: it belongs to one thread.
struct engine_count
{
    /// The number now.
    std::size_t engines = 0;
    /// Called at the end of an engine after which `engines` is 0. The engine does not use its
    /// context any more, so this function may destroy the context.
    void (*on_none_left)(engine_count& count) noexcept = nullptr;
};

/// context owns its library context where the TLS library has one, its own parsed copies of
/// certificates and keys, and its ticket keys, so that two workers' contexts share nothing.
///
/// It must outlive its engines. With tickets or certificate compression, all its engines stay on
/// one thread: the keys and the compressed certificates have no lock.
class context
{
public:
    /// Builds everything or throws spec_error. It runs handshakes in memory, so that
    /// the library fetches and caches its algorithms now, not at the first connection. A server's
    /// name for which no certificate makes a handshake possible is a spec_error.
    explicit context(context_spec const& spec);

    /// A server's context whose certificates are in a store that its owner has filled. Its
    /// handshakes may stop with want::certificate. The default certificate is loaded now. The
    /// context stays on the table's thread, and ends before set and table.
    context(
        context_spec const& spec, certificate_set const& certificates, certificate_table& table);

    /// Another context of that kind, with the settings of `like` and other certificates. Both have
    /// the same library context and ticket keys, and stay on one thread: only the last to end frees
    /// them. The default certificate is the same, and no type of key is new.
    context(context const& like, certificate_set const& certificates);

    /// unusable is the place of a context whose settings cannot be used: its engines fail each
    /// handshake with error::unusable_context, and failure().reason is `why`. For an owner whose
    /// streams begin where an exception would be lost.
    [[nodiscard]] static context unusable(tls::role role, std::string why);

    context(context&&) noexcept;
    context& operator=(context&&) noexcept;
    ~context();

    /// role is the role of its connections.
    [[nodiscard]] tls::role role() const noexcept;

    /// unusable_reason is why an unusable context cannot be used; empty for any other context.
    [[nodiscard]] std::string const& unusable_reason() const noexcept;

    /// warnings are findings that do not prevent service: an expired certificate, a name that two
    /// certificates answer to, a chain in the wrong order. One sentence each, with the origin.
    [[nodiscard]] std::vector<std::string> const& warnings() const noexcept;

    /// unusable_types are the types of key with which no handshake is possible: other certificates
    /// serve all names of these.
    [[nodiscard]] candidates const& unusable_types() const noexcept;

    /// certificate_ends are the ends of a server's certificates, in the order of the spec.
    [[nodiscard]] std::vector<certificate_end> const& certificate_ends() const noexcept;

    /// certificate_names are the names of one certificate, in the form of name_key. `place` is the
    /// certificate's place in certificate_ends.
    [[nodiscard]] std::vector<std::string> certificate_names(std::size_t place) const;

    /// leave_thread frees what the TLS library keeps of this context for the calling thread. A
    /// thread that has used a context, and is not the one that frees it, calls this before that.
    void leave_thread() const noexcept;

    /// drop_past_tickets forgets the ticket keys, and the chain keys of ticket_ratchets, of epochs
    /// that are over. A handshake in a new epoch does so too: call it at the end of an epoch, on
    /// the thread of the engines, for a server without handshakes.
    void drop_past_tickets() const noexcept;

    /// keep_sessions_in: a server with context_spec::session_ids keeps sessions in the cache of its
    /// thread, which outlives its engines. Contexts made like one another share it.
    void keep_sessions_in(session_id_cache& cache) noexcept;

    /// choice is by what a server chooses among its certificates; null for a client.
    [[nodiscard]] certificate_choice const* choice() const noexcept;

    /// native_handle is the library's SSL_CTX, for settings that a spec does not have.
    [[nodiscard]] ssl_ctx_st* native_handle() const noexcept;

    /// sessions is how a client's connections use context_spec::sessions; null: they do not.
    [[nodiscard]] cache_use const* sessions() const noexcept;

    /// prepare_client gives a new SSL of a client context its role, SNI and the name to verify.
    void prepare_client(ssl_st* ssl) const;

    /// prepare_server gives a new SSL of a server context its role. It returns the connection's
    /// request, which lives as long as the SSL, where certificates are in a store; and else null.
    [[nodiscard]] std::unique_ptr<certificate_request> prepare_server(ssl_st* ssl) const;

    /// count_engines: engines that begin from now on are counted in `count`, which outlives them.
    /// They begin and end on one thread, and on_none_left is set.
    void count_engines(engine_count& count) noexcept;

    /// counted_in is where engines are counted, or null.
    [[nodiscard]] engine_count* counted_in() const noexcept;

private:
    struct state;
    explicit context(std::shared_ptr<state> made) noexcept;

    std::shared_ptr<state> state_;
    std::unique_ptr<certificate_choice const> choice_; // Null: certificates are in the state.
    engine_count* count_ = nullptr;                    // Null: engines are not counted.
};

/// is_same_policy: two servers' specs have the same settings, whatever their certificates. Specs
/// with a verify_function are never the same.
[[nodiscard]] bool is_same_policy(context_spec const& one, context_spec const& other);

/// find_mistakes returns every mistake in a spec, one sentence each; context's constructor throws
/// only the first. Empty: context{spec} can be built; or, where the spec has a certificate_store,
/// whose files are all read, a net::server.
[[nodiscard]] std::vector<std::string> find_mistakes(context_spec const& spec);
[[nodiscard]] std::vector<std::string> find_mistakes(
    context_spec const& spec, certificate_set const& certificates, certificate_table& table);

/// find_settings_mistakes is find_mistakes without the certificates, which may be missing.
[[nodiscard]] std::vector<std::string> find_settings_mistakes(context_spec const& spec);

/// library_version is the linked TLS library's own name and version: "AWS-LC 5.12.0".
[[nodiscard]] std::string library_version();

} // namespace cleat::tls
