// BoringSSL alone.
#include "libssl_dialect.hpp"

namespace study {

std::string libssl_version()
{
    return "BoringSSL (" CLEAT_BORINGSSL_SOURCE ")";
}

} // namespace study
