// The file is a header, which names the format and the TLS library, a digest of the rest, and then
// one record after another.

#include <cleat/core/limits.hpp>
#include <cleat/core/unique_fd.hpp>
#include <cleat/core/write_whole.hpp>
#include <cleat/tls/backend.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/openssl_error.hpp>
#include <cleat/tls/records.hpp>
#include <cleat/tls/store/certificate_index.hpp>

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cleat::tls {
namespace {

constexpr std::size_t digest_size = std::tuple_size_v<file_digest>;

std::string header()
{
    return fmt::format("cleat certificate index 3, {}\n", library_version());
}

// The digest that a file has behind its header.
std::optional<file_digest> digest_of_records(std::string_view records)
{
    constexpr std::string_view purpose = "cleat certificate index 1";
    file_digest made{};
    backend::library_state const library;
    bool const done =
        library.derive(std::as_bytes(std::span{records}), std::as_bytes(std::span{purpose}), made);
    return done ? std::optional{made} : std::nullopt;
}

// The names of a certificate's files, as the index has them.
std::string files_of(certificate_paths const& paths, std::string const& folder)
{
    bool const has_key = !paths.private_key.empty();
    return whole_path(paths.chain, folder) + '\0' +
           (has_key ? whole_path(paths.private_key, folder) : std::string{});
}

void add_record(
    record_writer& out, certificate_store const& store, certificate_store::number certificate)
{
    certificate_summary const& summary = store.summary(certificate);
    out.text(files_of(store.paths(certificate), store.working_folder()));
    out.number(store.stamps(certificate).chain);
    out.number(store.stamps(certificate).private_key);
    out.number(summary.digest);
    out.number(summary.valid_until);
    out.number(summary.lifetime);
    out.number(summary.signature);
    out.number(summary.key_bits);
    out.number(summary.type);
    std::uint32_t names = 0;
    store.for_each_name(certificate, [&](std::string_view) { ++names; });
    out.number(names);
    store.for_each_name(certificate, [&](std::string_view name) { out.text(name); });
}

// A forged file may have anything; a store takes names as name_key makes them.
bool is_key(std::string_view name) noexcept
{
    return !name.starts_with('*') && is_usable_name(name.substr(name.starts_with('.') ? 1 : 0));
}

// Names are skipped where `names` is null. False: one of them is none.
bool read_record(
    record_reader& reader, certificate_stamps& stamps, certificate_summary& summary,
    std::vector<std::string>* names)
{
    stamps.chain = reader.number<file_stamp>();
    stamps.private_key = reader.number<file_stamp>();
    summary.digest = reader.number<file_digest>();
    summary.valid_until = reader.number<std::int64_t>();
    summary.lifetime = reader.number<std::uint32_t>();
    summary.signature = reader.number<std::int32_t>();
    summary.key_bits = reader.number<std::uint16_t>();
    summary.type = reader.number<key_type>();
    std::uint32_t const count = reader.number<std::uint32_t>();
    bool are_names = true;
    for (std::uint32_t i = 0; i < count && reader.good(); ++i) {
        std::string_view const name = reader.text();
        are_names = are_names && is_key(name);
        if (names != nullptr)
            names->emplace_back(name);
    }
    return are_names;
}

} // namespace

certificate_index certificate_index::read(std::string const& path, uid_t owner, std::string& fault)
{
    unique_fd const file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
    struct stat facts = {};
    if (!file || ::fstat(file.get(), &facts) != 0) {
        if (errno != ENOENT)
            fault = last_system_error().message();
        return {};
    }
    bool const is_ours = facts.st_uid == 0 || facts.st_uid == ::geteuid() || facts.st_uid == owner;
    if (!S_ISREG(facts.st_mode))
        fault = "it is no regular file";
    else if (!is_ours || (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        fault = "another user may have written it";
    else if (static_cast<std::size_t>(facts.st_size) > limits::certificate_index_max)
        fault = "it is too large";
    if (!fault.empty())
        return {};
    std::string bytes(static_cast<std::size_t>(facts.st_size), '\0');
    std::size_t used = 0;
    while (used < bytes.size()) {
        ssize_t const n = ::read(file.get(), bytes.data() + used, bytes.size() - used);
        if (n <= 0)
            break;
        used += static_cast<std::size_t>(n);
    }
    bytes.resize(used);
    certificate_index made;
    if (!made.take(std::move(bytes))) {
        fault = "it is damaged, or another version of cleat or of the TLS library wrote it";
        return {};
    }
    return made;
}

bool certificate_index::take(std::string bytes)
{
    bytes_ = std::move(bytes);
    std::string const expected = header();
    std::size_t const begin = expected.size() + digest_size;
    if (!bytes_.starts_with(expected) || bytes_.size() < begin)
        return false;
    file_digest written{};
    std::memcpy(written.data(), bytes_.data() + expected.size(), digest_size);
    return digest_of_records(std::string_view{bytes_}.substr(begin)) == written &&
           take_records(begin);
}

std::optional<certificate_index> certificate_index::of_records(std::string records)
{
    certificate_index made;
    made.bytes_ = std::move(records);
    return made.take_records(0) ? std::optional{std::move(made)} : std::nullopt;
}

bool certificate_index::take_records(std::size_t begin)
{
    certificate_stamps stamps;
    certificate_summary summary;
    for (record_reader reader{bytes_, begin}; reader.place() < bytes_.size();) {
        std::string_view const files = reader.text();
        records_.emplace(files, reader.place());
        bool const are_names = read_record(reader, stamps, summary, nullptr);
        if (!are_names || !reader.good() ||
            static_cast<std::size_t>(summary.type) >= key_type_count)
            return false;
    }
    return true;
}

bool certificate_index::recall(
    certificate_paths const& paths, std::string const& folder, certificate_stamps const& stamps,
    scanned_certificate& found) const
{
    auto const record = records_.find(files_of(paths, folder));
    if (record == records_.end() || !paths.ocsp_response.empty())
        return false;
    record_reader reader{bytes_, record->second};
    certificate_stamps known;
    return read_record(reader, known, found.summary, &found.names) && known == stamps;
}

error_code write_index(certificate_store const& store, std::string const& path)
{
    record_writer records;
    store.for_each([&](certificate_store::number each) {
        if (store.stamps(each).is_known() && !store.has_response(each))
            add_record(records, store, each);
    });
    std::optional<file_digest> const digest = digest_of_records(records.bytes());
    clear_errors();
    if (!digest)
        return make_error_code(boost::system::errc::not_enough_memory);
    std::string const other = path + ".new";
    static_cast<void>(::unlink(other.c_str())); // Of a process that was killed.
    unique_fd file{::open(
        other.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR)};
    if (!file)
        return last_system_error();
    error_code failed = write_whole(file.get(), header());
    std::string_view const raw{reinterpret_cast<char const*>(digest->data()), digest->size()};
    if (!failed)
        failed = write_whole(file.get(), raw);
    if (!failed)
        failed = write_whole(file.get(), records.bytes());
    if (!failed && ::rename(other.c_str(), path.c_str()) != 0)
        failed = last_system_error();
    if (failed)
        static_cast<void>(::unlink(other.c_str()));
    return failed;
}

} // namespace cleat::tls
