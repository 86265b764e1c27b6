// checked_json: reads the members of a document and checks their types: any program may have
// written the file, and the script of the report's page relies on the types. Each function throws
// std::runtime_error that names the member.

#pragma once

#include "text/json.hpp"

#include <string_view>

namespace cleat::bench::checked {

/// find gives a member; null if it is absent or JSON's null.
[[nodiscard]] json::value const* find(json::value const& document, std::string_view key);

[[nodiscard]] json::value const& member(json::value const& document, std::string_view key);

[[noreturn]] void refuse(std::string_view key, std::string_view wanted);

[[nodiscard]] json::string const& text(json::value const& document, std::string_view key);
[[nodiscard]] json::array const& list(json::value const& document, std::string_view key);
[[nodiscard]] bool flag(json::value const& document, std::string_view key);
[[nodiscard]] double number(json::value const& document, std::string_view key);

[[nodiscard]] json::value number_or_null(json::value const& document, std::string_view key);
[[nodiscard]] json::value text_or_null(json::value const& document, std::string_view key);

[[nodiscard]] json::array texts(json::value const& document, std::string_view key);
[[nodiscard]] json::array numbers(json::value const& document, std::string_view key);

/// facts is a list of pairs of texts.
[[nodiscard]] json::array facts(json::value const& document, std::string_view key);

} // namespace cleat::bench::checked
