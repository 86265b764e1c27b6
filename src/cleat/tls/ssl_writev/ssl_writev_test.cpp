// Tests of the gather write: what is on the wire, byte for byte, and what is refused.

#include <cleat/tls/ssl_writev/writev_connection_for_tests.hpp>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <doctest/doctest.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cleat::tls::writev_tests::ssl_writev_test {

TEST_CASE("the pieces of a small message make one record")
{
    std::vector<std::vector<std::size_t>> const shapes = {{50},
                                                          {300},
                                                          {5000},
                                                          {100, 50},
                                                          {50, 300},
                                                          {2000, 1000},
                                                          {100, 50, 100},
                                                          {50, 300, 100},
                                                          {1000, 3000, 2000},
                                                          std::vector<std::size_t>(20, 50)};
    for (int const version : versions) {
        connection c{version};
        c.handshake();
        for (auto const& shape : shapes) {
            pieces const list = make_pieces(shape);
            std::string const all = joined(list);
            outcome const o = c.write(iovecs_of(list));
            CHECK(o.ret == 1);
            CHECK(o.written == all.size());
            CHECK(c.sizes_on_wire() == std::vector<std::size_t>{all.size()});
            CHECK(c.client_end.out.size() == all.size() + (version == TLS1_3_VERSION ? 22u : 29u));
            CHECK(c.received() == all);
        }
    }
}

TEST_CASE("large pieces stay where they are when that costs no record")
{
    struct expectation
    {
        std::vector<std::size_t> shape;
        std::vector<std::size_t> records;
    };
    std::vector<expectation> const cases = {
        {{16384, 65536}, {16384, 16384, 16384, 16384, 16384}},
        {{9, 16384, 9, 16384, 9, 16384, 9, 16384}, {16384, 16384, 16384, 36, 16384}},
        {{100, 16384}, {100, 16384}},
        {{100, 16385}, {16384, 101}},
        {{10000, 10000}, {10000, 10000}},
        {{16384, 1}, {16384, 1}},
        {{40000, 1000}, {16384, 16384, 8232}},
        {{40000}, {16384, 16384, 7232}},
        {{0, 16384, 0, 0, 16384, 0}, {16384, 16384}},
    };
    for (int const version : versions) {
        connection c{version};
        c.handshake();
        for (auto const& [shape, records] : cases) {
            pieces const list = make_pieces(shape);
            outcome const o = c.write(iovecs_of(list));
            CHECK(o.ret == 1);
            CHECK(c.sizes_on_wire() == records);
            CHECK(c.received() == joined(list));
        }
    }
}

TEST_CASE("whatever the shape, the records are the fewest and the peer reads the same bytes")
{
    std::mt19937 random{20260822};
    auto const below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
    std::size_t const size_classes[] = {2, 10, 300, 5000, 17000, 40000};
    for (long const mode : all_modes)
        for (int const version : versions) {
            connection c{version, mode};
            c.handshake();
            for (int i = 0; i < 400; ++i) {
                std::vector<std::size_t> shape(1 + below(i % 10 == 0 ? 60 : 6));
                for (std::size_t& size : shape)
                    size = below(size_classes[below(std::size(size_classes))]);
                if (below(4) == 0)
                    shape[below(shape.size())] = 16384 * (1 + below(3));
                pieces const list = make_pieces(shape, static_cast<std::uint32_t>(i) + 1);
                std::string const all = joined(list);
                CAPTURE(i);
                CAPTURE(mode);
                std::string sizes;
                for (std::size_t const size : shape)
                    sizes += std::to_string(size) + ' ';
                CAPTURE(sizes);
                // Every second connection's transport blocks now and then.
                c.client_end.quota = i % 2 == 0 ? SIZE_MAX : below(all.size() + 100);
                finish(c, list, i % 4 == 1 ? 1 + below(9000) : SIZE_MAX);
                std::vector<std::size_t> const records = c.sizes_on_wire();
                REQUIRE(records.size() == fewest_records(all.size()));
                REQUIRE(c.received() == all);
            }
        }
}

TEST_CASE("a bound takes that many bytes and fills records with them")
{
    for (int const version : versions) {
        connection c{version};
        c.handshake();
        pieces const list = make_pieces({9, 16384, 9, 16384});
        std::vector<iovec> vectors = iovecs_of(list);
        outcome o = c.write(vectors, 16384);
        CHECK(o.ret == 1);
        CHECK(o.written == 16384);
        CHECK(c.sizes_on_wire() == std::vector<std::size_t>{16384});
        CHECK(c.received() == joined(list).substr(0, 16384));

        vectors.push_back({nullptr, 7}); // beyond the bound: not looked at
        o = c.write(vectors, 20);
        CHECK(o.ret == 1);
        CHECK(o.written == 20);
        CHECK(c.received() == joined(list).substr(0, 20));
        o = c.write(vectors, 0);
        CHECK(o.ret == 1);
        CHECK(o.written == 0);
        CHECK(c.client_end.out.empty());
    }
}

TEST_CASE("a record size that was set lower is used in full")
{
    for (long const mode : all_modes)
        for (int const version : versions) {
            connection c{version, mode};
            SSL_set_max_send_fragment(c.client.get(), 1024);
            c.handshake();
            pieces const list = make_pieces({100, 50, 3000, 17000, 300});
            finish(c, list);
            std::vector<std::size_t> expected(19, 1024);
            expected.push_back(20450 - 19 * 1024);
            CHECK(c.sizes_on_wire() == expected);
            CHECK(c.received() == joined(list));
            for (std::size_t quota = 0; quota < 21000; quota += 211) {
                c.client_end.quota = quota;
                finish(c, list);
                REQUIRE(c.received() == joined(list));
            }
        }
}

TEST_CASE("nothing to write is success and sends nothing")
{
    connection c{TLS1_3_VERSION};
    c.handshake();
    std::size_t written = 1;
    CHECK(cleat_ssl_writev(c.client.get(), nullptr, 0, &written) == 1);
    CHECK(written == 0);
    outcome const o = c.write({{nullptr, 0}, {nullptr, 0}});
    CHECK(o.ret == 1);
    CHECK(o.written == 0);
    CHECK(c.client_end.out.empty());
}

TEST_CASE("invalid arguments are refused with a reason")
{
    connection c{TLS1_3_VERSION};
    c.handshake();
    char byte = 'x';
    iovec const one{&byte, 1};
    iovec const huge[] = {{&byte, INT_MAX}, {&byte, 1}, {&byte, SIZE_MAX}};
    iovec const null_piece[] = {{&byte, 1}, {nullptr, 1}};
    SSL* const ssl = c.client.get();

    auto const refused = [&](iovec const* list, int count, bool with_written, int reason) {
        ERR_clear_error();
        std::size_t written = 7;
        int const ret = cleat_ssl_writev(ssl, list, count, with_written ? &written : nullptr);
        CHECK(ret <= 0);
        CHECK(SSL_get_error(ssl, ret) == SSL_ERROR_SSL);
        CHECK(ERR_GET_REASON(ERR_peek_error()) == reason);
        CHECK(written == (with_written ? 0 : 7));
    };
    refused(&one, -1, true, SSL_R_BAD_LENGTH);
    refused(&one, INT_MIN, true, SSL_R_BAD_LENGTH);
    refused(huge, 2, true, SSL_R_BAD_LENGTH);
    refused(huge, 3, true, SSL_R_BAD_LENGTH);
    refused(huge + 2, 1, true, SSL_R_BAD_LENGTH);
    refused(nullptr, 1, true, ERR_R_PASSED_NULL_PARAMETER);
    refused(null_piece, 2, true, ERR_R_PASSED_NULL_PARAMETER);
    refused(&one, 1, false, ERR_R_PASSED_NULL_PARAMETER);
    CHECK(c.client_end.out.empty());

    CHECK(c.write({one}).ret == 1);
    CHECK(c.received() == "x");
}

TEST_CASE("a broken transport is SSL_ERROR_SYSCALL or SSL_ERROR_SSL, not a retry")
{
    connection c{TLS1_2_VERSION};
    c.handshake();
    SSL_shutdown(c.client.get());
    pieces const list = make_pieces({50, 300});
    outcome const o = c.write(iovecs_of(list));
    CHECK(o.ret <= 0);
    CHECK(c.error(o) == SSL_ERROR_SSL); // written after close_notify
    CHECK(ERR_GET_REASON(ERR_peek_error()) == SSL_R_PROTOCOL_IS_SHUTDOWN);
}

TEST_CASE("a gather write inside another's transport does not disturb its copy")
{
    for (long const mode : all_modes) {
        connection outer{TLS1_3_VERSION, mode};
        connection inner{TLS1_3_VERSION, mode};
        outer.handshake();
        inner.handshake();
        pieces const theirs = make_pieces({40, 50, 60}, 3);
        outer.client_end.before_write = [&] { finish(inner, theirs); };
        pieces const ours = make_pieces(std::vector<std::size_t>(40, 1000));
        for (std::size_t quota : {std::size_t{0}, std::size_t{20000}, std::size_t{SIZE_MAX}}) {
            outer.client_end.quota = quota;
            finish(outer, ours);
            CHECK(outer.received() == joined(ours));
            std::string const inside = inner.received();
            CHECK(inside.size() % joined(theirs).size() == 0);
            CHECK(inside.starts_with(joined(theirs)));
        }
    }
}

TEST_CASE("a thread that ends leaks no buffer, even where a destructor writes after that")
{
    struct write_on_exit
    {
        std::unique_ptr<connection> c;
        std::string* received = nullptr;

        ~write_on_exit()
        {
            if (c == nullptr)
                return;
            finish(*c, make_pieces({50, 300}));
            *received = c->received();
        }
    };
    std::string received;
    std::thread{[&] {
        // Made before the thread's buffer, so it is destroyed after it.
        static thread_local write_on_exit last;
        last.c = std::make_unique<connection>(TLS1_3_VERSION);
        last.received = &received;
        last.c->handshake();
        finish(*last.c, make_pieces({50, 300}));
        CHECK(last.c->received() == joined(make_pieces({50, 300})));
    }}.join();
    CHECK(received == joined(make_pieces({50, 300})));
} // The leak checker of an ASan build finds a leak.

} // namespace cleat::tls::writev_tests::ssl_writev_test
