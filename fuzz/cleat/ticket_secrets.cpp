#include "targets.hpp"
#include "tickets/secret_text.hpp"

#include <cleat/core/assert.hpp>

namespace cleat::fuzz {

// The input is a file of ticket secrets.
void ticket_secrets(octets input)
{
    app::secret_list const read = app::read_ticket_secrets(text_of(input));
    for (app::secret_fault const& each : read.faults)
        CLEAT_ASSERT(each.line != 0 && !each.text.empty());
    for (auto const& each : read.secrets) {
        app::secret_list const again = app::read_ticket_secrets(app::hex_text(*each));
        CLEAT_ASSERT(again.faults.empty() && again.secrets.size() == 1);
        CLEAT_ASSERT(tls::is_same_secret(*again.secrets.front(), *each));
    }
}

} // namespace cleat::fuzz
