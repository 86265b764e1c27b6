#include <cleat/tls/backend.hpp>
#include <cleat/tls/openssl_error.hpp>

#include <doctest/doctest.h>

namespace cleat::tls::ciphersuites_test {

TEST_CASE("TLS 1.3 suites are set by name, and a list without a known name is refused")
{
    backend::library_state const library;
    ssl_ctx_ptr const ctx = library.new_ctx(true);
    REQUIRE(ctx != nullptr);
    CHECK(backend::set_ciphersuites(ctx.get(), "TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256"));
    for (char const* each :
         {"", ":", "TLS_NONE", "TLS_AES_128_GCM_SHA256:TLS_NONE", "AES128-GCM-SHA256",
          "TLS_AES_128_GCM_SHA256:TLS_AES_128_GCM_SHA256"})
        CHECK_FALSE(backend::set_ciphersuites(ctx.get(), each));
    clear_errors();
}

} // namespace cleat::tls::ciphersuites_test
