// ratchet_text: the text of a file with the states of ticket ratchets, one a line.

#pragma once

#include "tickets/secret_line.hpp"

#include <cleat/tls/store/file_text.hpp>
#include <cleat/tls/ticket_ratchet.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace cleat::app {

struct ratchet_list
{
    std::vector<std::shared_ptr<tls::ticket_ratchet>> ratchets; ///< In the order of the lines.
    std::vector<unsigned> lines;                                ///< Of the ratchets, from 1.
    std::vector<secret_fault> faults;
};

/// read_ticket_ratchets reads lines of the word "ratchet", the seconds of an epoch, which have to
/// be `rotation`, the number of an epoch and 64 hexadecimal digits, with blanks between them. Empty
/// lines, and lines that begin with #, are left out. Throws std::bad_alloc.
[[nodiscard]] ratchet_list read_ticket_ratchets(
    std::string_view text, std::chrono::seconds rotation);

/// ratchet_text is such a line, with its end.
[[nodiscard]] tls::secret_text ratchet_text(
    tls::ticket_ratchet const& state, std::chrono::seconds rotation);

/// move_on moves a state of a line on to an epoch. Unset: it is done, or the state is a later one.
[[nodiscard]] std::optional<secret_fault> move_on(
    tls::ticket_ratchet& state, std::int64_t epoch, unsigned line);

struct advanced_ratchets
{
    std::optional<tls::secret_text> text; ///< Unset: nothing changes.
    std::optional<secret_fault> fault;    ///< Of the first ratchet that stays as it is.
};

/// advance_ratchets makes a text whose ratchets of `rotation` are moved on to an epoch, and in
/// which all else is the same. A ratchet that is too far behind stays as it is, which is a fault.
/// Throws std::bad_alloc.
[[nodiscard]] advanced_ratchets advance_ratchets(
    std::string_view text, std::chrono::seconds rotation, std::int64_t epoch);

/// new_ratchet_epochs_back is how many epochs before the present one a new state begins, so that it
/// has the oldest epoch of every lifetime.
extern std::int64_t const new_ratchet_epochs_back;

} // namespace cleat::app
