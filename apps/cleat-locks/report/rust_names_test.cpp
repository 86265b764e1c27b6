#include "report/rust_names.hpp"

#include <doctest/doctest.h>

#include <string>

namespace cleat::locks::rust_names_test {

TEST_CASE("Rust's functions have the names that people write")
{
    // The first two are of the RFC, and the others of a program.
    CHECK(rust_name("_RNvCskwGfYPst2Cb_3foo16example_function") == "foo::example_function");
    CHECK(
        rust_name("_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_") == "cc::spawn::{closure#0}::{closure#0}");
    CHECK(
        rust_name(
            "_RNvMNtNtNtNtCsjrHSEGnQ3l9_3std3sys4sync5mutex5futexNtB2_5Mutex14lock_contended") ==
        "std::sys::sync::mutex::futex::Mutex::lock_contended");
    CHECK(
        rust_name("_RINvNtCs1_4core3mem4dropINtNtCs2_5alloc3vec3VechEECs3_3foo") ==
        "core::mem::drop");
    CHECK(rust_name("_RNvXCs1_3fooNtB2_3BarNtNtCs2_4core5clone5Clone5clone") == "foo::Bar::clone");
    CHECK(rust_name("_RNvYRShNtCs1_3foo5Trait3run") == "&[u8]::run");
}

TEST_CASE("names of the older mangling are without their hash")
{
    CHECK(
        legacy_rust_name("fu::main::_$u7b$$u7b$closure$u7d$$u7d$::h789e86ca86709bd7") ==
        "fu::main::{closure}");
    CHECK(
        legacy_rust_name("_$LT$alloc..vec..Vec$LT$T$C$A$GT$$u20$as$u20$core..ops..Drop$GT$::drop::"
                         "h0123456789abcdef") == "alloc::vec::Vec<T,A>::drop");
    CHECK(legacy_rust_name("a$zz$b$::h0123456789abcdef") == "a$zz$b$");
    for (char const* text : {"", "main", "std::h", "::h0123456789abcdef", "a::h0123456789abcdeg"})
        CHECK_FALSE(legacy_rust_name(text).has_value());
}

TEST_CASE("what is no name of Rust is none")
{
    for (char const* text :
         {"", "_R", "_Z3foov", "_RX", "_RNvC9_3fo", "_RB_", "_RNvB_3foo", "_RINvC1a1bTE",
          "_RNvC99999999999999999999a1b", "main"})
        CHECK_FALSE(rust_name(text).has_value());
}

TEST_CASE("a symbol whose parts refer back again and again has no name")
{
    std::string bomb = "_RINvC1a1b"; // Each tuple has the one before it twice.
    for (int i = 0; i < 40; ++i)
        bomb += "TB2_B2_E";
    CHECK_FALSE(rust_name(bomb + std::string(5000, 'S')).has_value());
    CHECK_FALSE(rust_name("_RNvMC1a" + std::string(5000, 'S') + "h1b").has_value());
}

} // namespace cleat::locks::rust_names_test
