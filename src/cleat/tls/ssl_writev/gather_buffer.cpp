#include <cleat/tls/ssl_writev/gather_buffer.hpp>
#include <cleat/tls/ssl_writev/pieces.hpp>

#include <openssl/crypto.h>

#include <new>
#include <utility>

namespace cleat::tls::writev {

constinit thread_local kept_buffer thread_buffer{};

namespace {

// Frees the thread's buffer when the thread ends. Later calls, from destructors of other
// thread_local objects, keep none.
struct freed_with_thread
{
    freed_with_thread() noexcept { thread_buffer.may_keep = true; }
    ~freed_with_thread()
    {
        thread_buffer.may_keep = false;
        free_buffer(std::exchange(thread_buffer.bytes, nullptr));
    }
};

// return_first is return_buffer where the thread keeps no buffer yet, or has one already.
[[gnu::noinline]] void return_first(unsigned char* bytes) noexcept
{
    static thread_local freed_with_thread const freed;
    if (bytes == nullptr)
        return;
    if (thread_buffer.may_keep && thread_buffer.bytes == nullptr)
        thread_buffer.bytes = bytes;
    else
        free_buffer(bytes);
}

} // namespace

void free_buffer(unsigned char* bytes) noexcept
{
    if (bytes != nullptr)
        OPENSSL_cleanse(bytes, gather_size_max);
    delete[] bytes;
}

unsigned char* allocate_buffer() noexcept
{
    return new (std::nothrow) unsigned char[gather_size_max];
}

// Not inline: where fibers move between threads inside SSL_write, the compiler must not go on with
// the address of the first thread's thread_buffer.
[[gnu::noinline]] void return_buffer(unsigned char* bytes) noexcept
{
    if (thread_buffer.may_keep && thread_buffer.bytes == nullptr) [[likely]]
        thread_buffer.bytes = bytes;
    else
        return_first(bytes);
}

} // namespace cleat::tls::writev
