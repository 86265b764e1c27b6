// allow_rule: an operator's rule for clients' certificates, and whether a certificate meets it.
// Pure: no configuration, no TLS library.

#pragma once

#include "admission/ip_prefix.hpp"

#include <cleat/tls/certificates/client_certificate.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cleat::app {

/// certificate_part is the part of a certificate that a condition looks at.
enum class certificate_part : std::uint8_t
{
    common_name,
    dns_name,
    uri,
    email,
    address,
    issuer,
    public_key,
    purpose,
};

inline constexpr std::size_t certificate_part_count =
    static_cast<std::size_t>(certificate_part::purpose) + 1;

/// name_of is the key of such conditions: "spki-sha256".
[[nodiscard]] std::string_view name_of(certificate_part part) noexcept;

/// allow_condition is one value that a part of the certificate may have.
struct allow_condition
{
    certificate_part part = certificate_part::common_name;
    std::string text{};      ///< As it was written.
    std::string value{};     ///< In the form in which it is compared.
    bool is_pattern = false; ///< The value is the end of a DNS name or e-mail address, or the
                             ///< beginning of a URI.
    ip_prefix network{};     ///< Of certificate_part::address.
};

/// condition_fault says why a text is no condition, and what cures it.
struct condition_fault
{
    std::string text;
    std::string cure;
};

/// read_condition reads a condition of any part but an address.
[[nodiscard]] std::variant<allow_condition, condition_fault> read_condition(
    certificate_part part, std::string_view text);

/// address_condition is the condition for a network; `text` is how the configuration writes it.
[[nodiscard]] allow_condition address_condition(ip_prefix const& network, std::string_view text);

/// allow_rule has conditions on parts of a certificate. A certificate meets it if each of these
/// parts meets one of its conditions.
struct allow_rule
{
    std::string origin{}; ///< Where it is written: "cleat.conf:12".
    std::vector<allow_condition> conditions{};
};

/// allow_rules never change once they are made. Any number of threads may use them.
class allow_rules
{
public:
    explicit allow_rules(std::vector<allow_rule> all);

    [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
    [[nodiscard]] std::vector<allow_rule> const& all() const noexcept { return all_; }

    /// find is the rule that the certificate meets; null: none.
    [[nodiscard]] allow_rule const* find(tls::client_certificate const& shown) const noexcept;

    /// explain says for a certificate that meets no rule which one comes nearest, what it asks for,
    /// and what the certificate has.
    [[nodiscard]] std::string explain(tls::client_certificate const& shown) const;

private:
    std::vector<allow_rule> all_;
};

} // namespace cleat::app
