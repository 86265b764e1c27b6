// unserved: a server whose certificates can all be used by no client. Not a public header.

#pragma once

#include <cleat/tls/context_spec.hpp>
#include <cleat/tls/store/candidate.hpp>
#include <cleat/tls/store/certificate_set.hpp>

#include <functional>
#include <string>

namespace cleat::tls {

/// refuse_unserved throws spec_error where all certificates have keys of `unusable` types: those
/// with which no handshake is possible under the spec's settings. Beside a usable one others are
/// left alone: a route's settings may be for some of the frontend's certificates only. origin is
/// where a certificate comes from.
void refuse_unserved(
    certificate_set const& certificates, candidates const& unusable, context_spec const& spec,
    std::function<std::string(certificate_set::number)> const& origin);

} // namespace cleat::tls
