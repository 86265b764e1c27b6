// certificate_proof: handshakes in memory with certificates of a store. Not a public header.

#pragma once

#include <cleat/tls/backend.hpp>
#include <cleat/tls/context_settings.hpp>
#include <cleat/tls/context_spec.hpp>
#include <cleat/tls/store/certificate_store.hpp>

#include <string>
#include <vector>

namespace cleat::tls {

/// certificate_proof tries out certificates with a server's settings, and a client that accepts all
/// that they offer.
class certificate_proof
{
public:
    /// The spec outlives the proof. Throws spec_error.
    explicit certificate_proof(context_spec const& spec);

    /// try_out reads the certificate and shakes hands in each version that the settings allow. A
    /// version that fails is a warning. False: none is possible. Throws spec_error where the files
    /// cannot be used any more.
    [[nodiscard]] bool try_out(
        certificate_store const& store, certificate_store::number certificate,
        std::vector<std::string>& warnings) const;

private:
    context_spec const& spec_;
    std::vector<std::string> findings_; // Of the settings: reported with them.
    backend::library_state library_;
    context_settings settings_;
};

} // namespace cleat::tls
