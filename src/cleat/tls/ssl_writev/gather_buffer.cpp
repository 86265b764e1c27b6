#include <cleat/tls/ssl_writev/gather_buffer.hpp>
#include <cleat/tls/ssl_writev/pieces.hpp>

#include <openssl/crypto.h>

#include <new>
#include <utility>

namespace cleat::tls::writev {

constinit thread_local kept_room thread_room{};

namespace {

// Frees the thread's room when the thread ends. Calls that come later, from destructors of other
// thread_local objects, keep none.
struct freed_with_thread
{
    freed_with_thread() noexcept { thread_room.keeps = true; }
    ~freed_with_thread()
    {
        thread_room.keeps = false;
        free_room(std::exchange(thread_room.bytes, nullptr));
    }
};

// give_first is give_room where the thread keeps nothing yet, or has something already.
[[gnu::noinline]] void give_first(unsigned char* bytes) noexcept
{
    static thread_local freed_with_thread const freed;
    if (bytes == nullptr)
        return;
    if (thread_room.keeps && thread_room.bytes == nullptr)
        thread_room.bytes = bytes;
    else
        free_room(bytes);
}

} // namespace

void free_room(unsigned char* bytes) noexcept
{
    if (bytes != nullptr)
        OPENSSL_cleanse(bytes, gather_size_max);
    delete[] bytes;
}

unsigned char* make_room() noexcept
{
    return new (std::nothrow) unsigned char[gather_size_max];
}

// Not inline: where fibers move between threads inside SSL_write, the compiler must not go on with
// the address of the first thread's thread_room.
[[gnu::noinline]] void give_room(unsigned char* bytes) noexcept
{
    if (thread_room.keeps && thread_room.bytes == nullptr) [[likely]]
        thread_room.bytes = bytes;
    else
        give_first(bytes);
}

} // namespace cleat::tls::writev
