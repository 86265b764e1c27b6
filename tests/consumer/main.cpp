// A program that uses an installed cleat, one line from each layer, and beside it a library on the
// system's OpenSSL.

#include <cleat/core/error.hpp>
#include <cleat/net/socket_options.hpp>
#include <cleat/tls/context.hpp>

#include <cstdio>
#include <string_view>

extern "C" char const* hello_of_neighbour();

int main()
{
    cleat::tls::context_spec spec;
    spec.role = cleat::tls::role::client;
    cleat::tls::context const context{spec};
    cleat::result<std::vector<cleat::net::address>> const peer =
        cleat::net::resolve("127.0.0.1", "443");
    std::printf(
        "%s, %s\n", cleat::tls::library_version().c_str(), to_string(peer.value().front()).c_str());
    char const* const neighbour = hello_of_neighbour();
    std::printf("beside %s\n", neighbour ? neighbour : "a library that is broken");
    return neighbour && std::string_view{neighbour}.starts_with("OpenSSL ") ? 0 : 1;
}
