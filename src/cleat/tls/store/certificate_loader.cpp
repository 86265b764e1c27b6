#include <cleat/tls/openssl_error.hpp>
#include <cleat/tls/store/certificate_loader.hpp>
#include <cleat/tls/store/file_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <span>
#include <utility>

namespace cleat::tls {
namespace {

secret_text checked_text(std::string const& path, std::string const& folder)
{
    bool const is_absolute = path.starts_with('/') || folder.empty();
    file_text found = read_file(is_absolute ? path : folder + '/' + path);
    if (found.fault != file_fault::none)
        throw load_error{description(found, path), cure(found), may_pass(found)};
    return std::move(found.text);
}

// The backend has one function that is built on SHA-256, in the worker's own library state: HKDF.
void digest(
    backend::library_state const& library, std::span<std::byte const> bytes,
    std::span<std::byte> out)
{
    constexpr std::string_view purpose = "cleat certificate file 1";
    if (!library.derive(bytes, std::as_bytes(std::span{purpose}), out))
        throw load_error{
            "the TLS library cannot compute a file's digest", "The machine may be out of memory.",
            true};
}

file_digest digest_of(
    backend::library_state const& library, std::string_view chain, std::string_view key)
{
    std::array<std::byte, 2 * std::tuple_size_v<file_digest>> both{};
    std::span<std::byte> const halves{both};
    digest(library, std::as_bytes(std::span{chain}), halves.first(both.size() / 2));
    digest(library, std::as_bytes(std::span{key}), halves.last(both.size() / 2));
    file_digest whole{};
    digest(library, both, whole);
    return whole;
}

} // namespace

certificate_on_disk read_from_disk(
    backend::library_state const& library, certificate_paths const& paths,
    std::string const& folder, std::vector<std::string>& warnings)
{
    secret_text const chain = checked_text(paths.chain, folder);
    secret_text const key =
        paths.private_key.empty() ? secret_text{} : checked_text(paths.private_key, folder);
    bool const is_one_file = paths.private_key.empty();
    certificate_text const text{
        chain.view(), is_one_file ? chain.view() : key.view(), origin_of(paths)};
    return {
        read_certificate(library, text, std::chrono::system_clock::now(), warnings),
        digest_of(library, chain.view(), key.view())};
}

std::optional<certificate_description> describe_files(
    backend::library_state const& library, certificate_paths const& paths)
{
    file_text const chain = read_file(paths.chain);
    file_text const key = paths.private_key.empty() ? file_text{} : read_file(paths.private_key);
    if (chain.fault != file_fault::none || key.fault != file_fault::none)
        return {};
    std::string_view const key_text =
        paths.private_key.empty() ? chain.text.view() : key.text.view();
    return describe_certificate(library, certificate_text{chain.text.view(), key_text, {}});
}

certificate load_certificate(
    backend::library_state const& library, certificate_store const& store,
    certificate_store::number number)
{
    std::vector<std::string> warnings; // The start has reported them.
    certificate_paths const paths = store.paths(number);
    certificate_on_disk found = [&] {
        try {
            return read_from_disk(library, paths, store.working_folder(), warnings);
        } catch (load_error const&) {
            throw;
        } catch (spec_error const& wrong) { // It was good when the store was filled.
            throw load_error{
                fmt::format("{} (it has changed since the last start or reload)", wrong.what()),
                "Repair the file, and send SIGHUP: cleat reads it again.", false};
        }
    }();
    if (found.digest != store.summary(number).digest)
        throw load_error{
            fmt::format(
                "{}: the file has changed since the last start or reload", origin_of(paths)),
            "Send SIGHUP: cleat reads it again.", false};
    return std::move(found.read);
}

certificate_summary summary_of(certificate_on_disk const& found)
{
    X509 const* const leaf = found.read.leaf.get();
    constexpr int bits_max = std::numeric_limits<std::uint16_t>::max();
    return {
        .digest = found.digest,
        .valid_until = backend::posix_time(X509_get0_notAfter(leaf)).value_or(0),
        .signature = X509_get_signature_nid(leaf),
        .key_bits =
            static_cast<std::uint16_t>(std::min(EVP_PKEY_bits(found.read.key.get()), bits_max)),
        .type = found.read.type};
}

} // namespace cleat::tls
