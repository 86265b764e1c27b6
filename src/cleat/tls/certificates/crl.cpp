#include <cleat/tls/backend.hpp>
#include <cleat/tls/certificates/crl.hpp>
#include <cleat/tls/certificates/crl_end.hpp>
#include <cleat/tls/certificates/verify_hook.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/openssl_error.hpp>

#include <openssl/pem.h>
#include <openssl/x509_vfy.h>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string_view>
#include <utility>

namespace cleat::tls {
namespace {

x509_crl_ptr read_der(std::string_view der)
{
    auto const* bytes = reinterpret_cast<unsigned char const*>(der.data());
    x509_crl_ptr found{d2i_X509_CRL(nullptr, &bytes, static_cast<long>(der.size()))};
    bool const is_whole = bytes == reinterpret_cast<unsigned char const*>(der.data()) + der.size();
    return is_whole ? std::move(found) : nullptr;
}

std::size_t count_of(std::string_view text, std::string_view word)
{
    std::size_t count = 0;
    for (std::size_t place = text.find(word); place != std::string_view::npos;
         place = text.find(word, place + word.size()))
        ++count;
    return count;
}

[[noreturn]] void refuse_crl(std::string const& origin, std::string_view why)
{
    throw spec_error{fmt::format("{}: {}", origin, why)};
}

void read_pem(crl_source const& source, std::vector<x509_crl_ptr>& crls)
{
    bio_ptr const pem{BIO_new_mem_buf(source.text.data(), static_cast<int>(source.text.size()))};
    std::size_t left = count_of(source.text, "-----BEGIN X509 CRL-----");
    if (left == 0)
        refuse_crl(source.origin, "there is no CRL in it: write one in PEM (X509 CRL), or in DER");
    for (; left != 0; --left) {
        x509_crl_ptr found{PEM_read_bio_X509_CRL(pem.get(), nullptr, nullptr, nullptr)};
        if (found == nullptr)
            refuse_crl(source.origin, "a CRL in it cannot be read: is the file whole?");
        crls.push_back(std::move(found));
    }
}

std::optional<std::int64_t> next_update_of(X509_CRL const* crl)
{
    ASN1_TIME const* const next = X509_CRL_get0_nextUpdate(crl);
    return next == nullptr ? std::nullopt : backend::posix_time(next);
}

void warn_if_stale(
    X509_CRL const* crl, std::string const& origin, std::vector<std::string>& warnings)
{
    std::optional<std::int64_t> const until = next_update_of(crl);
    if (until && *until < std::time(nullptr))
        warnings.push_back(fmt::format(
            "{}: this CRL is stale since {:%Y-%m-%d %H:%M:%S} UTC: fetch a new one", origin,
            fmt::gmtime(static_cast<std::time_t>(*until))));
}

void read_source(crl_source const& source, std::vector<x509_crl_ptr>& found)
{
    if (x509_crl_ptr der = source.text.starts_with('0') ? read_der(source.text) : nullptr)
        found.push_back(std::move(der));
    else
        read_pem(source, found);
    clear_errors();
}

} // namespace

std::vector<x509_crl_ptr> read_crls(
    std::vector<crl_source> const& sources, std::vector<std::string>& warnings)
{
    std::vector<x509_crl_ptr> found;
    for (crl_source const& source : sources) {
        std::size_t const first = found.size();
        read_source(source, found);
        for (std::size_t i = first; i < found.size(); ++i)
            warn_if_stale(found[i].get(), source.origin, warnings);
    }
    return found;
}

std::vector<crl_end> find_crl_ends(crl_source const& source)
{
    std::vector<crl_end> found;
    try {
        std::vector<x509_crl_ptr> crls;
        read_source(source, crls);
        for (x509_crl_ptr const& each : crls)
            if (std::optional<std::int64_t> const until = next_update_of(each.get()))
                found.push_back(
                    {source.origin, std::chrono::sys_seconds{std::chrono::seconds{*until}}});
    } catch (spec_error const&) {
        clear_errors();
    }
    return found;
}

extern "C" int cleat_accept_stale_crl(int preverified, X509_STORE_CTX* store_ctx)
{
    if (preverified == 1 || X509_STORE_CTX_get_error(store_ctx) != X509_V_ERR_CRL_HAS_EXPIRED)
        return refused_certificate::note(preverified, store_ctx);
    X509_STORE_CTX_set_error(store_ctx, X509_V_OK);
    return 1;
}

} // namespace cleat::tls
