// memory_transport.hpp: what a library that wants read and write functions reads from and writes
// to. It is to GnuTLS and NSS what perf/block_bio.hpp is to OpenSSL's family.
#pragma once

#include "handshakes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace study {

class memory_transport
{
public:
    // receive lends what the peer has sent, and forgets what it has been sent.
    void receive(bytes incoming)
    {
        incoming_ = incoming;
        used_ = 0;
    }
    void clear() { receive({}); }

    bytes outgoing() const { return {block_.data(), used_}; }

    std::size_t readable() const { return incoming_.size(); }

    // read gives how many bytes it moved: 0 if there are none now.
    std::size_t read(void* buffer, std::size_t size)
    {
        std::size_t const taken = std::min(size, incoming_.size());
        if (taken > 0)
            std::memcpy(buffer, incoming_.data(), taken);
        incoming_ = incoming_.subspan(taken);
        return taken;
    }

    // write gives how many bytes it moved: all, or 0 if they do not fit.
    std::size_t write(void const* from, std::size_t size)
    {
        if (size > block_.size() - used_)
            return 0;
        std::memcpy(block_.data() + used_, from, size);
        used_ += size;
        return size;
    }

private:
    std::array<char, 64 * 1024> block_{};
    std::size_t used_ = 0;
    bytes incoming_;
};

} // namespace study
