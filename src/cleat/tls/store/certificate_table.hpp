// certificate_table: the certificates that a worker has loaded. Not a public header.

#pragma once

#include <cleat/tls/store/certificate_store.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

namespace cleat::tls {

class certificate_choice;
struct certificate;
namespace backend {
class library_state;
}

/// digest_hash is a digest's first bytes, which are evenly distributed.
struct digest_hash
{
    std::size_t operator()(file_digest const& digest) const noexcept
    {
        std::size_t hash = 0;
        static_assert(sizeof digest >= sizeof hash);
        std::memcpy(&hash, digest.data(), sizeof hash);
        return hash;
    }
};

/// certificate_table keeps the certificates that clients asked for last, by the digest of their
/// files: the certificates of several stores can be in it. It belongs to one thread. A certificate
/// that it drops is freed, and its key wiped, when the last handshake with it has ended. It must
/// outlive the contexts that use it.
class certificate_table
{
public:
    using loaded = std::shared_ptr<certificate const>;

    /// Keeps at most `capacity` certificates, at least one.
    explicit certificate_table(std::size_t capacity);
    ~certificate_table();
    certificate_table(certificate_table&&) = delete;

    /// library is the state that the certificates are made in, for all contexts of the worker. Any
    /// thread.
    [[nodiscard]] backend::library_state const& library() const noexcept { return *library_; }

    /// leave_thread is called by a thread that has made contexts for the table's owner, and that
    /// does not keep them: see context::leave_thread.
    void leave_thread() const noexcept;

    /// find is a loaded certificate, or null; it becomes the most recently used.
    [[nodiscard]] certificate const* find(file_digest const& wanted) noexcept;

    /// insert keeps a certificate that is not in the table, and drops the least recently used one
    /// where there is no room.
    void insert(file_digest const& digest, loaded certificate);

    /// set_capacity drops what does not fit any more.
    void set_capacity(std::size_t capacity) noexcept;

    /// clear drops all.
    void clear() noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }

private:
    struct row
    {
        file_digest digest;
        loaded value;
    };

    void drop_last() noexcept;

    std::size_t capacity_;
    std::unique_ptr<backend::library_state> library_; // Freed after the certificates.
    std::list<row> by_use_;                           // The most recently used first.
    std::unordered_map<file_digest, std::list<row>::iterator, digest_hash> places_;
};

/// certificate_request belongs to one connection: the certificate of the store that it needs, and
/// the result of loading it. The ClientHello's callback and the owner of the connection exchange
/// both through it.
struct certificate_request
{
    static constexpr certificate_store::number none = certificate_store::none;

    certificate_choice const* choice = nullptr; ///< Among the certificates of the connection.
    certificate_store const* store = nullptr;   ///< That has them.
    certificate_store::number wanted = none;    ///< Set while the handshake waits for it.
    certificate_table::loaded provided;      ///< Set it, or refusal, before the handshake goes on.
    std::string refusal;                     ///< Why it cannot be loaded.
    certificate_store::number served = none; ///< The one that the handshake uses.
};

} // namespace cleat::tls
