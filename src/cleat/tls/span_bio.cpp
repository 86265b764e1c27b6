// A BIO pair would hold two 17 KiB buffers for each connection and copy every byte once more; a
// memory BIO allocates. This BIO has no memory: TLS reads ciphertext where recv has put it, and
// writes records where send will read them. Both blocks belong to the worker.
//
// Plain read and write only: BIO_nread and BIO_nwrite are not in BoringSSL's or AWS-LC's headers.

#include <cleat/tls/span_bio.hpp>

#include <algorithm>
#include <cstring>

namespace cleat::tls {
namespace {

wire* wire_of(BIO* bio) noexcept
{
    return static_cast<wire*>(BIO_get_data(bio));
}

int read(BIO* bio, char* to, int size) noexcept
{
    BIO_clear_retry_flags(bio);
    wire* const w = wire_of(bio);
    if (w == nullptr || w->in.empty()) {
        BIO_set_retry_read(bio); // After FIN, too: the engine reports FIN (wire::in_ended).
        return -1;
    }
    std::size_t const n = std::min(w->in.size(), static_cast<std::size_t>(size));
    std::memcpy(to, w->in.data(), n);
    w->in = w->in.subspan(n);
    return static_cast<int>(n);
}

int write_to_span(BIO* bio, char const* from, int size) noexcept
{
    BIO_clear_retry_flags(bio);
    wire* const w = wire_of(bio);
    if (w == nullptr || w->out.empty()) {
        BIO_set_retry_write(bio);
        return -1;
    }
    std::size_t const n = std::min(w->out.size(), static_cast<std::size_t>(size));
    std::memcpy(w->out.data(), from, n);
    w->out = w->out.subspan(n);
    return static_cast<int>(n);
}

long ctrl(BIO* bio, int command, long, void*) noexcept
{
    static_cast<void>(bio);
    // Written bytes are already in the caller's memory.
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

int create(BIO* bio) noexcept
{
    BIO_set_init(bio, 1);
    return 1;
}

bio_method_ptr make_method() noexcept
{
    bio_method_ptr method{BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "spans")};
    if (method == nullptr || BIO_meth_set_read(method.get(), read) != 1 ||
        BIO_meth_set_write(method.get(), write_to_span) != 1 ||
        BIO_meth_set_ctrl(method.get(), ctrl) != 1 ||
        BIO_meth_set_create(method.get(), create) != 1)
        return nullptr;
    return method;
}

// Immutable once made: workers may share it.
BIO_METHOD const* method() noexcept
{
    static bio_method_ptr const made = make_method();
    return made.get();
}

} // namespace

void prepare_span_bio() noexcept
{
    static_cast<void>(method());
}

bio_ptr new_span_bio() noexcept
{
    BIO_METHOD const* const made = method();
    return bio_ptr{made == nullptr ? nullptr : BIO_new(made)};
}

} // namespace cleat::tls
