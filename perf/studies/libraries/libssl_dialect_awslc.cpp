// AWS-LC alone.
#include "libssl_dialect.hpp"

#include <openssl/base.h>

namespace study {

std::string libssl_version()
{
    return "AWS-LC " AWSLC_VERSION_NUMBER_STRING;
}

} // namespace study
