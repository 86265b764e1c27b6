// command: what the command line asks the program to do.

#pragma once

#include "config/config.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <sys/types.h>

namespace cleat::app {

/// serve: print the warnings, and take traffic with these settings.
struct serve
{
    config settings;
    std::vector<problem> warnings;
    std::vector<std::string> command_line; ///< Its words, to read everything again.
};

/// check_only (`-t`): load what the settings name, report whether it would work, and end.
struct check_only
{
    config settings;
    std::vector<problem> warnings;
};

/// report_certificates (`cleat check`): do what check_only does, and report on every certificate.
struct report_certificates
{
    config settings;
    std::vector<problem> problems; ///< An error among them has left the settings whole.
    bool json = false;
    bool all = false; ///< Print every certificate, however many there are.
};

/// explain_client (`cleat explain`): say what a client would get, and why.
struct explain_client
{
    config settings;
    std::vector<problem> warnings;
    std::string server_name;       ///< Its SNI; empty: it sends none.
    std::vector<std::string> alpn; ///< The protocols that it offers; empty: no ALPN.
    std::string address;           ///< Its IP address; empty: not given.
    std::optional<host_port> to;   ///< The frontend; unset: every one.
    bool json = false;
};

/// reload_running (`cleat reload`): make a running cleat reload, and end with its outcome.
struct reload_running
{
    std::optional<pid_t> process; ///< Unset: the one in `pidfile`.
    std::string pidfile;          ///< Empty, too: the only one that runs.
};

/// ask_health (`cleat health`): ask the admin server of a running cleat, and end with its answer.
struct ask_health
{
    admin_address where;   ///< Set, and a port is not 0.
    bool is_ready = false; ///< Ask whether it accepts connections, not whether it works.
};

/// make_ticket_secret (`cleat ticket-secret new`): make a secret for the key ticket-secret.
struct make_ticket_secret
{
    std::string file;                              ///< A new file for it. Empty: print it.
    std::optional<std::chrono::seconds> ratchet{}; ///< For epochs of this length. Unset: a secret.
};

/// print_text: print the text and end with the exit code; to stdout where it is 0, else to stderr.
struct print_text
{
    std::string text;
    int exit_code = 0;
};

/// show_version: print the version and what the linked TLS library can do. The configuration side
/// does not know that library.
struct show_version
{
};

/// show_metrics: print the reference of metrics, which is the admin server's.
struct show_metrics
{
};

/// refused: print the problems to stderr and end with exit code 1. At least one of them is an
/// error.
struct refused
{
    std::vector<problem> problems;
    std::optional<config> rest{}; ///< The settings that could be read: to be checked, too.
    bool rest_is_whole = false;   ///< All settings could be read.
};

/// command is what the program does.
using command = std::variant<
    serve, check_only, report_certificates, explain_client, reload_running, ask_health,
    make_ticket_secret, print_text, show_version, show_metrics, refused>;

} // namespace cleat::app
