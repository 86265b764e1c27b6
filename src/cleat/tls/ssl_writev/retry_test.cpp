// Tests of the gather write: blocking at every byte, and retries.

#include <cleat/tls/ssl_writev/writev_connection_for_tests.hpp>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cleat::tls::writev_tests::retry_test {

TEST_CASE("a transport that blocks at any byte changes nothing on the wire")
{
    for (auto const& shape : std::vector<std::vector<std::size_t>>{
             {300}, {50, 300, 100}, std::vector<std::size_t>(20, 50)})
        for (long const mode : all_modes)
            for (int const version : versions) {
                pieces const list = make_pieces(shape);
                std::string const all = joined(list);
                connection c{version, mode};
                c.handshake();
                for (std::size_t quota = 0; quota < all.size() + 29; ++quota) {
                    c.client_end.quota = quota;
                    finish(c, list);
                    REQUIRE(c.sizes_on_wire() == std::vector<std::size_t>{all.size()});
                    REQUIRE(c.received() == all);
                }
                c.client_end.quota = 0;
                finish(c, list, 1); // a byte at a time
                REQUIRE(c.received() == all);
            }
}

TEST_CASE("a transport that blocks at any byte of many records changes nothing on the wire")
{
    std::vector<std::vector<std::size_t>> const shapes{
        // All kinds of runs: copied and full, flushed early, in place for several records, a tail.
        {100, 16384, 33000, 9, 16384, 50, 300},
        // Runs of several records that are copied together, and what is left of them.
        std::vector<std::size_t>(100, 1009)};
    for (std::vector<std::size_t> const& shape : shapes)
        for (long const mode : all_modes)
            for (int const version : versions) {
                pieces const list = make_pieces(shape);
                std::string const all = joined(list);
                connection c{version, mode};
                c.handshake();
                finish(c, list);
                std::size_t const wire_size = c.client_end.out.size();
                REQUIRE(c.sizes_on_wire().size() == fewest_records(all.size()));
                REQUIRE(c.received() == all);
                // Near the ends of records at every byte, elsewhere at steps that share no divisor.
                for (std::size_t quota = 0; quota < wire_size;
                     quota += quota % 16413 < 40 ? 1u : 97u) {
                    c.client_end.quota = quota;
                    finish(c, list);
                    CAPTURE(quota);
                    REQUIRE(c.client_end.out.size() == wire_size);
                    REQUIRE(c.received() == all);
                }
            }
}

TEST_CASE("partial writes return after a record and the next call fills its records again")
{
    for (int const version : versions) {
        connection c{version, partial};
        c.handshake();
        pieces const list = make_pieces(std::vector<std::size_t>(40, 1000));
        std::vector<iovec> const vectors = iovecs_of(list);
        outcome o = c.write(vectors);
        CHECK(o.ret == 1);
        CHECK(o.written == 16384);
        CHECK(c.sizes_on_wire() == std::vector<std::size_t>{16384});
        CHECK(c.received() == joined(list).substr(0, 16384));
        finish(c, list);
        CHECK(c.sizes_on_wire() == std::vector<std::size_t>{16384, 16384, 7232});
        CHECK(c.received() == joined(list));
    }
}

TEST_CASE("a blocked partial write may be followed by other bytes once it has succeeded")
{
    connection c{TLS1_3_VERSION, partial};
    c.handshake();
    pieces const first = make_pieces({10000, 10000, 10000});
    c.client_end.quota = 100;
    outcome o = c.write(iovecs_of(first));
    CHECK(c.error(o) == SSL_ERROR_WANT_WRITE);
    c.client_end.quota = SIZE_MAX;
    o = c.write(iovecs_of(first));
    CHECK(o.ret == 1);
    CHECK(o.written < 30000);
    pieces const second = make_pieces({5, 6}, 7);
    CHECK(c.write(iovecs_of(second)).ret == 1);
    CHECK(c.received() == joined(first).substr(0, o.written) + joined(second));
}

TEST_CASE("a wrong retry is refused, and the right one still succeeds")
{
    for (long const mode : all_modes)
        for (int const version : versions) {
            connection c{version, mode};
            c.handshake();
            pieces const list = make_pieces({50, 300, 20000, 100});
            c.client_end.quota = 16500;
            bool const many = (mode & partial) == 0; // else the first call ends with its record
            if (!many)
                c.client_end.quota = 7;
            outcome o = c.write(iovecs_of(list));
            REQUIRE(c.error(o) == SSL_ERROR_WANT_WRITE);
            c.client_end.quota = SIZE_MAX;
            std::size_t const on_wire = c.client_end.out.size();

            auto const refused = [&](std::vector<iovec> const& vectors, std::size_t max_bytes) {
                outcome const wrong = c.write(vectors, max_bytes);
                CHECK(wrong.ret <= 0);
                CHECK(wrong.written == 0);
                CHECK(c.error(wrong) == SSL_ERROR_SSL);
                CHECK(ERR_GET_REASON(ERR_peek_error()) == SSL_R_BAD_WRITE_RETRY);
                CHECK(c.client_end.out.size() == on_wire);
            };
            std::vector<iovec> vectors = iovecs_of(list);
            vectors.back().iov_len -= 1;
            refused(vectors, SIZE_MAX); // shorter
            vectors.back().iov_len += 1;
            vectors.push_back(vectors.front());
            refused(vectors, SIZE_MAX); // longer
            vectors.pop_back();
            refused(vectors, 20449); // another bound
            std::swap(vectors[0].iov_len, vectors[1].iov_len);
            refused(vectors, SIZE_MAX); // cut elsewhere
            refused({}, SIZE_MAX);      // nothing
            pieces const moved = list;
            if ((mode & moving) == 0)
                refused(iovecs_of(moved), SIZE_MAX); // elsewhere

            finish(c, list);
            CHECK(c.received() == joined(list));
        }
}

TEST_CASE("a new array with the same pieces, and empty ones, is the same retry")
{
    for (int const version : versions) {
        connection c{version};
        c.handshake();
        pieces const list = make_pieces({50, 300});
        c.client_end.quota = 0;
        CHECK(c.error(c.write(iovecs_of(list))) == SSL_ERROR_WANT_WRITE);
        c.client_end.quota = SIZE_MAX;
        std::vector<iovec> vectors = iovecs_of(list);
        vectors.insert(vectors.begin() + 1, {nullptr, 0});
        CHECK(c.write(vectors).ret == 1);
        CHECK((SSL_get_mode(c.client.get()) & SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER) == 0);
        CHECK(c.received() == joined(list));
    }
}

TEST_CASE("a write before the handshake does the handshake first")
{
    for (int const version : versions) {
        connection c{version};
        pieces const list = make_pieces({50, 300, 16384});
        outcome o = c.write(iovecs_of(list));
        int tries = 0;
        for (; o.ret <= 0 && tries < 10; ++tries) {
            CHECK(c.error(o) == SSL_ERROR_WANT_READ);
            c.exchange();
            o = c.write(iovecs_of(list));
        }
        CHECK(tries > 0);
        CHECK(o.ret == 1);
        CHECK(o.written == joined(list).size());
        CHECK(c.received() == joined(list));
    }
}

TEST_CASE("reading while a write is unfinished does not disturb it")
{
    connection c{TLS1_3_VERSION};
    c.handshake();
    pieces const list = make_pieces({50, 20000, 300});
    c.client_end.quota = 16420;
    CHECK(c.error(c.write(iovecs_of(list))) == SSL_ERROR_WANT_WRITE);
    REQUIRE(SSL_write(c.server.get(), "hello", 5) == 5);
    c.client_end.in += std::exchange(c.server_end.out, {});
    char block[16];
    CHECK(SSL_read(c.client.get(), block, sizeof block) == 5);
    CHECK(SSL_want(c.client.get()) == SSL_NOTHING);
    c.client_end.quota = SIZE_MAX;
    finish(c, list);
    CHECK(c.received() == joined(list));
}

TEST_CASE("an SSL that is freed with a write unfinished leaks nothing")
{
    connection c{TLS1_2_VERSION};
    c.handshake();
    pieces const list = make_pieces({50, 20000, 300});
    c.client_end.quota = 16420;
    CHECK(c.error(c.write(iovecs_of(list))) == SSL_ERROR_WANT_WRITE);
} // The leak checker of an ASan build finds a leak.

TEST_CASE("a refusal does not change what SSL_write reports before and after it")
{
    for (int const version : versions) {
        connection c{version};
        c.handshake();
        pieces const list = make_pieces({50, 300});
        iovec const null_piece{nullptr, 1};
        CHECK(c.error(c.write({null_piece})) == SSL_ERROR_SSL);
        CHECK(ERR_GET_REASON(ERR_get_error()) == ERR_R_PASSED_NULL_PARAMETER);
        CHECK(ERR_peek_error() == 0); // one reason, no other entries
        c.client_end.quota = 0;
        CHECK(c.error(c.write(iovecs_of(list))) == SSL_ERROR_WANT_WRITE);
        CHECK(c.error(c.write({null_piece})) == SSL_ERROR_SSL);
        CHECK(c.error(c.write(iovecs_of(list))) == SSL_ERROR_WANT_WRITE);
        c.client_end.quota = SIZE_MAX;
        CHECK(c.write(iovecs_of(list)).ret == 1);
        CHECK(c.received() == joined(list));
    }
}

} // namespace cleat::tls::writev_tests::retry_test
