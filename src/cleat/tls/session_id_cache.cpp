// A session is one block of memory: a header, and the encoded session behind it. Blocks are in a
// chain of their bucket, and in a list by age.

#include <cleat/core/assert.hpp>
#include <cleat/tls/session_id_cache.hpp>

#include <openssl/crypto.h>

#include <bit>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

namespace cleat::tls {

struct session_id_cache::entry
{
    entry* next_in_bucket;
    entry* newer;
    session_id id;
    std::uint32_t size;  // Of the encoded session.
    std::int64_t expiry; // In seconds since 1970.

    [[nodiscard]] std::byte* encoded() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
    [[nodiscard]] std::size_t block_size() const noexcept { return sizeof(entry) + size; }
};

namespace {

std::int64_t whole_seconds(session_id_cache::clock::time_point time) noexcept
{
    return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
}

constexpr std::size_t number_size = 2; // The worker's, in an ID.

} // namespace

void name_worker(session_id& id, std::size_t worker) noexcept
{
    CLEAT_ASSERT(worker <= std::numeric_limits<std::uint16_t>::max());
    id[0] = static_cast<std::uint8_t>(worker >> 8U);
    id[1] = static_cast<std::uint8_t>(worker);
}

std::size_t worker_of(session_id const& id) noexcept
{
    return std::size_t{id[0]} << 8U | id[1];
}

encoded_session& encoded_session::operator=(encoded_session&& other) noexcept
{
    if (this != &other) {
        OPENSSL_cleanse(bytes_.data(), bytes_.size());
        bytes_ = std::move(other.bytes_);
    }
    return *this;
}

encoded_session::~encoded_session()
{
    OPENSSL_cleanse(bytes_.data(), bytes_.size());
}

session_id_cache::session_id_cache(std::size_t worker, std::size_t workers) noexcept
    : worker_{worker}, workers_{workers}
{
}

session_id_cache::~session_id_cache()
{
    bound(0, {});
}

void session_id_cache::bound(std::size_t sessions_max, std::chrono::seconds lifetime) noexcept
{
    bool const is_other = sessions_max != sessions_max_;
    sessions_max_ = sessions_max;
    lifetime_ = lifetime;
    if (!is_other)
        return;
    drop_excess(0);
    // The buckets are of another number: each session has to find its new one.
    auto const old = std::exchange(buckets_, nullptr);
    if (old == nullptr || sessions_max == 0)
        return;
    make_buckets();
    while (buckets_ == nullptr && oldest_ != nullptr)
        drop_oldest();
    for (entry* each = oldest_; each != nullptr; each = each->newer)
        each->next_in_bucket = std::exchange(bucket_of(each->id), each);
}

// Without memory there are none.
void session_id_cache::make_buckets() noexcept
{
    buckets_count_ = std::bit_ceil(sessions_max_);
    buckets_.reset(new (std::nothrow) entry* [buckets_count_] {});
}

// The bytes behind the number are random, and no client's choice: only IDs of this cache's own are
// kept.
session_id_cache::entry*& session_id_cache::bucket_of(session_id const& id) const noexcept
{
    std::uint64_t random = 0;
    std::memcpy(&random, id.data() + number_size, sizeof random);
    return buckets_[random & (buckets_count_ - 1)];
}

void session_id_cache::drop_oldest() noexcept
{
    entry* const dropped = oldest_;
    std::size_t const size = dropped->block_size();
    if (buckets_ != nullptr) {
        entry** place = &bucket_of(dropped->id);
        while (*place != dropped)
            place = &(*place)->next_in_bucket;
        *place = dropped->next_in_bucket;
    }
    oldest_ = dropped->newer;
    if (oldest_ == nullptr)
        newest_ = nullptr;
    --size_;
    bytes_ -= size;
    OPENSSL_cleanse(dropped, size);
    ::operator delete(dropped);
}

void session_id_cache::drop_excess(std::size_t added) noexcept
{
    std::size_t const count = added == 0 ? 0 : 1;
    while (oldest_ != nullptr && (size_ + count > sessions_max_ ||
                                  bytes_ + added > sessions_max_ * limits::cached_session_size))
        drop_oldest();
}

void session_id_cache::keep(
    session_id const& id, std::span<std::byte const> encoded, clock::time_point now) noexcept
{
    std::size_t const size = sizeof(entry) + encoded.size();
    if (encoded.size() > limits::cached_session_max ||
        size > sessions_max_ * limits::cached_session_size)
        return;
    while (oldest_ != nullptr && oldest_->expiry <= whole_seconds(now))
        drop_oldest();
    drop_excess(size);
    if (buckets_ == nullptr)
        make_buckets();
    void* const memory = buckets_ == nullptr ? nullptr : ::operator new(size, std::nothrow);
    if (memory == nullptr)
        return;
    entry*& bucket = bucket_of(id);
    auto* const made = new (memory) entry{
        bucket, nullptr, id, static_cast<std::uint32_t>(encoded.size()),
        whole_seconds(now + lifetime_)};
    std::memcpy(made->encoded(), encoded.data(), encoded.size());
    bucket = made;
    (newest_ == nullptr ? oldest_ : newest_->newer) = made;
    newest_ = made;
    ++size_;
    bytes_ += size;
}

std::span<std::byte const> session_id_cache::find(
    session_id const& id, clock::time_point now) const noexcept
{
    if (buckets_ == nullptr)
        return {};
    for (entry* each = bucket_of(id); each != nullptr; each = each->next_in_bucket)
        if (each->id == id && each->expiry > whole_seconds(now))
            return {each->encoded(), each->size};
    return {};
}

bool session_id_cache::is_elsewhere(session_id const& id) const noexcept
{
    return sessions_max_ != 0 && worker_of(id) != worker_ && worker_of(id) < workers_;
}

void session_id_cache::answer(session_id const& id, encoded_session found) noexcept
{
    answered_ = id;
    answer_ = std::move(found);
}

std::optional<encoded_session> session_id_cache::take_answer(session_id const& id) noexcept
{
    if (answered_ != id)
        return {};
    answered_.reset();
    return std::exchange(answer_, {});
}

} // namespace cleat::tls
