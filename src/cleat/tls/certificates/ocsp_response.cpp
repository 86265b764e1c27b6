// The TLS libraries differ in how much of OCSP they have, BoringSSL has none of it: the few fields
// that matter are read here.

#include <cleat/tls/certificates/ocsp_response.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/openssl_error.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <ctime>

namespace cleat::tls {
namespace {

using namespace std::string_view_literals;

// Tags of X.690. Those of a context begin at 0x80, and at 0xa0 where they are constructed.
enum tag : unsigned char
{
    tag_integer = 0x02,
    tag_octet_string = 0x04,
    tag_object_identifier = 0x06,
    tag_enumerated = 0x0a,
    tag_generalized_time = 0x18,
    tag_sequence = 0x30,
    tag_context = 0x80,
    tag_context_constructed = 0xa0,
};

constexpr std::string_view basic_response_oid = "\x2b\x06\x01\x05\x05\x07\x30\x01\x01"sv;
constexpr std::string_view sha1_oid = "\x2b\x0e\x03\x02\x1a"sv;
constexpr std::string_view sha256_oid = "\x60\x86\x48\x01\x65\x03\x04\x02\x01"sv;

/// der_reader takes the elements of a DER text from its front. Once one is not as expected, it has
/// failed, and everything that it takes is empty.
class der_reader
{
public:
    explicit der_reader(std::string_view text) noexcept : rest_{text} {}

    [[nodiscard]] bool failed() const noexcept { return failed_; }
    [[nodiscard]] bool is_at_end() const noexcept { return failed_ || rest_.empty(); }
    [[nodiscard]] bool next_is(unsigned char wanted) const noexcept
    {
        return !is_at_end() && static_cast<unsigned char>(rest_.front()) == wanted;
    }

    /// take is the content of the next element, which must have this tag.
    std::string_view take(unsigned char wanted) noexcept
    {
        if (!next_is(wanted))
            failed_ = true;
        return take_any();
    }

    /// take_any is the content of the next element, whatever its tag is.
    std::string_view take_any() noexcept
    {
        std::size_t const head = 2;
        std::size_t const first = byte(1);
        std::size_t const more = first < 0x80 ? 0 : first - 0x80; // Bytes of a long length.
        std::size_t size = more == 0 ? first : 0;
        for (std::size_t i = 0; i < std::min(more, length_bytes_max); ++i)
            size = size << 8U | byte(head + i);
        bool const is_complete = more <= length_bytes_max && rest_.size() >= head + more &&
                                 rest_.size() - head - more >= size && first != 0x80;
        if (failed_ || !is_complete) {
            failed_ = true;
            return {};
        }
        std::string_view const content = rest_.substr(head + more, size);
        rest_.remove_prefix(head + more + size);
        return content;
    }

    /// take_whole is the next element with its tag and length.
    std::string_view take_whole(unsigned char wanted) noexcept
    {
        std::string_view const before = rest_;
        take(wanted);
        return failed_ ? std::string_view{} : before.substr(0, before.size() - rest_.size());
    }

    /// fail is for a content that is wrong.
    void fail() noexcept { failed_ = true; }

private:
    static constexpr std::size_t length_bytes_max = 4;

    [[nodiscard]] unsigned char byte(std::size_t place) const noexcept
    {
        return place < rest_.size() ? static_cast<unsigned char>(rest_[place]) : 0;
    }

    std::string_view rest_;
    bool failed_ = false;
};

// RFC 6960, section 4.2.2.1: "YYYYMMDDHHMMSSZ", as X.690 restricts it in DER.
std::optional<std::int64_t> seconds_of(std::string_view time) noexcept
{
    constexpr std::size_t digits = 14;
    if (time.size() != digits + 1 || time.back() != 'Z' ||
        time.substr(0, digits).find_first_not_of("0123456789") != time.npos)
        return {};
    auto const number = [&](std::size_t begin, std::size_t size) {
        int value = 0;
        for (char const digit : time.substr(begin, size))
            value = value * 10 + (digit - '0');
        return value;
    };
    std::tm parts{};
    parts.tm_year = number(0, 4) - 1900;
    parts.tm_mon = number(4, 2) - 1;
    parts.tm_mday = number(6, 2);
    parts.tm_hour = number(8, 2);
    parts.tm_min = number(10, 2);
    parts.tm_sec = number(12, 2);
    return timegm(&parts);
}

std::int64_t take_time(der_reader& from) noexcept
{
    std::optional<std::int64_t> const seconds = seconds_of(from.take(tag_generalized_time));
    if (!seconds)
        from.fail();
    return seconds.value_or(0);
}

single_response::certificate_status take_status(der_reader& from) noexcept
{
    using enum single_response::certificate_status;
    if (from.next_is(tag_context)) {
        from.take_any();
        return good;
    }
    bool const is_revoked = from.next_is(tag_context_constructed + 1);
    if (!is_revoked && !from.next_is(tag_context + 2))
        from.fail();
    from.take_any();
    return is_revoked ? revoked : unknown;
}

// False where it is damaged.
bool parse_single(std::string_view text, single_response& found)
{
    der_reader single{text};
    der_reader id{single.take(tag_sequence)};
    der_reader algorithm{id.take(tag_sequence)};
    found.hash_algorithm = algorithm.take(tag_object_identifier);
    found.issuer_name_hash = id.take(tag_octet_string);
    id.take(tag_octet_string); // The hash of the issuer's key.
    found.serial = id.take_whole(tag_integer);
    found.status = take_status(single);
    found.this_update = take_time(single);
    if (single.next_is(tag_context_constructed)) {
        der_reader next{single.take_any()};
        found.next_update = take_time(next);
        if (next.failed())
            single.fail();
    }
    return !single.failed() && !id.failed() && !algorithm.failed();
}

// The answers of a BasicOCSPResponse.
std::optional<std::vector<single_response>> parse_basic(std::string_view text)
{
    der_reader whole{text};
    der_reader basic{whole.take(tag_sequence)};
    der_reader data{basic.take(tag_sequence)};
    if (data.next_is(tag_context_constructed)) // The version.
        data.take_any();
    data.take_any(); // The responder.
    data.take(tag_generalized_time);
    der_reader list{data.take(tag_sequence)};
    std::vector<single_response> answers;
    while (!list.is_at_end())
        if (!parse_single(list.take(tag_sequence), answers.emplace_back()))
            list.fail();
    bool const is_damaged = whole.failed() || basic.failed() || data.failed() || list.failed();
    return is_damaged ? std::nullopt : std::optional{std::move(answers)};
}

// The hash that the response was made with, of the name of the certificate's issuer; empty where
// it is a hash that nobody uses.
std::string issuer_name_hash(X509 const* leaf, std::string_view algorithm)
{
    EVP_MD const* const digest = algorithm == sha1_oid     ? EVP_sha1()
                                 : algorithm == sha256_oid ? EVP_sha256()
                                                           : nullptr;
    std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
    unsigned size = 0;
    if (digest == nullptr ||
        X509_NAME_digest(X509_get_issuer_name(leaf), digest, hash.data(), &size) != 1)
        return {};
    return {reinterpret_cast<char const*>(hash.data()), size};
}

std::string serial_of(X509 const* leaf)
{
    unsigned char* der = nullptr;
    int const size = i2d_ASN1_INTEGER(X509_get0_serialNumber(leaf), &der);
    if (size <= 0)
        return {};
    std::string serial{reinterpret_cast<char const*>(der), static_cast<std::size_t>(size)};
    OPENSSL_free(der);
    return serial;
}

bool is_about(single_response const& answer, X509 const* leaf, std::string_view serial)
{
    if (answer.serial != serial)
        return false;
    std::string const issuer = issuer_name_hash(leaf, answer.hash_algorithm);
    return issuer.empty() || issuer == answer.issuer_name_hash;
}

std::string utc(std::int64_t seconds)
{
    return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

void warn_of(
    single_response const& answer, ocsp_response const& read, std::string const& origin,
    std::int64_t now, std::vector<std::string>& warnings)
{
    using enum single_response::certificate_status;
    if (now >= read.next_update)
        warnings.push_back(fmt::format(
            "{}: the OCSP response is stale since {}, and is not sent to clients: get a new one "
            "from the certificate's authority",
            origin, utc(read.next_update)));
    else if (now < read.this_update)
        warnings.push_back(fmt::format(
            "{}: the OCSP response is valid from {} only, and is not sent to clients until then: "
            "check this machine's clock",
            origin, utc(read.this_update)));
    if (answer.status != good)
        warnings.push_back(fmt::format(
            "{}: the OCSP response says that the certificate is {}: clients may refuse it; have a "
            "new one issued",
            origin, answer.status == revoked ? "revoked" : "unknown to its authority"));
}

} // namespace

std::optional<ocsp_outline> parse_ocsp(std::string_view der)
{
    der_reader file{der};
    der_reader response{file.take(tag_sequence)};
    std::string_view const status = response.take(tag_enumerated);
    if (status.size() != 1 || response.failed() || !file.is_at_end())
        return {};
    ocsp_outline found;
    found.status = static_cast<unsigned char>(status.front());
    if (found.status != 0)
        return found;
    der_reader tagged{response.take(tag_context_constructed)};
    der_reader bytes{tagged.take(tag_sequence)};
    bool const is_basic = bytes.take(tag_object_identifier) == basic_response_oid;
    std::optional<std::vector<single_response>> answers = parse_basic(bytes.take(tag_octet_string));
    if (!is_basic || !answers || bytes.failed())
        return {};
    found.answers = *std::move(answers);
    return found;
}

ocsp_response read_ocsp_response(
    std::string_view der, std::string const& origin, X509 const* leaf,
    std::chrono::system_clock::time_point now, std::vector<std::string>& warnings)
{
    constexpr std::size_t size_max = 65535 - 8; // RFC 8446, section 4.4.2: the extensions' length.
    if (der.size() > size_max)
        throw spec_error{fmt::format(
            "{}: the OCSP response has {} bytes, and a handshake has room for {}: request one "
            "without the authority's certificates",
            origin, der.size(), size_max)};
    std::optional<ocsp_outline> const found = parse_ocsp(der);
    if (!found)
        throw spec_error{fmt::format(
            "{}: this is no OCSP response in DER form: write one with `openssl ocsp ... -respout "
            "FILE`",
            origin)};
    if (found->status != 0)
        throw spec_error{fmt::format(
            "{}: the OCSP response is an error of the authority, with the status {} (RFC 6960, "
            "section 4.2.1): request it again",
            origin, found->status)};
    std::string const serial = serial_of(leaf);
    auto const answer = std::ranges::find_if(
        found->answers, [&](single_response const& each) { return is_about(each, leaf, serial); });
    clear_errors();
    if (answer == found->answers.end())
        throw spec_error{fmt::format(
            "{}: the OCSP response is for another certificate: request one for the certificate "
            "that this pem-file names",
            origin)};
    ocsp_response read{.der = std::string{der}, .this_update = answer->this_update};
    read.next_update = answer->next_update.value_or(read.next_update);
    warn_of(
        *answer, read, origin,
        std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count(), warnings);
    return read;
}

} // namespace cleat::tls
