// own_command: a server that a command of the user's starts.

#pragma once

#include "compare/peer.hpp"

#include <string_view>

namespace cleat::bench {

/// parse_start reads "NAME=COMMAND". The words of COMMAND are separated by blanks, and quotes of
/// either kind hold a word together; no shell reads it. {port}, {cert}, {key}, {pem}, {origin} and
/// {workers} are replaced at each start; the first and a certificate must be there. Throws
/// std::runtime_error that says what is wrong with the text.
[[nodiscard]] peer parse_start(std::string_view text);

} // namespace cleat::bench
