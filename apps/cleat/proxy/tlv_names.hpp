// tlv_names: what TLVs of the PROXY protocol are called, for logs.

#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace cleat::app {

/// tlv_name is the registry's name without PP2_TYPE_: "UNIQUE_ID". A type that a cloud provider
/// uses has the provider's name; any other is spelled as a number: "0xE7".
[[nodiscard]] std::string tlv_name(std::uint8_t type);

/// tlv_names are those of whole TLVs, with those inside SSL, in their order:
/// "ALPN,SSL(VERSION,CIPHER)".
[[nodiscard]] std::string tlv_names(std::span<std::uint8_t const> tlvs);

} // namespace cleat::app
