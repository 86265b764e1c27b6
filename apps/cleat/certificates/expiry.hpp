// expiry: the certificates that expire soon, for the log.

#pragma once

#include "certificates/expiry_stage.hpp"
#include "log/log.hpp"

#include <cleat/tls/certificates/crl_end.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace cleat::tls {
struct certificate_summary;
}

namespace cleat::app {

/// validity is when a certificate ends, and how long it was valid until then.
struct validity
{
    /// Not a system_clock::time_point, which ends in 2262: certificates without an end say 9999
    /// (RFC 5280, section 4.1.2.5).
    std::chrono::sys_seconds end{};
    std::chrono::seconds lifetime{}; ///< See tls::lifetime_of.
};

[[nodiscard]] validity validity_of(tls::certificate_summary const& kept) noexcept;

/// stage_of raises no alarm about a certificate that is renewed in time. ACME clients renew one
/// when a third of its lifetime is left. So 30 and 7 days count where they are at most a third of
/// the lifetime. The last stage begins a day before the end, or a sixth of the lifetime where that
/// is less: a client has then failed for half of the time that it had.
[[nodiscard]] expiry_stage stage_of(
    validity const& certificate, std::chrono::sys_seconds now) noexcept;

/// expiry_list keeps the certificates that expire first, at most limits::expiry_lines_max of those
/// that expire within 30 days, and counts the others.
class expiry_list
{
public:
    using time_point = std::chrono::sys_seconds;

    explicit expiry_list(time_point now) noexcept : now_{now} {}

    /// note takes a certificate whose end is not far.
    void note(std::string origin, validity const& certificate);

    /// write logs a line for each certificate, the nearest end first, and then a count of the
    /// others. A line is a warning within 7 days, and an error from the last day on.
    void write(logger const& log) const;

private:
    struct row
    {
        validity certificate;
        std::string origin;
    };

    time_point now_;
    std::vector<row> nearest_; // In the order of their ends.
    std::size_t others_ = 0;
};

/// expiry_log logs each certificate once at each stage. The main thread uses it, at a start, after
/// a reload and then from time to time.
class expiry_log
{
public:
    using time_point = expiry_list::time_point;

    /// find calls its argument with each certificate's origin, as a function that makes it, and
    /// validity.
    using each_certificate = std::function<void(
        std::function<std::string()> const& origin, validity const& certificate)>;
    using find = std::function<void(each_certificate const&)>;

    /// look logs, as expiry_list does, the certificates that have reached another stage since the
    /// last look, or were not there then.
    void look(find const& certificates, time_point now, logger const& log);

private:
    // By the hash of origin and end. A renewed certificate has another end.
    std::unordered_map<std::size_t, expiry_stage> logged_;
};

/// crl_ending is when a CRL becomes stale, and whether it is used after that.
struct crl_ending
{
    tls::crl_end end;
    bool is_accepted = false; ///< A stale CRL is used on: see client-verify-crl-stale.

    friend bool operator==(crl_ending const&, crl_ending const&) = default;
};

/// crl_log logs each CRL once, when it becomes stale. The main thread uses it.
class crl_log
{
public:
    using time_point = std::chrono::sys_seconds;

    /// look logs the CRLs that have become stale since the last call. For a list that is not the
    /// one of the last call, those that are stale already are not logged: the loading of the list
    /// has warned of them.
    void look(std::vector<crl_ending> const& present, time_point now, logger const& log);

    /// next is when the next CRL becomes stale.
    [[nodiscard]] std::optional<time_point> next() const noexcept;

private:
    std::vector<crl_ending> const* followed_ = nullptr; // Compared only.
    std::vector<crl_ending> endings_;                   // In their order.
    std::size_t next_ = 0;
};

} // namespace cleat::app
