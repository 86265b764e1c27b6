// route_table: which of a frontend's routes takes a client. Pure: no configuration, no TLS library.

#pragma once

#include "admission/ip_prefix.hpp"
#include "client_rules/allow_rule.hpp"
#include "route/address_set.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cleat::app {

/// server_name_pattern is a route's condition on a client's SNI.
struct server_name_pattern
{
    enum class kind : std::uint8_t
    {
        exact,    ///< This name.
        wildcard, ///< One label in front of this name, as in certificates.
        none,     ///< The client sends no name.
    };

    kind what = kind::exact;
    std::string name; ///< In lower case, without a dot at the end and without "*.".

    friend bool operator==(server_name_pattern const&, server_name_pattern const&) = default;
};

/// share_a_name: a client can ask for a name that both patterns are for, or for none where they
/// are.
[[nodiscard]] bool share_a_name(
    server_name_pattern const& one, server_name_pattern const& other) noexcept;

/// route_rule is the conditions of a route, all of which must hold. An empty list is no condition;
/// of any other list one entry must hold.
struct route_rule
{
    std::vector<server_name_pattern> names{};
    /// Of a route that ends TLS: one of them was agreed on. Of a passthrough: the client offers it.
    std::vector<std::string> protocols{};
    std::vector<ip_prefix> clients{};
    std::vector<allow_rule> certificates{}; ///< The client's certificate meets one of them.
    bool is_passthrough = false;
};

/// route_question is what is known of a client. The views are borrowed for the call.
struct route_question
{
    std::string_view server_name{}; ///< As the client sent it; empty: none.
    std::string_view agreed{};      ///< The protocol that ALPN agrees on; empty: none.
    /// The protocols that the client offers, each behind a byte with its length (RFC 7301, section
    /// 3.1).
    std::span<unsigned char const> offered{};
    std::optional<ip_address> client{}; ///< Unset: unknown. No route with addresses takes it.
    /// The client's; null: it has shown none, or is not established yet. Then every condition on it
    /// counts as met.
    tls::client_certificate const* certificate = nullptr;
    bool is_established = false; ///< TLS ends here: no passthrough takes the client any more.
};

/// route_table is made once, and then read by all workers. The first route of the list whose
/// conditions hold is chosen. Routes are found by the client's name and by what follows its first
/// label, so that a lookup grows with the routes of one name only, of which the configuration
/// allows limits::routes_of_name_max. It allocates nothing.
class route_table
{
public:
    using number = std::uint32_t; ///< A route's place in the list.

    explicit route_table(std::span<route_rule const> rules);

    /// choose is the route that takes the client, or nothing.
    [[nodiscard]] std::optional<number> choose(route_question const& question) const noexcept;

    /// routes_by_certificate are the routes with certificate rules before the first route that
    /// takes this client, once it is established, without a certificate. Each of them takes a
    /// client whose certificate meets its rules.
    [[nodiscard]] std::vector<number> routes_by_certificate(route_question question) const;

    /// find_cover is the first route before `route` that takes every client of this name that
    /// `route` would take. `name` is one of the names of `route`, or null if it has none. Unset:
    /// there is no such route.
    [[nodiscard]] std::optional<number> find_cover(
        number route, server_name_pattern const* name) const;

    /// count_alike is how many routes a lookup by this name goes through; null: by any name.
    [[nodiscard]] std::size_t count_alike(server_name_pattern const* name) const noexcept;

    /// has_passthrough: one of the routes is a passthrough.
    [[nodiscard]] bool has_passthrough() const noexcept { return has_passthrough_; }

    /// asks_for_certificates: one of the routes asks for the client's certificate.
    [[nodiscard]] bool asks_for_certificates() const noexcept { return asks_for_certificates_; }

    /// asks_for_clients: one of the routes asks for the client's address.
    [[nodiscard]] bool asks_for_clients() const noexcept { return asks_for_clients_; }

private:
    struct conditions
    {
        std::vector<std::string> protocols;
        address_set clients;
        allow_rules certificates;
        bool is_passthrough = false;
    };
    struct hash
    {
        using is_transparent = void;
        std::size_t operator()(std::string_view name) const noexcept
        {
            return std::hash<std::string_view>{}(name);
        }
    };
    using numbers = std::vector<number>; // In their order.
    using numbers_by_name = std::unordered_map<std::string, numbers, hash, std::equal_to<>>;

    [[nodiscard]] numbers& group_of(server_name_pattern const& pattern);
    [[nodiscard]] static std::span<number const> find(
        numbers_by_name const& all, std::string_view name) noexcept;
    [[nodiscard]] bool takes(number route, route_question const& question) const noexcept;
    [[nodiscard]] bool covers(number one, number other) const;
    template <class Use>
    void each_group(std::string_view server_name, Use use) const;
    void choose_among(
        std::span<number const> group, route_question const& question,
        std::optional<number>& chosen) const noexcept;

    std::vector<conditions> routes_;
    numbers_by_name exact_;
    numbers_by_name wildcard_;
    numbers without_name_;
    numbers any_name_;
    bool has_passthrough_ = false;
    bool asks_for_clients_ = false;
    bool asks_for_certificates_ = false;
};

} // namespace cleat::app
