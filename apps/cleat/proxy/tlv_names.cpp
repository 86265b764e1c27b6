#include "proxy/proxy_protocol.hpp"
#include "proxy/tlv_names.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>

namespace cleat::app {
namespace {

struct named_type
{
    std::uint8_t type;
    std::string_view name;
};

constexpr std::array names = std::to_array<named_type>({
    {tlv_type::alpn, "ALPN"},
    {tlv_type::authority, "AUTHORITY"},
    {tlv_type::crc32c, "CRC32C"},
    {tlv_type::noop, "NOOP"},
    {tlv_type::unique_id, "UNIQUE_ID"},
    {tlv_type::ssl, "SSL"},
    {tlv_type::ssl_version, "SSL_VERSION"},
    {tlv_type::ssl_cn, "SSL_CN"},
    {tlv_type::ssl_cipher, "SSL_CIPHER"},
    {tlv_type::ssl_sig_alg, "SSL_SIG_ALG"},
    {tlv_type::ssl_key_alg, "SSL_KEY_ALG"},
    {tlv_type::ssl_group, "SSL_GROUP"},
    {tlv_type::ssl_sig_scheme, "SSL_SIG_SCHEME"},
    {tlv_type::ssl_client_cert, "SSL_CLIENT_CERT"},
    {tlv_type::netns, "NETNS"},
    // The providers' own, of the range for custom types. hitch uses Google's number for a
    // certificate.
    {0xe0, "GCP"},
    {0xea, "AWS"},
    {0xee, "AZURE"},
});

void append_names(std::string& out, std::span<std::uint8_t const> tlvs, bool is_nested)
{
    std::string_view comma;
    while (std::optional<tlv> const each = next_tlv(tlvs)) {
        out.append(comma).append(tlv_name(each->type));
        comma = ",";
        if (is_nested || each->type != tlv_type::ssl || each->value.size() <= ssl_value_head)
            continue;
        out += '(';
        append_names(out, each->value.subspan(ssl_value_head), true);
        out += ')';
    }
}

} // namespace

std::string tlv_name(std::uint8_t type)
{
    for (named_type const& each : names)
        if (each.type == type)
            return std::string{each.name};
    return fmt::format("0x{:02X}", type);
}

std::string tlv_names(std::span<std::uint8_t const> tlvs)
{
    std::string out;
    append_names(out, tlvs, false);
    return out;
}

} // namespace cleat::app
