// check_context: the TLS context of an upstream's checks.

#pragma once

#include "upstream/check_rule.hpp"

#include <cleat/tls/context.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace cleat::app {

/// check_context belongs to the thread that checks: no worker has its context.
class check_context
{
public:
    explicit check_context(std::shared_ptr<check_tls const> tls) noexcept : tls_{std::move(tls)} {}

    [[nodiscard]] check_tls const& tls() const noexcept { return *tls_; }

    /// get makes the context at its first call. Throws tls::spec_error and std::bad_alloc.
    [[nodiscard]] tls::context const& get()
    {
        if (!made_)
            made_.emplace(tls_->spec);
        return *made_;
    }

private:
    std::shared_ptr<check_tls const> tls_;
    std::optional<tls::context> made_;
};

} // namespace cleat::app
