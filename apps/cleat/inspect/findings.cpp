#include "certificates/expiry.hpp"
#include "inspect/findings.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ctime>
#include <utility>

namespace cleat::app {
namespace {

using tls::certificate_description;
using tls::key_family;

constexpr unsigned rsa_bits_min = 2048; // NIST SP 800-57 part 1, table 2: 112 bits of strength.
constexpr unsigned curve_bits_min = 256;

std::chrono::sys_seconds time_at(std::int64_t posix) noexcept
{
    return std::chrono::sys_seconds{std::chrono::seconds{posix}};
}

finding_grade finding_grade_of(expiry_stage stage) noexcept
{
    return stage == expiry_stage::soon     ? finding_grade::notice
           : stage == expiry_stage::sooner ? finding_grade::warning
                                           : finding_grade::error;
}

class examination
{
public:
    examination(certificate_description const& facts, std::chrono::sys_seconds now)
        : facts_{facts}, now_{now.time_since_epoch().count()}
    {
    }

    std::vector<finding> run(std::string_view error)
    {
        check_service(error);
        check_end();
        check_begin();
        check_chain_dates();
        check_chain();
        check_strength();
        check_names();
        return std::move(found_);
    }

private:
    template <class... Parts>
    void add(
        finding_kind kind, finding_grade grade, fmt::format_string<Parts...> text, Parts&&... parts)
    {
        found_.push_back({kind, grade, fmt::format(text, std::forward<Parts>(parts)...)});
    }

    void check_service(std::string_view error)
    {
        if (error.empty())
            return;
        finding_kind const kind =
            facts_.key_matches ? finding_kind::unusable : finding_kind::key_mismatch;
        add(kind, finding_grade::error, "{}", error);
    }

    // The grades are those of the log's lines (expiry.hpp).
    void check_end()
    {
        validity const valid{time_at(facts_.valid_until), facts_.lifetime};
        expiry_stage const reached = stage_of(valid, time_at(now_));
        if (reached == expiry_stage::over)
            add(finding_kind::expired, finding_grade::error,
                "expired on {}: clients refuse it; renew it", date_text(facts_.valid_until));
        else if (reached != expiry_stage::far)
            add(finding_kind::ends_soon, finding_grade_of(reached), "expires on {}: renew it",
                date_text(facts_.valid_until));
    }

    void check_begin()
    {
        if (facts_.valid_from > now_)
            add(finding_kind::not_yet_valid, finding_grade::error,
                "is valid from {} only: clients refuse it until then; check this machine's clock",
                date_text(facts_.valid_from));
    }

    void check_chain_dates()
    {
        for (std::size_t i = 0; i < facts_.chain.size(); ++i) {
            tls::chain_link const& each = facts_.chain[i];
            if (each.valid_until <= now_)
                add(finding_kind::chain_date, finding_grade::error,
                    "certificate {} of the file ({}) expired on {}: renew the chain", i + 2,
                    each.name, date_text(each.valid_until));
            else if (each.valid_from > now_)
                add(finding_kind::chain_date, finding_grade::error,
                    "certificate {} of the file ({}) is valid from {} only", i + 2, each.name,
                    date_text(each.valid_from));
        }
    }

    void check_chain()
    {
        if (facts_.lacks_issuer)
            add(finding_kind::missing_intermediate, finding_grade::warning,
                "its issuer ({}) is not in the file: unless that is a root that clients have, "
                "append the intermediates",
                facts_.issuer);
        if (!facts_.misplaced.empty())
            add(finding_kind::wrong_order, finding_grade::warning,
                "certificate {} of the file did not issue the one before it: put the server's "
                "first, then its issuer, and so on",
                fmt::join(facts_.misplaced, ", "));
    }

    void check_strength()
    {
        bool const is_rsa = facts_.family == key_family::rsa;
        bool const is_curve = facts_.family == key_family::elliptic_curve;
        unsigned const least = is_rsa ? rsa_bits_min : is_curve ? curve_bits_min : 0;
        if (facts_.key_bits < least)
            add(finding_kind::weak_key, finding_grade::warning,
                "the key has {} bits, and clients want {}: have it issued for a P-256 key",
                facts_.key_bits, least);
        if (facts_.is_sha1)
            add(finding_kind::sha1_signature, finding_grade::warning,
                "its signature is made with SHA-1, which clients refuse: have it issued again");
    }

    void check_names()
    {
        if (!facts_.has_san)
            add(finding_kind::no_san, finding_grade::warning,
                "it has no SAN: browsers do not look at the CN and refuse it");
        if (!facts_.unusable_names.empty())
            add(finding_kind::unusable_name, finding_grade::warning,
                "no client asks for {}: no DNS name, and no wildcard for one label",
                fmt::join(facts_.unusable_names, ", "));
    }

    certificate_description const& facts_;
    std::int64_t now_;
    std::vector<finding> found_;
};

} // namespace

std::string_view to_string(finding_grade grade) noexcept
{
    switch (grade) {
    case finding_grade::error:
        return "error";
    case finding_grade::warning:
        return "warning";
    case finding_grade::notice:
        break;
    }
    return "notice";
}

std::string_view to_string(finding_kind kind) noexcept
{
    switch (kind) {
    case finding_kind::expired:
        return "expired";
    case finding_kind::ends_soon:
        return "expires-soon";
    case finding_kind::not_yet_valid:
        return "not-yet-valid";
    case finding_kind::chain_date:
        return "chain-date";
    case finding_kind::key_mismatch:
        return "key-mismatch";
    case finding_kind::unusable:
        return "unusable";
    case finding_kind::missing_intermediate:
        return "missing-intermediate";
    case finding_kind::wrong_order:
        return "wrong-order";
    case finding_kind::duplicate_name:
        return "duplicate-name";
    case finding_kind::weak_key:
        return "weak-key";
    case finding_kind::sha1_signature:
        return "sha1-signature";
    case finding_kind::no_san:
        return "no-san";
    case finding_kind::unusable_name:
        return "unusable-name";
    case finding_kind::not_served:
        break;
    }
    return "not-served";
}

std::vector<finding> findings_of(
    std::optional<certificate_description> const& facts, std::string_view error,
    std::chrono::sys_seconds now)
{
    if (!facts)
        return {{finding_kind::unusable, finding_grade::error, std::string{error}}};
    return examination{*facts, now}.run(error);
}

std::string date_text(std::int64_t posix)
{
    return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(static_cast<std::time_t>(posix)));
}

std::int64_t days_until(std::int64_t posix, std::chrono::sys_seconds now) noexcept
{
    std::chrono::seconds const left{posix - now.time_since_epoch().count()};
    return std::chrono::floor<std::chrono::days>(left).count();
}

} // namespace cleat::app
