// compressors: the algorithms that this build can compress certificates with (RFC 8879).

#pragma once

#include "config/config.hpp"

#include <cleat/tls/context_spec.hpp>

namespace cleat::app {

/// compressor_of compresses at a level that takes less than a millisecond for a usual chain.
[[nodiscard]] tls::certificate_compressor compressor_of(compression algorithm) noexcept;

} // namespace cleat::app
