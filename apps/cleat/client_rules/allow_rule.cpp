#include "client_rules/allow_rule.hpp"

#include <cleat/core/limits.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <utility>

#include <arpa/inet.h>

namespace cleat::app {
namespace {

constexpr std::string_view spiffe = "spiffe://";

struct purpose_name
{
    std::string_view name;
    std::string_view oid;
};

// RFC 5280, section 4.2.1.12.
constexpr std::array<purpose_name, 5> purpose_names{{
    {"clientAuth", "1.3.6.1.5.5.7.3.2"},
    {"serverAuth", "1.3.6.1.5.5.7.3.1"},
    {"codeSigning", "1.3.6.1.5.5.7.3.3"},
    {"emailProtection", "1.3.6.1.5.5.7.3.4"},
    {"anyExtendedKeyUsage", "2.5.29.37.0"},
}};

char lower(char c) noexcept
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lower(std::string_view text)
{
    std::string made{text};
    std::ranges::transform(made, made.begin(), [](char c) { return lower(c); });
    return made;
}

bool is_same_in_lower(std::string_view text, std::string_view lowered) noexcept
{
    return std::ranges::equal(text, lowered, {}, [](char c) { return lower(c); });
}

// One label in front of a name, as in certificates.
bool is_under(std::string_view name, std::string_view parent) noexcept
{
    std::size_t const dot = name.find('.');
    return dot != std::string_view::npos && dot != 0 &&
           is_same_in_lower(name.substr(dot + 1), parent);
}

bool fits_dns_name(allow_condition const& c, std::string_view name) noexcept
{
    return c.is_pattern ? is_under(name, c.value) : is_same_in_lower(name, c.value);
}

// A domain is the same in any case; what stands before the @ may not be (RFC 5321, section 2.4).
bool fits_email(allow_condition const& c, std::string_view email) noexcept
{
    std::size_t const at = email.rfind('@');
    std::size_t const wanted_at = c.value.rfind('@');
    if (at == std::string_view::npos || at == 0)
        return false;
    return (c.is_pattern ||
            email.substr(0, at) == std::string_view{c.value}.substr(0, wanted_at)) &&
           is_same_in_lower(email.substr(at), std::string_view{c.value}.substr(wanted_at));
}

// SPIFFE-ID, sections 2.1 and 2.2: lower case, and no segment that a reader could resolve.
bool is_spiffe_id(std::string_view uri) noexcept
{
    constexpr std::string_view in_domain = "abcdefghijklmnopqrstuvwxyz0123456789.-_";
    constexpr std::string_view in_path =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_";
    if (!uri.starts_with(spiffe))
        return false;
    std::string_view rest = uri.substr(spiffe.size());
    std::string_view allowed = in_domain;
    for (;;) {
        std::size_t const slash = std::min(rest.find('/'), rest.size());
        std::string_view const part = rest.substr(0, slash);
        if (part.empty() || part == "." || part == ".." ||
            part.find_first_not_of(allowed) != std::string_view::npos)
            return false;
        if (slash == rest.size())
            return true;
        rest.remove_prefix(slash + 1);
        allowed = in_path;
    }
}

// An X.509-SVID has one URI, and is no authority's; anything else names no workload.
bool is_svid(tls::client_certificate const& shown) noexcept
{
    return shown.uris.size() == 1 && !shown.is_authority && is_spiffe_id(shown.uris.front());
}

bool fits_uri(allow_condition const& c, tls::client_certificate const& shown) noexcept
{
    bool const is_named = std::ranges::any_of(shown.uris, [&](std::string const& uri) {
        return c.is_pattern ? uri.starts_with(c.value) && uri.size() > c.value.size()
                            : uri == c.value;
    });
    // The form is checked last, because most rules are for other certificates.
    return is_named && (!c.value.starts_with(spiffe) || is_svid(shown));
}

bool fits_address(allow_condition const& c, std::string_view bytes) noexcept
{
    if (bytes.size() != c.network.network.size())
        return false;
    unsigned const whole = c.network.length / 8;
    unsigned const rest = c.network.length % 8;
    for (unsigned i = 0; i < whole; ++i)
        if (static_cast<std::uint8_t>(bytes[i]) != c.network.network.bytes[i])
            return false;
    auto const mask = static_cast<std::uint8_t>(0xff00U >> rest);
    return rest == 0 ||
           (static_cast<std::uint8_t>(bytes[whole]) & mask) == c.network.network.bytes[whole];
}

bool holds(allow_condition const& c, tls::client_certificate const& shown) noexcept
{
    auto const any = [&](std::vector<std::string> const& all, auto fits) {
        return std::ranges::any_of(all, [&](std::string const& each) { return fits(c, each); });
    };
    switch (c.part) {
    case certificate_part::common_name:
        return shown.common_name == c.value;
    case certificate_part::dns_name:
        return any(shown.dns_names, fits_dns_name);
    case certificate_part::uri:
        return fits_uri(c, shown);
    case certificate_part::email:
        return any(shown.emails, fits_email);
    case certificate_part::address:
        return any(shown.addresses, fits_address);
    case certificate_part::issuer:
        return shown.issuer == c.value;
    case certificate_part::public_key:
        return std::equal(
            shown.spki_sha256.begin(), shown.spki_sha256.end(), c.value.begin(), c.value.end(),
            [](std::uint8_t byte, char other) { return byte == static_cast<std::uint8_t>(other); });
    case certificate_part::purpose:
        return std::ranges::find(shown.purposes, c.value) != shown.purposes.end();
    }
    return false;
}

using parts = std::bitset<certificate_part_count>;

// The parts of a rule that a certificate does not fit.
parts missing_parts(allow_rule const& rule, tls::client_certificate const& shown) noexcept
{
    parts asked;
    parts found;
    for (allow_condition const& each : rule.conditions) {
        auto const place = static_cast<std::size_t>(each.part);
        asked.set(place);
        if (!found.test(place) && holds(each, shown))
            found.set(place);
    }
    return asked & ~found;
}

std::string hex(std::array<std::uint8_t, 32> const& bytes)
{
    std::string made;
    for (std::uint8_t const byte : bytes)
        made += fmt::format("{:02x}", byte);
    return made;
}

std::string purpose_text(std::string const& oid)
{
    auto const* const found = std::ranges::find(purpose_names, oid, &purpose_name::oid);
    return found == purpose_names.end() ? oid : std::string{found->name};
}

std::string address_text(std::string const& bytes)
{
    std::array<char, INET6_ADDRSTRLEN> text{};
    bool const is_known = bytes.size() == 4 || bytes.size() == 16;
    bool const done = is_known && ::inet_ntop(
                                      bytes.size() == 4 ? AF_INET : AF_INET6, bytes.data(),
                                      text.data(), text.size()) != nullptr;
    return done ? std::string{text.data()} : "an address of another size";
}

std::vector<std::string> texts_of(certificate_part part, tls::client_certificate const& shown)
{
    std::vector<std::string> made;
    switch (part) {
    case certificate_part::common_name:
        if (!shown.common_name.empty())
            made.push_back(shown.common_name);
        return made;
    case certificate_part::dns_name:
        return shown.dns_names;
    case certificate_part::uri:
        return shown.uris;
    case certificate_part::email:
        return shown.emails;
    case certificate_part::address:
        std::ranges::transform(shown.addresses, std::back_inserter(made), address_text);
        return made;
    case certificate_part::issuer:
        return {shown.issuer};
    case certificate_part::public_key:
        return {hex(shown.spki_sha256)};
    case certificate_part::purpose:
        std::ranges::transform(shown.purposes, std::back_inserter(made), purpose_text);
        return made;
    }
    return made;
}

// A certificate may have thousands of names, of any bytes.
std::string list_of(std::vector<std::string> const& texts, std::string_view separator)
{
    std::string made;
    for (std::string const& each : texts) {
        made += made.empty() ? "" : separator;
        for (char const c : each)
            made += c >= ' ' && c <= '~' ? c : '?';
        if (made.size() > limits::rule_text_max)
            return made.substr(0, limits::rule_text_max) + "...";
    }
    return made;
}

std::string hint_for(allow_condition const& c, tls::client_certificate const& shown)
{
    if (c.part != certificate_part::uri || !c.value.starts_with(spiffe))
        return {};
    if (shown.uris.size() > 1)
        return "; a SPIFFE certificate has one";
    if (shown.is_authority)
        return "; it is an authority's";
    if (shown.uris.size() == 1 && shown.uris.front().starts_with(spiffe) &&
        !is_spiffe_id(shown.uris.front()))
        return ", which is no SPIFFE ID";
    return {};
}

// Bytes of a SHA-256 in hexadecimal digits, with or without colons, or nothing.
std::optional<std::string> bytes_of_hex(std::string_view text)
{
    std::string made;
    int half = -1;
    for (char const raw : text) {
        char const c = lower(raw);
        if (c == ':' && half < 0)
            continue;
        bool const is_digit = c >= '0' && c <= '9';
        if (!is_digit && (c < 'a' || c > 'f'))
            return {};
        int const value = is_digit ? c - '0' : c - 'a' + 10;
        if (half >= 0)
            made += static_cast<char>(half * 16 + value);
        half = half >= 0 ? -1 : value;
    }
    return made.size() == 32 && half < 0 ? std::optional{made} : std::nullopt;
}

// The same in base64, as RFC 7469 writes pins.
std::optional<std::string> bytes_of_base64(std::string_view text)
{
    constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    constexpr std::size_t size = 44;
    if (text.starts_with("sha256/"))
        text.remove_prefix(7);
    if (text.size() != size || text.back() != '=')
        return {};
    std::string made;
    unsigned bits = 0;
    unsigned count = 0;
    for (char const c : text.substr(0, size - 1)) {
        std::size_t const value = digits.find(c);
        if (value == std::string_view::npos)
            return {};
        bits = bits << 6U | static_cast<unsigned>(value);
        count += 6;
        if (count >= 8) {
            count -= 8;
            made += static_cast<char>(bits >> count & 0xffU);
        }
    }
    return made;
}

using reading = std::variant<allow_condition, condition_fault>;

reading read_dns_name(allow_condition made)
{
    made.is_pattern = made.text.starts_with("*.");
    made.value = lower(made.is_pattern ? made.text.substr(2) : made.text);
    if (made.value.empty() || made.value.find('*') != std::string::npos)
        return condition_fault{
            fmt::format("\"{}\" is no name", made.text),
            "Write a name, or *. and a name: the * stands for one label."};
    return made;
}

reading read_uri(allow_condition made)
{
    made.is_pattern = made.text.ends_with("/*");
    made.value = made.is_pattern ? made.text.substr(0, made.text.size() - 1) : made.text;
    std::size_t const scheme = made.value.find(':');
    bool const has_rest = scheme != std::string::npos && scheme != 0 &&
                          made.value.size() > scheme + 1 &&
                          made.value.find('*') == std::string::npos;
    bool const is_whole = !made.value.starts_with(spiffe) ||
                          (made.value.size() > spiffe.size() && made.value[spiffe.size()] != '/');
    if (!has_rest || !is_whole)
        return condition_fault{
            fmt::format("\"{}\" is no URI", made.text),
            "Write a URI such as spiffe://example.org/web, or one that ends in /* for all under "
            "it."};
    return made;
}

reading read_email(allow_condition made)
{
    made.value = made.text.starts_with("*@") ? made.text.substr(1) : made.text;
    std::size_t const at = made.value.rfind('@');
    made.is_pattern = at == 0;
    if (at == std::string::npos || at + 1 == made.value.size() ||
        made.value.find('*') != std::string::npos)
        return condition_fault{
            fmt::format("\"{}\" is no e-mail address", made.text),
            "Write alice@example.org, or @example.org for all of a domain."};
    made.value = made.value.substr(0, at) + lower(std::string_view{made.value}.substr(at));
    return made;
}

reading read_pin(allow_condition made)
{
    std::optional<std::string> bytes = bytes_of_hex(made.text);
    if (!bytes)
        bytes = bytes_of_base64(made.text);
    if (!bytes)
        return condition_fault{
            fmt::format("\"{}\" is no SHA-256", made.text),
            "Write 64 hexadecimal digits, or base64 in double quotes: openssl x509 -pubkey -noout "
            "-in client.pem | openssl pkey -pubin -outform der | sha256sum."};
    made.value = *std::move(bytes);
    return made;
}

reading read_purpose(allow_condition made)
{
    auto const* const found = std::ranges::find(purpose_names, made.text, &purpose_name::name);
    made.value = found == purpose_names.end() ? made.text : std::string{found->oid};
    bool const is_oid = made.value.find('.') != std::string::npos &&
                        made.value.find_first_not_of("0123456789.") == std::string::npos;
    if (!is_oid)
        return condition_fault{
            fmt::format("\"{}\" is no purpose of a key", made.text),
            "Write clientAuth, serverAuth, codeSigning, emailProtection, or an OID such as "
            "1.3.6.1.4.1.311.20.2.2."};
    return made;
}

} // namespace

std::string_view name_of(certificate_part part) noexcept
{
    constexpr std::array<std::string_view, certificate_part_count> names{
        "cn", "dns", "uri", "email", "ip", "issuer", "spki-sha256", "eku"};
    return names.at(static_cast<std::size_t>(part));
}

std::variant<allow_condition, condition_fault> read_condition(
    certificate_part part, std::string_view text)
{
    allow_condition made{.part = part, .text = std::string{text}, .value = std::string{text}};
    switch (part) {
    case certificate_part::dns_name:
        return read_dns_name(std::move(made));
    case certificate_part::uri:
        return read_uri(std::move(made));
    case certificate_part::email:
        return read_email(std::move(made));
    case certificate_part::public_key:
        return read_pin(std::move(made));
    case certificate_part::purpose:
        return read_purpose(std::move(made));
    case certificate_part::common_name:
    case certificate_part::issuer:
        if (text.empty()) // A certificate without a CN would meet it.
            return condition_fault{"an empty text", "Write the name, or leave the condition out."};
        break;
    case certificate_part::address:
        break;
    }
    return made;
}

allow_condition address_condition(ip_prefix const& network, std::string_view text)
{
    return {.part = certificate_part::address, .text = std::string{text}, .network = network};
}

allow_rules::allow_rules(std::vector<allow_rule> all) : all_{std::move(all)} {}

allow_rule const* allow_rules::find(tls::client_certificate const& shown) const noexcept
{
    auto const met = std::ranges::find_if(
        all_, [&](allow_rule const& rule) { return missing_parts(rule, shown).none(); });
    return met == all_.end() ? nullptr : &*met;
}

std::string allow_rules::explain(tls::client_certificate const& shown) const
{
    if (all_.empty())
        return "there is no rule that it could meet";
    auto const nearest = std::ranges::min_element(
        all_, {}, [&](allow_rule const& rule) { return missing_parts(rule, shown).count(); });
    parts const missing = missing_parts(*nearest, shown);
    auto const refusing = std::ranges::find_if(nearest->conditions, [&](allow_condition const& c) {
        return missing.test(static_cast<std::size_t>(c.part));
    });
    std::vector<std::string> wanted;
    for (allow_condition const& each : nearest->conditions)
        if (each.part == refusing->part)
            wanted.push_back(each.text);
    std::vector<std::string> const has = texts_of(refusing->part, shown);
    std::string_view const key = name_of(refusing->part);
    return fmt::format(
        "{}rule at {} asks for {} {}; the certificate has {}{}",
        all_.size() == 1 ? "the " : "the nearest ", nearest->origin, key, list_of(wanted, " or "),
        has.empty() ? fmt::format("no {}", key) : list_of(has, ", "), hint_for(*refusing, shown));
}

} // namespace cleat::app
