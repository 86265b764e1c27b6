// session: what a client resumes a connection with.

#pragma once

#include <chrono>

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

    explicit operator bool() const noexcept { return session_ != nullptr; }

    /// single_use: it is to serve one connection only, so that nobody can link two of them (RFC
    /// 8446, appendix C.4).
    [[nodiscard]] bool single_use() const noexcept;

    /// by_ticket: the server keeps nothing; otherwise it is a session ID that the server looks up.
    [[nodiscard]] bool by_ticket() const noexcept;

    /// lifetime is how long the server says that its ticket is good for; zero: it does not say.
    [[nodiscard]] std::chrono::seconds lifetime() const noexcept;

    /// allows_early_data: the server said that it takes 0-RTT data with it (RFC 8446, section
    /// 4.6.1). Whether it does is its choice at each connection.
    [[nodiscard]] bool allows_early_data() const noexcept;

    [[nodiscard]] ssl_session_st* native_handle() const noexcept { return session_; }

private:
    ssl_session_st* session_ = nullptr;
};

} // namespace cleat::tls
