// values: how a value's text becomes a setting's type, and back. One reader and one writer for each
// type.

#pragma once

#include "config/key_row.hpp"
#include "route/route_table.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace cleat::app {

/// as names the type that a reader makes.
template <class T>
struct as
{
};

/// read turns a value's text into the type of its setting, or says why it cannot. Numbers keep to
/// the range of the value's row.
[[nodiscard]] parsed<bool> read(as<bool>, given const& v);
[[nodiscard]] parsed<int> read(as<int>, given const& v);
[[nodiscard]] parsed<std::int64_t> read(as<std::int64_t>, given const& v);
[[nodiscard]] parsed<seconds> read(as<seconds>, given const& v);
[[nodiscard]] parsed<worker_count> read(as<worker_count>, given const& v);
/// A number of bytes with K, M or G, or "auto", or "off".
[[nodiscard]] parsed<memory_bound> read(as<memory_bound>, given const& v);
[[nodiscard]] parsed<std::string> read(as<std::string>, given const& v);
[[nodiscard]] parsed<upstream_address> read(as<upstream_address>, given const& v);
[[nodiscard]] parsed<admin_address> read(as<admin_address>, given const& v);
[[nodiscard]] parsed<client_verify> read(as<client_verify>, given const& v);
[[nodiscard]] parsed<shed_answer> read(as<shed_answer>, given const& v);
[[nodiscard]] parsed<inbound_tlvs> read(as<inbound_tlvs>, given const& v);
[[nodiscard]] parsed<balance> read(as<balance>, given const& v);
[[nodiscard]] parsed<check_kind> read(as<check_kind>, given const& v);
/// A text in which \r, \n, \t, \\ and \xHH stand for bytes.
[[nodiscard]] parsed<wire_text> read(as<wire_text>, given const& v);
[[nodiscard]] parsed<dns_server_list> read(as<dns_server_list>, given const& v);
[[nodiscard]] parsed<local_addresses> read(as<local_addresses>, given const& v);
[[nodiscard]] parsed<stale_crls> read(as<stale_crls>, given const& v);
[[nodiscard]] parsed<first_lookup> read(as<first_lookup>, given const& v);
[[nodiscard]] parsed<proxy_place> read(as<proxy_place>, given const& v);
/// A list of names as below, or "client" alone.
[[nodiscard]] parsed<upstream_protocols> read(as<upstream_protocols>, given const& v);
[[nodiscard]] parsed<syslog_facility> read(as<syslog_facility>, given const& v);
[[nodiscard]] parsed<access_log_format> read(as<access_log_format>, given const& v);
[[nodiscard]] parsed<server_name_pattern> read(as<server_name_pattern>, given const& v);
[[nodiscard]] parsed<ip_prefix> read(as<ip_prefix>, given const& v);
[[nodiscard]] parsed<tls_versions> read(as<tls_versions>, given const& v);
[[nodiscard]] parsed<sandbox_choice> read(as<sandbox_choice>, given const& v);
/// Names with blanks between them, or "off" alone.
[[nodiscard]] parsed<std::vector<compression>> read(as<std::vector<compression>>, given const& v);
/// Names with commas between them; a comma at the end is allowed, an empty name is not.
[[nodiscard]] parsed<std::vector<std::string>> read(as<std::vector<std::string>>, given const& v);

/// Prefixes, and files behind an @, with commas or blanks between them; or "off" alone.
[[nodiscard]] parsed<address_sources> read(as<address_sources>, given const& v);

/// old_tls_versions is a remark on a list of versions with some that are not offered.
[[nodiscard]] refusal old_tls_versions(given const& v);

/// to_string is the name in the configuration.
[[nodiscard]] std::string_view to_string(compression algorithm) noexcept;
[[nodiscard]] std::string_view to_string(balance strategy) noexcept;

/// range_of is "1 to 1024" where a value is, or may be, a number; empty for the rest.
[[nodiscard]] std::string range_of(key_row const& row);

/// written is a value as a file would have it; read() reads it again.
[[nodiscard]] std::string written(bool v);
[[nodiscard]] std::string written(int v);
[[nodiscard]] std::string written(seconds v);
[[nodiscard]] std::string written(worker_count v);
[[nodiscard]] std::string written(memory_bound v);
[[nodiscard]] std::string written(std::string const& v);
[[nodiscard]] std::string written(upstream_address const& v);
[[nodiscard]] std::string written(admin_address const& v);
[[nodiscard]] std::string written(client_verify v);
[[nodiscard]] std::string written(shed_answer v);
[[nodiscard]] std::string written(stale_crls v);
[[nodiscard]] std::string written(first_lookup v);
[[nodiscard]] std::string written(syslog_facility v);
[[nodiscard]] std::string written(access_log_format v);
[[nodiscard]] std::string written(tls_versions v);
[[nodiscard]] std::string written(sandbox_choice v);
[[nodiscard]] std::string written(std::vector<compression> const& v);
[[nodiscard]] std::string written(address_sources const& v);
[[nodiscard]] std::string written(dns_server_list const& v);
[[nodiscard]] std::string written(local_addresses const& v);
[[nodiscard]] std::string written(inbound_tlvs v);
[[nodiscard]] std::string written(proxy_place v);
[[nodiscard]] std::string written(upstream_protocols const& v);
[[nodiscard]] std::string written(std::vector<std::string> const& v);

} // namespace cleat::app
