// certificate_table: the certificates that a worker has loaded from its store. Not a public header.

#pragma once

#include <cleat/tls/store/certificate_store.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

namespace cleat::tls {

struct certificate;
namespace backend {
class library_state;
}

/// certificate_table keeps the certificates that clients asked for last, and belongs to one thread.
/// A certificate that it drops is freed, and its key wiped, when the last handshake with it has
/// ended. It must outlive the contexts that use it.
class certificate_table
{
public:
    using number = certificate_store::number;
    using loaded = std::shared_ptr<certificate const>;

    /// Keeps at most `capacity` certificates, at least one. The store outlives the table.
    certificate_table(certificate_store const& store, std::size_t capacity);
    ~certificate_table();
    certificate_table(certificate_table&&) = delete;

    [[nodiscard]] certificate_store const& store() const noexcept { return store_; }

    /// library is the state that the certificates are made in, for all contexts of the worker.
    [[nodiscard]] backend::library_state const& library() const noexcept { return *library_; }

    /// find is a loaded certificate, or null; it becomes the most recently used.
    [[nodiscard]] certificate const* find(number wanted) noexcept;

    /// insert keeps a certificate that is not in the table, and drops the least recently used one
    /// where there is no room.
    void insert(number added, loaded certificate);

    [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }

private:
    struct row
    {
        number id;
        loaded value;
    };

    certificate_store const& store_;
    std::size_t capacity_;
    std::unique_ptr<backend::library_state> library_; // Freed after the certificates.
    std::list<row> by_use_;                           // The most recently used first.
    std::unordered_map<number, std::list<row>::iterator> places_;
};

/// certificate_request is one connection's: which certificate of the store it needs, and what came
/// of it. The ClientHello's callback and the owner of the connection talk through it.
struct certificate_request
{
    static constexpr certificate_store::number none = UINT32_MAX;

    certificate_store const* store = nullptr;
    certificate_store::number wanted = none; ///< Set while the handshake waits for it.
    certificate_table::loaded provided;      ///< Set it, or refusal, before the handshake goes on.
    std::string refusal;                     ///< Why it cannot be loaded.
    certificate_store::number served = none; ///< The one that the handshake uses.
};

} // namespace cleat::tls
