// span_bio: a BIO over the two spans of a wire. Not a public header.

#pragma once

#include <cleat/tls/handles.hpp>
#include <cleat/tls/wire.hpp>

namespace cleat::tls {

/// prepare_span_bio makes what all span BIOs share and only read. A context calls it when it is
/// made, so that this memory is not in the heap of a worker. There the lines around it are written
/// with each connection, and every other worker waits for them: `cleat-locks lines` counted 0.2
/// moves of a cache line for each handshake.
void prepare_span_bio() noexcept;

/// new_span_bio makes a BIO that is attached to no wire: reads and writes on it would block. Null
/// when memory is short.
[[nodiscard]] bio_ptr new_span_bio() noexcept;

/// attached gives a span BIO a wire for its own lifetime: one call into the TLS library.
class attached
{
public:
    attached(BIO* bio, wire& w) noexcept : bio_{bio} { BIO_set_data(bio_, &w); }
    ~attached() { BIO_set_data(bio_, nullptr); }
    attached(attached const&) = delete;
    attached& operator=(attached const&) = delete;

private:
    BIO* bio_;
};

} // namespace cleat::tls
