#include <cleat/tls/span_bio.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <string_view>

namespace cleat::tls::span_bio_test {
namespace {

std::span<std::byte const> bytes_of(std::string_view text)
{
    return std::as_bytes(std::span{text});
}

TEST_CASE("a BIO without a wire would block both ways")
{
    bio_ptr const bio = new_span_bio();
    REQUIRE(bio != nullptr);
    char byte = 'x';
    CHECK(BIO_read(bio.get(), &byte, 1) == -1);
    CHECK(BIO_should_read(bio.get()));
    CHECK(BIO_should_retry(bio.get()));
    CHECK(BIO_write(bio.get(), &byte, 1) == -1);
    CHECK(BIO_should_write(bio.get()));
    CHECK(!BIO_should_read(bio.get()));
}

TEST_CASE("reading takes from the front of the wire, and then would block")
{
    bio_ptr const bio = new_span_bio();
    wire w{bytes_of("hello"), {}, false};
    attached const call{bio.get(), w};
    char buffer[8] = {};
    CHECK(BIO_read(bio.get(), buffer, 2) == 2);
    CHECK(w.in.size() == 3);
    CHECK(BIO_read(bio.get(), buffer + 2, 6) == 3);
    CHECK(std::string_view{buffer} == "hello");

    CHECK(BIO_read(bio.get(), buffer, 1) == -1);
    CHECK(BIO_should_retry(bio.get()));
    CHECK(BIO_eof(bio.get()) == 0);
}

TEST_CASE("the BIO does not report FIN: after the last byte it would block, too")
{
    bio_ptr const bio = new_span_bio();
    wire w{bytes_of("last"), {}, true};
    attached const call{bio.get(), w};
    char buffer[8] = {};
    CHECK(BIO_read(bio.get(), buffer, sizeof buffer) == 4);
    CHECK(BIO_read(bio.get(), buffer, sizeof buffer) == -1);
    CHECK(BIO_should_read(bio.get()));
    CHECK(BIO_eof(bio.get()) == 0);
}

TEST_CASE("writing fills the room and then asks for more")
{
    bio_ptr const bio = new_span_bio();
    std::array<std::byte, 4> room{};
    wire w{{}, room, false};
    attached const call{bio.get(), w};
    CHECK(BIO_write(bio.get(), "abcdef", 6) == 4);
    CHECK(w.out.empty());
    CHECK(std::memcmp(room.data(), "abcd", 4) == 0);
    CHECK(BIO_write(bio.get(), "ef", 2) == -1);
    CHECK(BIO_should_write(bio.get()));
    CHECK(BIO_flush(bio.get()) == 1);
}

TEST_CASE("the wire is detached at the end of the call")
{
    bio_ptr const bio = new_span_bio();
    {
        wire w{bytes_of("x"), {}, false};
        attached const call{bio.get(), w};
    }
    char byte = 0;
    CHECK(BIO_read(bio.get(), &byte, 1) == -1);
}

} // namespace
} // namespace cleat::tls::span_bio_test
