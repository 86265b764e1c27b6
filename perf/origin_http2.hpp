// origin_http2.hpp: the origin's end of a connection by HTTP/2 without TLS (RFC 9113, section 3.3).
//
// A machine without sockets, by nghttp2's library. It answers as the origin does by HTTP/1.1.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace perf {

class http2_end
{
public:
    // begins_so: a connection that begins with these bytes speaks HTTP/2.
    static bool begins_so(std::string_view bytes);

    http2_end();
    ~http2_end();

    // take takes bytes of the client, from the first one on; false: it has broken the protocol.
    bool take(std::string_view bytes);

    // make writes the next bytes to send, as many as there is room for, and gives their number.
    std::size_t make(std::span<char> block);

    // has_ended: neither side has anything to say any more.
    bool has_ended() const;

private:
    struct library;

    std::unique_ptr<library> library_;
};

} // namespace perf
