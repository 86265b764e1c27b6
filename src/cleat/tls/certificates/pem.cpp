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

} // namespace cleat::tls
