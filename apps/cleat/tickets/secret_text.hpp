// secret_text: the text of a file of ticket secrets, one a line.

#pragma once

#include "tickets/secret_line.hpp"

#include <cleat/tls/ticket_secret.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::app {

struct secret_list
{
    std::vector<std::shared_ptr<tls::ticket_secret const>> secrets; ///< In the order of the lines.
    std::vector<secret_fault> faults;
};

/// read_ticket_secrets reads lines of 64 hexadecimal digits or 44 characters of base64 (RFC 4648,
/// section 4; the last "=" may be missing): 32 bytes. Empty lines, and lines that begin with #, are
/// left out. The text is the caller's to wipe. Throws std::bad_alloc.
[[nodiscard]] secret_list read_ticket_secrets(std::string_view text);

/// hex_text is 64 digits and the end of the line, for read_ticket_secrets.
[[nodiscard]] std::string hex_text(tls::ticket_secret const& secret);

} // namespace cleat::app
