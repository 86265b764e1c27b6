// text: Unicode forms of a track's names, for comparing them, and for a terminal.

#pragma once

#include <string>
#include <string_view>

namespace statsync {

/// text_form: how two names are compared. A provider's values themselves are never changed.
enum class text_form
{
    lower,      ///< Lower case, independent of the locale; nothing else.
    folded,     ///< Without surrounding blanks, in NFC, case folded: "Straße" is "STRASSE".
    compatible, ///< As folded, in NFKC: full-width letters are letters.
};

/// in_form: the name as it is compared. Bytes that are no UTF-8 stay as they are.
std::string in_form(std::string_view name, text_form form);

/// printable: the text without control characters, which a terminal would obey.
std::string printable(std::string_view text);

/// trimmed: the text without white space of ASCII at its ends.
std::string_view trimmed(std::string_view text);

} // namespace statsync
