// rust_names: names of Rust's functions (RFC 2603), as people write them.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cleat::locks {

/// rust_name reads a symbol of Rust's "v0" mangling: "std::sync::Mutex::lock". Generic arguments,
/// and the traits of implementations, are left out. Unset: it is no such symbol.
[[nodiscard]] std::optional<std::string> rust_name(std::string_view symbol);

/// legacy_rust_name reads what the C++ demangler makes of a symbol of Rust's older mangling, which
/// ends with a hash: "std::thread::spawn::h0123456789abcdef". Unset: it is no such name.
[[nodiscard]] std::optional<std::string> legacy_rust_name(std::string_view demangled);

} // namespace cleat::locks
