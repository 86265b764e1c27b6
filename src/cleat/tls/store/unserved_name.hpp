// unserved_name: a name that a server has certificates for, and can serve to no client. Not a
// public header.

#pragma once

#include <cleat/tls/context_spec.hpp>
#include <cleat/tls/store/candidate.hpp>
#include <cleat/tls/store/certificate_set.hpp>

#include <functional>
#include <string>

namespace cleat::tls {

/// refuse_unserved throws spec_error where all certificates for a name, or all defaults, have keys
/// of `unusable` types: those with which no handshake is possible under the spec's settings. A
/// certificate of such a type beside a usable one is left alone. Without unusable types it returns
/// at once. origin is where a certificate comes from.
void refuse_unserved(
    certificate_set const& certificates, candidates const& unusable, context_spec const& spec,
    std::function<std::string(certificate_set::number)> const& origin);

} // namespace cleat::tls
