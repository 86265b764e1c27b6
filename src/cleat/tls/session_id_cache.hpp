// session_id_cache: the sessions of TLS 1.2 that a worker's clients resume by their ID.

#pragma once

#include <cleat/core/limits.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace cleat::tls {

/// session_id is the ID of a session (RFC 5246, section 7.4.1.3). The number of the worker that has
/// the session is in its first two bytes, and the others are random.
using session_id = std::array<std::uint8_t, 32>;

/// name_worker puts a worker's number into an ID; worker_of reads it.
void name_worker(session_id& id, std::size_t worker) noexcept;
[[nodiscard]] std::size_t worker_of(session_id const& id) noexcept;

/// encoded_session is a session as the TLS library writes it, with its keys. It is wiped when it is
/// dropped.
class encoded_session
{
public:
    encoded_session() noexcept = default;
    /// Throws std::bad_alloc.
    explicit encoded_session(std::span<std::byte const> bytes) : bytes_{bytes.begin(), bytes.end()}
    {
    }
    encoded_session(encoded_session&& other) noexcept = default;
    encoded_session& operator=(encoded_session&& other) noexcept;
    ~encoded_session();

    /// bytes are valid as long as this object.
    [[nodiscard]] std::span<std::byte const> bytes() const noexcept { return bytes_; }
    /// empty: it has no session.
    [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }

private:
    std::vector<std::byte> bytes_;
};

/// session_id_cache keeps the newest sessions of a worker, of all its configurations. Each session
/// has the scope in which it may resume (see context_spec::session_scope), which the TLS library
/// checks. The cache has no lock: it belongs to one thread.
///
/// It has no more sessions than sessions_max, and no more bytes than sessions_max times
/// limits::cached_session_size: sessions with large certificates of clients drop more of the
/// oldest. Sessions are wiped when they are dropped.
class session_id_cache
{
public:
    /// clock is that of `now`: the system's.
    using clock = std::chrono::system_clock;

    /// `worker` is the number of its worker, among `workers`.
    session_id_cache(std::size_t worker, std::size_t workers) noexcept;
    session_id_cache(session_id_cache&&) = delete;
    ~session_id_cache();

    /// bound sets how many sessions it may have, and how long each lives. It drops the oldest ones
    /// beyond that.
    void bound(std::size_t sessions_max, std::chrono::seconds lifetime) noexcept;

    /// keep copies an encoded session. A session is not kept without memory, or where it alone is
    /// larger than the cache may be.
    void keep(
        session_id const& id, std::span<std::byte const> encoded, clock::time_point now) noexcept;

    /// find is a session of this worker's, encoded; empty: it is not there, or too old. Valid until
    /// the next keep.
    [[nodiscard]] std::span<std::byte const> find(
        session_id const& id, clock::time_point now) const noexcept;

    /// is_elsewhere: another worker may have the session.
    [[nodiscard]] bool is_elsewhere(session_id const& id) const noexcept;

    /// ask notes the ID of a session that is_elsewhere and that a handshake waits for. asked is the
    /// last such ID: the caller of the handshake asks that worker, and gives the answer to this
    /// cache before it goes on with the handshake.
    void ask(session_id const& id) noexcept { asked_ = id; }
    [[nodiscard]] session_id const& asked() const noexcept { return asked_; }

    /// answer takes the session that another worker has for an ID; empty: it has none.
    void answer(session_id const& id, encoded_session found) noexcept;

    /// is_answered: the last answer is for this ID, and was not taken.
    [[nodiscard]] bool is_answered(session_id const& id) const noexcept { return answered_ == id; }

    /// take_answer is the session of the last answer for this ID; nothing where the last answer was
    /// for another ID, or was taken already.
    [[nodiscard]] std::optional<encoded_session> take_answer(session_id const& id) noexcept;

    /// worker is the number of its worker.
    [[nodiscard]] std::size_t worker() const noexcept { return worker_; }

    /// size is the number of its sessions.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// memory is the number of bytes that the sessions take, without the allocator's own.
    [[nodiscard]] std::size_t memory() const noexcept { return bytes_; }

private:
    struct entry;

    [[nodiscard]] entry*& bucket_of(session_id const& id) const noexcept;
    void make_buckets() noexcept;
    void drop_oldest() noexcept;
    void drop_excess(std::size_t added) noexcept;

    std::size_t worker_;
    std::size_t workers_;
    std::size_t sessions_max_ = 0;
    std::chrono::seconds lifetime_{};
    std::unique_ptr<entry*[]> buckets_; // A power of two. Null: no session was kept yet.
    std::size_t buckets_count_ = 0;
    entry* oldest_ = nullptr;
    entry* newest_ = nullptr;
    std::size_t size_ = 0;
    std::size_t bytes_ = 0;
    session_id asked_{};
    std::optional<session_id> answered_;
    encoded_session answer_;
};

} // namespace cleat::tls
