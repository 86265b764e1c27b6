#include <cleat/core/limits.hpp>
#include <cleat/tls/backend.hpp>
#include <cleat/tls/openssl_error.hpp>
#include <cleat/tls/session.hpp>

#include <openssl/ssl.h>

#include <algorithm>
#include <utility>

namespace cleat::tls {

session::session(session const& other) noexcept : session_{other.session_}
{
    if (session_ != nullptr)
        SSL_SESSION_up_ref(session_);
}

session::session(session&& other) noexcept : session_{std::exchange(other.session_, nullptr)} {}

session& session::operator=(session other) noexcept
{
    std::swap(session_, other.session_);
    return *this;
}

session::~session()
{
    if (session_ != nullptr)
        SSL_SESSION_free(session_);
}

bool session::single_use() const noexcept
{
    return session_ != nullptr && SSL_SESSION_get_protocol_version(session_) == TLS1_3_VERSION;
}

bool session::by_ticket() const noexcept
{
    return session_ != nullptr && SSL_SESSION_has_ticket(session_) != 0;
}

std::chrono::seconds session::lifetime() const noexcept
{
    return std::chrono::seconds{
        session_ == nullptr ? 0 : SSL_SESSION_get_ticket_lifetime_hint(session_)};
}

bool session::allows_early_data() const noexcept
{
    return session_ != nullptr && backend::allows_early_data(session_);
}

std::vector<std::byte> encode_session(session const& kept)
{
    SSL_SESSION* const handle = kept.native_handle();
    int const size = handle == nullptr ? 0 : i2d_SSL_SESSION(handle, nullptr);
    std::vector<std::byte> bytes(static_cast<std::size_t>(std::max(size, 0)));
    auto* out = reinterpret_cast<unsigned char*>(bytes.data());
    if (size > 0 && i2d_SSL_SESSION(handle, &out) != size)
        bytes.clear();
    clear_errors();
    return bytes;
}

session decode_session(std::span<std::byte const> bytes) noexcept
{
    if (bytes.empty() || bytes.size() > limits::saved_session_max)
        return {};
    auto const* begin = reinterpret_cast<unsigned char const*>(bytes.data());
    session read{d2i_SSL_SESSION(nullptr, &begin, static_cast<long>(bytes.size()))};
    clear_errors();
    return read;
}

} // namespace cleat::tls
