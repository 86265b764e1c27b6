#include "locks_page.hpp"
#include "page/page.hpp"
#include "report/html.hpp"
#include "report/per_operation.hpp"
#include "report/report_json.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace cleat::locks {

std::string to_html(profile const& recorded, std::optional<std::uint64_t> operations)
{
    boost::json::object data = to_json(recorded);
    if (operations)
        data["per_operation"] = to_json(per_operation(recorded, *operations));
    return page::to_html(
        {"Locks of " + recorded.processes.front().command,
         boost::json::serialize(data),
         locks_page::style(),
         {},
         {locks_page::units(), locks_page::flame(), locks_page::tree(), locks_page::tables(),
          locks_page::throughput(), locks_page::placement()}});
}

} // namespace cleat::locks
