#include "upstream_tls/tls_fault.hpp"

namespace cleat::app {

error_code name_fault(error_code why, tls::failure_info const& failure) noexcept
{
    if (why != error::bad_certificate)
        return why;
    switch (failure.certificate) {
    case tls::certificate_fault::expired:
        return error::certificate_expired;
    case tls::certificate_fault::not_yet_valid:
        return error::certificate_not_yet_valid;
    case tls::certificate_fault::unknown_authority:
        return error::unknown_authority;
    case tls::certificate_fault::wrong_name:
        return error::wrong_name;
    case tls::certificate_fault::none:
    case tls::certificate_fault::other:
        break;
    }
    return why;
}

bool is_agreement(std::string_view offered, std::string_view chosen) noexcept
{
    return chosen == offered || (chosen.empty() && offered == "http/1.1");
}

} // namespace cleat::app
