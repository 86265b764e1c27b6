#include <cleat/tls/certificates/pem.hpp>

#include <algorithm>

namespace cleat::tls {
namespace {

constexpr std::string_view begin_mark = "-----BEGIN ";
constexpr std::string_view end_mark = "-----END ";
constexpr std::string_view tail_mark = "-----";

// The label in a line that opens or closes a block, or nothing.
std::string_view label_in(std::string_view line, std::string_view mark) noexcept
{
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t'))
        line.remove_suffix(1);
    if (!line.starts_with(mark) || !line.ends_with(tail_mark) ||
        line.size() <= mark.size() + tail_mark.size())
        return {};
    return line.substr(mark.size(), line.size() - mark.size() - tail_mark.size());
}

} // namespace

bool pem_block::is_certificate() const noexcept
{
    return label == "CERTIFICATE" || label == "X509 CERTIFICATE" || label == "TRUSTED CERTIFICATE";
}

bool pem_block::is_private_key() const noexcept
{
    return label.ends_with("PRIVATE KEY");
}

bool pem_block::is_encrypted() const noexcept
{
    return label.starts_with("ENCRYPTED") ||
           text.find("Proc-Type: 4,ENCRYPTED") != std::string_view::npos;
}

std::vector<pem_block> pem_blocks(std::string_view text)
{
    std::vector<pem_block> blocks;
    bool inside = false;
    std::size_t number = 1;
    for (std::size_t offset = 0; offset < text.size(); ++number) {
        std::size_t const end = std::min(text.find('\n', offset), text.size());
        std::string_view const line = text.substr(offset, end - offset);
        if (std::string_view const label = label_in(line, begin_mark); !label.empty()) {
            // A BEGIN inside a block leaves that block incomplete.
            blocks.push_back({label, text.substr(offset, end - offset), number, false});
            inside = true;
        } else if (inside) {
            pem_block& block = blocks.back();
            std::size_t const start = static_cast<std::size_t>(block.text.data() - text.data());
            block.text = text.substr(start, end - start);
            if (label_in(line, end_mark) == block.label) {
                block.complete = true;
                inside = false;
            }
        }
        offset = end + 1;
    }
    return blocks;
}

std::string_view conversion_hint(std::string_view text) noexcept
{
    if (text.starts_with("\xEF\xBB\xBF"))
        return "it begins with a byte order mark, which "
               "`sed -i '1s/^\\xEF\\xBB\\xBF//' FILE` removes";
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
        return "it is UTF-16, which `iconv -f UTF-16 -t ASCII FILE > FILE.pem` converts";
    // A SEQUENCE with a length of two or three bytes, or without one (X.690, section 8.1.3).
    if (text.size() < 8 || text[0] != '\x30')
        return {};
    auto const size = static_cast<unsigned char>(text[1]);
    if (size != 0x80 && size != 0x82 && size != 0x83)
        return {};
    std::string_view const content = text.substr(2 + (size & 0x7FU));
    if (content.starts_with("\x02\x01\x03")) // The version of a PFX (RFC 7292, section 4).
        return "it is PKCS#12, which `openssl pkcs12 -in FILE -nodes -out FILE.pem` converts";
    if (content.starts_with("\x02\x01")) // The version of a private key.
        return "it is DER, which `openssl pkey -inform DER -in FILE -out FILE.pem` converts";
    if (content.starts_with('\x30'))
        return "it is DER, which `openssl x509 -inform DER -in FILE -out FILE.pem` converts";
    return {};
}

} // namespace cleat::tls
