// certificate_collection: the certificates that a certificate_store_spec names: a store, and the
// set that finds them by name. Not a public header.

#pragma once

#include <cleat/tls/certificate_store_spec.hpp>
#include <cleat/tls/context_spec.hpp>
#include <cleat/tls/store/certificate_set.hpp>
#include <cleat/tls/store/certificate_store.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace cleat::tls {

/// certificate_collection is read-only once it is made. A collection that follows another one
/// shares with it what is the same (see shared_blocks).
struct certificate_collection
{
    struct change
    {
        certificate_store::number certificate;
        bool has_other_type; ///< Of key than the certificate that it replaces.
    };

    certificate_collection() = default;
    explicit certificate_collection(certificate_collection const& before)
        : store{before.store}, set{before.set, store, nullptr}
    {
    }
    ~certificate_collection() = default;

    certificate_store store{{}}; ///< Its paths are absolute.
    certificate_set set{store};
    std::vector<change> changes; ///< Certificates that the collection before has not.
    std::size_t read = 0;        ///< How many certificates were read to make it.
};

/// read_collection reads the certificates that the spec names, with all CPUs. Where there is a
/// collection before, it reads those whose files have changed. Null: there are `mistakes`, one
/// sentence each. Throws std::bad_alloc, std::system_error, and what the spec's on_warning throws.
[[nodiscard]] std::shared_ptr<certificate_collection const> read_collection(
    certificate_store_spec const& spec, certificate_collection const* before,
    std::vector<std::string>& mistakes);

/// read_collection for a server, which names the first mistake and counts the others in a
/// spec_error.
[[nodiscard]] std::shared_ptr<certificate_collection const> read_collection(
    context_spec const& server, certificate_collection const* before);

/// find_store_mistakes returns what is wrong with a server's settings beside its files.
[[nodiscard]] std::vector<std::string> find_store_mistakes(context_spec const& server);

/// prove_changes tries out the changes with handshakes, up to limits::certificates_proved_max.
/// Throws spec_error where a certificate with another type of key than before can be used by no
/// client; any other such certificate is a warning, because another one may serve its names.
void prove_changes(context_spec const& server, certificate_collection const& collection);

} // namespace cleat::tls
