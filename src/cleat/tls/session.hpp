// session: a TLS session that a client can resume.

#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

struct ssl_session_st;

namespace cleat::tls {

/// session holds one reference to the library's session: a ticket (RFC 5077; RFC 8446, section
/// 4.6.1) or a session ID (RFC 5246, section 7.4.1.2). A copy is one more reference to the same
/// session. It belongs to the thread of the context that it came from, and may outlive its
/// connection.
class session
{
public:
    session() noexcept = default;
    /// Takes over the caller's reference.
    explicit session(ssl_session_st* owned) noexcept : session_{owned} {}
    session(session const& other) noexcept;
    session(session&& other) noexcept;
    session& operator=(session other) noexcept;
    ~session();

    /// False where it holds no session.
    explicit operator bool() const noexcept { return session_ != nullptr; }

    /// single_use: use it for one connection only, so that an observer cannot link two connections
    /// (RFC 8446, appendix C.4).
    [[nodiscard]] bool single_use() const noexcept;

    /// by_ticket: it is a ticket; otherwise it is a session ID, which the server must have stored.
    [[nodiscard]] bool by_ticket() const noexcept;

    /// lifetime is the ticket's lifetime as the server has sent it; zero: it has sent none.
    [[nodiscard]] std::chrono::seconds lifetime() const noexcept;

    /// allows_early_data: the ticket says that the server accepts 0-RTT data with it (RFC 8446,
    /// section 4.6.1). The server can still reject the data of any connection.
    [[nodiscard]] bool allows_early_data() const noexcept;

    /// native_handle is the TLS library's SSL_SESSION. The reference stays with this object.
    [[nodiscard]] ssl_session_st* native_handle() const noexcept { return session_; }

private:
    ssl_session_st* session_ = nullptr;
};

/// encode_session gives the session as bytes, which decode_session reads again, in this process or
/// another one with the same TLS library. The bytes are secret. Empty: the library does not resume
/// such a session. Throws std::bad_alloc.
[[nodiscard]] std::vector<std::byte> encode_session(session const& kept);

/// decode_session is empty where the bytes are no session.
[[nodiscard]] session decode_session(std::span<std::byte const> bytes) noexcept;

} // namespace cleat::tls
