#include <cleat/tls/openssl_error.hpp>
#include <cleat/tls/store/certificate_loader.hpp>
#include <cleat/tls/store/file_text.hpp>
#include <cleat/tls/store/host_name.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <set>
#include <span>
#include <utility>

namespace cleat::tls {
namespace {

file_text checked_text(
    std::string const& path, std::string const& folder, file_opener const& opener)
{
    file_text found = read_file(whole_path(path, folder), opener);
    if (found.fault != file_fault::none)
        throw load_error{description(found, path), cure(found), may_pass(found)};
    return found;
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
    file_digest whole{};
    if (key.empty()) {
        digest(library, std::as_bytes(std::span{chain}), whole);
        return whole;
    }
    std::array<std::byte, 2 * std::tuple_size_v<file_digest>> both{};
    std::span<std::byte> const halves{both};
    digest(library, std::as_bytes(std::span{chain}), halves.first(both.size() / 2));
    digest(library, std::as_bytes(std::span{key}), halves.last(both.size() / 2));
    digest(library, both, whole);
    return whole;
}

// Of all files of a certificate with an OCSP response.
file_digest digest_with_response(
    backend::library_state const& library, file_digest const& others, file_digest const& response)
{
    std::array<file_digest, 2> const both{others, response};
    file_digest whole{};
    digest(library, std::as_bytes(std::span{both}), whole);
    return whole;
}

// 0, which is unknown, where one of them is.
file_stamp stamp_of_both(file_stamp one, file_stamp other) noexcept
{
    if (one == 0 || other == 0)
        return 0;
    file_stamp const both = (one ^ (other << 1U | other >> 63U)) * 1099511628211U; // As in FNV-1a.
    return both == 0 ? 1 : both;
}

} // namespace

file_digest source_digest(backend::library_state const& library, certificate_source const& source)
{
    bool const is_one_file = source.private_key == source.chain;
    file_digest const others = digest_of(
        library, source.chain, is_one_file ? std::string_view{} : source.private_key.view());
    if (source.ocsp_response.empty())
        return others;
    file_digest response{};
    digest(library, std::as_bytes(std::span{source.ocsp_response}), response);
    return digest_with_response(library, others, response);
}

certificate_on_disk read_from_disk(
    backend::library_state const& library, certificate_paths const& paths,
    std::string const& folder, std::vector<std::string>& warnings, file_opener const& opener)
{
    bool const is_one_file = paths.private_key.empty();
    file_text const chain = checked_text(paths.chain, folder, opener);
    file_text const key =
        is_one_file ? file_text{} : checked_text(paths.private_key, folder, opener);
    certificate_text const text{
        chain.text.view(), is_one_file ? chain.text.view() : key.text.view(), origin_of(paths)};
    return {
        read_certificate(library, text, std::chrono::system_clock::now(), warnings),
        digest_of(library, chain.text.view(), key.text.view()),
        {},
        {chain.stamp, is_one_file ? chain.stamp : key.stamp}};
}

void read_response_from_disk(
    backend::library_state const& library, certificate_paths const& paths,
    std::string const& folder, certificate_on_disk& found, std::vector<std::string>& warnings,
    file_opener const& opener)
{
    std::string const& path = paths.ocsp_response;
    if (path.empty())
        return;
    file_text const response = checked_text(path, folder, opener);
    if (response.text.view().empty())
        throw load_error{
            path + " is empty", "Write an OCSP response in DER form to it, or leave it out.",
            false};
    ocsp_response staple = read_ocsp_response(
        response.text.view(), path, found.read.leaf.get(), std::chrono::system_clock::now(),
        warnings);
    file_digest response_digest{};
    digest(library, std::as_bytes(std::span{response.text.view()}), response_digest);
    found.digest = digest_with_response(library, found.digest, response_digest);
    found.response_digest = response_digest;
    found.stamps.private_key = stamp_of_both(found.stamps.private_key, response.stamp);
    found.read.staple = std::move(staple);
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

certificate_stamps stamps_of(
    certificate_paths const& paths, std::string const& folder, std::time_t now)
{
    auto const stamp = [&](std::string const& path) {
        return stamp_of(whole_path(path, folder), now);
    };
    file_stamp const chain = stamp(paths.chain);
    file_stamp const key = paths.private_key.empty() ? chain : stamp(paths.private_key);
    if (paths.ocsp_response.empty())
        return {chain, key};
    return {chain, stamp_of_both(key, stamp(paths.ocsp_response))};
}

certificate load_certificate(
    backend::library_state const& library, certificate_store const& store,
    certificate_store::number number)
{
    return load_certificate(
        library, store.expected(number), store.working_folder(), store.opener());
}

namespace {

// The clients do without a response that cannot be used any more.
void add_usable_response(
    backend::library_state const& library, expected_files const& expected,
    std::string const& folder, certificate_on_disk& found, file_opener const& opener)
{
    std::vector<std::string> warnings;
    try {
        read_response_from_disk(library, expected.paths, folder, found, warnings, opener);
    } catch (load_error const& failed) {
        if (failed.may_pass) // Else the certificate would be kept without it.
            throw;
    } catch (spec_error const&) {
        clear_errors();
    }
}

// The difference, where the new content of the files cannot take the place of the old; or nothing.
std::string_view difference(expected_files const& expected, certificate const& found)
{
    if (found.type != expected.type)
        return "its key has another type than the one before";
    std::set<std::string> names;
    for (std::string const& name : found.names)
        names.insert(name_key(name));
    bool const has_all = std::ranges::all_of(
        expected.names, [&](std::string const& name) { return names.contains(name); });
    return has_all ? std::string_view{} : "it lacks names of the one before";
}

load_error difference_error(std::string const& origin, bool has_changed, std::string_view wrong)
{
    if (!has_changed)
        return {
            fmt::format("{}: the index of certificates does not fit the file: {}", origin, wrong),
            "Remove the file that certificate-index names, and start again.", false};
    return {
        fmt::format(
            "{}: the file has changed since the last start or reload, and {}", origin, wrong),
        "A reload reads it again.", false};
}

} // namespace

certificate load_certificate(
    backend::library_state const& library, expected_files const& expected,
    std::string const& folder, file_opener const& opener)
{
    certificate_paths const& paths = expected.paths;
    std::vector<std::string> warnings; // The start has reported them.
    certificate_on_disk found = [&] {
        try {
            return read_from_disk(library, paths, folder, warnings, opener);
        } catch (load_error const&) {
            throw;
        } catch (spec_error const& wrong) { // It was good when the store was filled.
            throw load_error{
                fmt::format("{} (it has changed since the last start or reload)", wrong.what()),
                "Repair the file, and reload.", false};
        }
    }();
    file_digest const digest =
        paths.ocsp_response.empty()
            ? found.digest
            : digest_with_response(library, found.digest, expected.response_digest);
    found.read.is_renewed = digest != expected.digest;
    // Also of a file with the expected digest: what is expected of it may come from an index file.
    if (std::string_view const wrong = difference(expected, found.read); !wrong.empty())
        throw difference_error(origin_of(paths), found.read.is_renewed, wrong);
    add_usable_response(library, expected, folder, found, opener);
    return std::move(found.read);
}

certificate_summary summary_of(certificate_on_disk const& found)
{
    X509 const* const leaf = found.read.leaf.get();
    constexpr int bits_max = std::numeric_limits<std::uint16_t>::max();
    constexpr std::chrono::seconds lifetime_max{std::numeric_limits<std::uint32_t>::max()};
    return {
        .digest = found.digest,
        .valid_until = backend::posix_time(X509_get0_notAfter(leaf)).value_or(0),
        .lifetime = static_cast<std::uint32_t>(std::min(lifetime_of(leaf), lifetime_max).count()),
        .signature = X509_get_signature_nid(leaf),
        .key_bits =
            static_cast<std::uint16_t>(std::min(EVP_PKEY_bits(found.read.key.get()), bits_max)),
        .type = found.read.type};
}

} // namespace cleat::tls
