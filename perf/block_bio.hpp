// block_bio.hpp: a BIO between two blocks of memory, shared by all connections of a thread.
//
// The TLS library reads ciphertext from the span that was received last and appends ciphertext to a
// block that is sent once per turn. A connection owns no transport of its own: as only one
// connection is inside the library at any time, one BIO serves all of them.
#pragma once

#include <openssl/bio.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>

namespace perf {

class block_bio
{
public:
    // A block_bio whose outgoing block holds `size_max` bytes. Throws when the library has no
    // memory.
    explicit block_bio(std::size_t size_max)
        : block_(std::make_unique_for_overwrite<char[]>(size_max)), size_max_(size_max)
    {
        method_ = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "block");
        if (!method_)
            throw std::runtime_error("BIO_meth_new failed");
        BIO_meth_set_read(method_, read);
        BIO_meth_set_write(method_, write);
        BIO_meth_set_ctrl(method_, control);
        bio_ = BIO_new(method_);
        if (!bio_)
            throw std::runtime_error("BIO_new failed");
        BIO_set_data(bio_, this);
        BIO_set_init(bio_, 1);
    }
    block_bio(block_bio const&) = delete;
    block_bio& operator=(block_bio const&) = delete;
    ~block_bio()
    {
        BIO_free(bio_);
        BIO_meth_free(method_);
    }

    // attach makes `tls` speak through this BIO; the BIO must outlive it.
    void attach(SSL* tls)
    {
        BIO_up_ref(bio_);
        SSL_set_bio(tls, bio_, bio_);
    }

    // receive lends ciphertext to the next calls of the library, which use all of it.
    void receive(std::span<char const> ciphertext) { incoming_ = ciphertext; }

    // outgoing is the ciphertext that the library wrote since the last clear.
    std::span<char const> outgoing() const { return {block_.get(), used_}; }
    void clear() { used_ = 0; }

    // put adds bytes that were written before to the outgoing block; there must be room for them.
    void put(std::span<char const> bytes)
    {
        std::copy(bytes.begin(), bytes.end(), block_.get() + used_);
        used_ += bytes.size();
    }

private:
    static int read(BIO* bio, char* buffer, int size)
    {
        block_bio& self = *static_cast<block_bio*>(BIO_get_data(bio));
        BIO_clear_retry_flags(bio);
        if (self.incoming_.empty()) {
            BIO_set_retry_read(bio);
            return -1;
        }
        std::size_t const taken = std::min(static_cast<std::size_t>(size), self.incoming_.size());
        std::memcpy(buffer, self.incoming_.data(), taken);
        self.incoming_ = self.incoming_.subspan(taken);
        return static_cast<int>(taken);
    }

    static int write(BIO* bio, char const* from, int size)
    {
        block_bio& self = *static_cast<block_bio*>(BIO_get_data(bio));
        BIO_clear_retry_flags(bio);
        std::size_t const taken =
            std::min(static_cast<std::size_t>(size), self.size_max_ - self.used_);
        if (taken == 0)
            return -1; // callers clear the block before it can fill up
        std::memcpy(self.block_.get() + self.used_, from, taken);
        self.used_ += taken;
        return static_cast<int>(taken);
    }

    static long control(BIO*, int command, long, void*)
    {
        return command == BIO_CTRL_FLUSH ? 1 : 0;
    }

    std::unique_ptr<char[]> block_;
    std::size_t size_max_;
    std::size_t used_ = 0;
    std::span<char const> incoming_;
    BIO_METHOD* method_ = nullptr;
    BIO* bio_ = nullptr;
};

// block_size is a block's size for `plaintext` bytes in full records, and a handshake's flight.
constexpr std::size_t block_size(std::size_t plaintext)
{
    return plaintext + (plaintext / 16384 + 1) * 64 + 64 * 1024;
}

} // namespace perf
