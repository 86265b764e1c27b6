#include <cleat/tls/certificates/certificate_use.hpp>
#include <cleat/tls/store/certificate_loader.hpp>
#include <cleat/tls/store/certificate_proof.hpp>
#include <cleat/tls/warm_up.hpp>

namespace cleat::tls {

certificate_proof::certificate_proof(context_spec const& spec)
    : spec_{spec}, settings_{library_, spec, findings_}
{
}

bool certificate_proof::try_out(
    certificate_store const& store, certificate_store::number number,
    std::vector<std::string>& warnings) const
{
    certificate const read = load_certificate(library_, store, number);
    ssl_ctx_ptr const ctx = settings_.new_ctx(library_, spec_, nullptr);
    use_certificate(ctx.get(), read);
    return warm_server(
        library_, ctx.get(), spec_, settings_.groups(), read.type, read.origin, warnings);
}

} // namespace cleat::tls
