#include "process/version.hpp"
#include "sandbox/sandbox.hpp"

#include <cleat/tls/capabilities.hpp>
#include <cleat/tls/context.hpp>

#include <boost/version.hpp>
#include <fmt/format.h>

namespace cleat::app {

std::string tls_library()
{
    return tls::library_version();
}

std::string version_text()
{
    tls::capabilities const can = tls::library_capabilities();
    auto const word = [](bool yes) { return yes ? "yes" : "no"; };
    return fmt::format(
        "cleat {}\n"
        "TLS library          {}\n"
        "Boost                {}.{}.{}\n"
        "post-quantum group   {}\n"
        "own library contexts {}\n"
        "frees handshakes     {}\n"
        "cert. compression    {}\n"
        "sandbox              {}\n",
        version, tls_library(), BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000,
        BOOST_VERSION % 100, word(can.post_quantum_group), word(can.library_contexts),
        word(can.frees_handshake), word(can.certificate_compression), offered_limits());
}

} // namespace cleat::app
