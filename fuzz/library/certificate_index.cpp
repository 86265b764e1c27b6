#include "input_reader.hpp"
#include "targets.hpp"

#include <cleat/core/assert.hpp>
#include <cleat/tls/records.hpp>
#include <cleat/tls/store/certificate_index.hpp>
#include <cleat/tls/store/host_name.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace cleat::fuzz {

// The input is the records of an index file: of_records is what reads them once their digest is
// right, which anybody can compute.
void certificate_index(octets input)
{
    std::string records{text_of(input)};
    std::string const files{tls::record_reader{records, 0}.text()};
    std::optional<tls::certificate_index> const index =
        tls::certificate_index::of_records(std::move(records));
    if (!index)
        return;
    std::size_t const end = files.find('\0');
    tls::certificate_paths paths;
    paths.chain = files.substr(0, end);
    if (end != files.npos)
        paths.private_key = files.substr(end + 1);
    tls::scanned_certificate found;
    static_cast<void>(index->recall(paths, "/", {}, found));
    for (std::string const& name : found.names)
        CLEAT_ASSERT(!name.empty());
}

} // namespace cleat::fuzz
