// check_rule: how the servers of an upstream are checked.

#pragma once

#include <cleat/tls/context_spec.hpp>
#include <cleat/tls/store/certificate_store.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace cleat::app {

/// check_tls is how a check speaks TLS. It never changes: the checker's thread reads it, too.
struct check_tls
{
    /// Of a client, without a server_name. Its texts stay: a check may need a new context whenever
    /// its servers have new addresses.
    tls::context_spec spec{};
    bool is_header_inside = false;
    tls::file_digest certificate{}; ///< As in upstream_tls_plan.

    friend bool operator==(check_tls const& one, check_tls const& other);
};

/// check_rule is an upstream's. A check connects, sends `header` and `send`, and reads until the
/// answer contains `expect`; each only where it is not empty. With TLS it shakes hands first, and
/// only a header that is not inside comes before that.
struct check_rule
{
    bool is_on = false;
    std::chrono::milliseconds interval{2000}; ///< From the beginning of a check to the next one's.
    std::chrono::milliseconds timeout{1000};  ///< For each address of the server.
    unsigned rise = 1;                        ///< So many that pass bring a server back.
    unsigned fall = 2;                        ///< So many in a row that fail take it out.
    std::string send{};
    std::string expect{};
    std::string header{};                   ///< Of a connection that is cleat's own.
    std::shared_ptr<check_tls const> tls{}; ///< Null: no TLS.

    friend bool operator==(check_rule const& one, check_rule const& other);
};

} // namespace cleat::app
