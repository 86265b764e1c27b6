// load_options: the options that all kinds of load share.

#pragma once

#include "commands/load.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cleat::bench {

/// load_options holds what CLI11 has read; make turns it into a request.
class load_options
{
public:
    std::string target;
    unsigned connections = 10;
    std::string connections_option = "--connections"; ///< Its name, for messages.
    std::optional<double> rate;
    std::string phases;
    std::string arrivals = "constant";
    std::uint64_t seed = 1;
    std::string duration = "10s";
    std::string warm_up = "0s";
    std::optional<std::uint64_t> transactions;
    std::string workers = "auto";
    std::size_t in_flight = 15'000;
    std::string interval = "1s";

    std::string tls = "1.2-1.3";
    std::string ciphers;
    std::string ciphersuites;
    std::string groups;
    std::string signature_algorithms;
    std::vector<std::string> names;
    std::string alpn;
    bool verify = false;
    std::string authorities;
    std::string certificate;
    std::string key;
    bool early_data = false;

    std::vector<std::string> paths; ///< Each "PATH" or "PATH WEIGHT".
    std::string method = "GET";
    std::vector<std::string> headers;
    std::string body_size;
    std::string raw;
    std::string raw_file;
    unsigned requests = 1;
    bool keep = false;       ///< Connections carry requests until the time is up.
    bool keep_alive = false; ///< Do not ask the server to close after the last request.
    std::optional<int> status;
    std::string size;
    std::string body_text; ///< That a right body has.

    bool http2 = false;
    unsigned streams = 1; ///< Of HTTP/2, on each connection.

    bool websocket = false;
    std::optional<unsigned> messages;
    std::string message_size = "125";
    std::string message_type = "text";
    bool hold = false; ///< WebSockets stay open until the time is up.

    unsigned reuse = 1;
    std::optional<double> ratio;
    bool session_ids = false;

    std::string close = "fin";
    std::string sources;
    std::string connect_timeout = "3s";
    std::string handshake_timeout = "5s";
    std::string answer_timeout = "10s";

    std::string json;
    std::string html;
    std::string name;
    bool quiet = false;
    std::vector<int> server_pids;
    std::string start_at;
    bool no_preflight = false;

    std::string fail_if;
    std::string baseline;
    std::string tolerance = "5%";
    std::string junit;
    std::string csv;
    std::string prometheus;

    std::string hosts;
    std::string ssh = "ssh";
    std::string ssh_timeout = "20s";
    bool as_host = false;

    /// These declare the options of a subcommand: when connections begin, the TLS that they offer,
    /// their requests, and where results go. The target is a positional argument.
    void add_schedule(CLI::App& app);
    void add_seed(CLI::App& app);
    void add_start(CLI::App& app);
    void add_tls(CLI::App& app);
    void add_exchange(CLI::App& app);
    void add_http2(CLI::App& app);
    void add_streams(CLI::App& app);
    void add_websocket(CLI::App& app);
    void add_limits(CLI::App& app);
    void add_output(CLI::App& app);
    void add_gate(CLI::App& app);
    void add_hosts(CLI::App& app);
    void add_target(CLI::App& app);

    /// make checks them, resolves names and reads files. Throws std::runtime_error that names the
    /// option and the cure.
    [[nodiscard]] load_request make() const;

    /// given: the user wrote this option.
    [[nodiscard]] bool given(std::string const& option) const;

private:
    void check_effect() const;
    void check_http2() const;
    void check_websocket() const;
    void check_values() const;
    void check_hosts() const;
    void set_schedule(load_request& request) const;
    void set_kept_loop(load_request& request) const;
    void check_limits(load_spec const& spec) const;
    [[nodiscard]] std::string set_target(load_spec& spec) const; // The target's path.
    void choose_addresses(load_spec& spec, std::vector<net::address> candidates) const;
    void set_tls(load_request& request) const;
    void set_verification(tls::context_spec& context) const;
    void set_reuse(load_request& request) const;
    void set_exchange(load_request& request, std::string const& path_of_target) const;
    void set_requests(load_request& request, std::string const& path_of_target) const;
    void set_http2(load_request& request, std::string const& path_of_target) const;
    void set_websocket(load_request& request) const;
    void set_gate(load_request& request) const;
    [[nodiscard]] hosts_request make_hosts() const;
    [[nodiscard]] std::vector<std::string> arguments_for_hosts(std::vector<sent_file>& files) const;

    CLI::App const* app_ = nullptr; // The subcommand whose options they are.
};

} // namespace cleat::bench
