#include <cleat/tls/openssl_error.hpp>

namespace cleat::tls {

void clear_errors() noexcept
{
    // Clearing visits all 16 entries of the queue, which are nearly always empty.
    if (ERR_peek_error() != 0)
        ERR_clear_error();
}

library_failure drain_errors() noexcept
{
    library_failure found;
    while (std::uint32_t const code = static_cast<std::uint32_t>(ERR_get_error())) {
        bool const better =
            ERR_GET_LIB(code) == ERR_LIB_SSL && ERR_GET_LIB(found.code) != ERR_LIB_SSL;
        if (found.code == 0 || better)
            found.code = code;
        if (ERR_GET_REASON(code) == ERR_R_MALLOC_FAILURE)
            found.out_of_memory = true;
    }
    if (found.code == 0)
        return found;
    try {
        // The operating system's codes have no text in the library's tables.
        char const* const reason = ERR_reason_error_string(found.code);
        found.reason =
            reason != nullptr ? reason : "error " + std::to_string(ERR_GET_REASON(found.code));
    } catch (...) {
        found.reason.clear(); // Out of memory: the code must suffice.
    }
    return found;
}

} // namespace cleat::tls
