#include "commands/explain_command.hpp"
#include "config/route_text.hpp"
#include "inspect/explain_report.hpp"
#include "inspect/explanation.hpp"
#include "snapshot/snapshot.hpp"
#include "start/start.hpp"

#include <cstdlib>
#include <utility>
#include <vector>

namespace cleat::app {
namespace {

// A catalog has the names of all certificates, however few they are.
loading load_with_catalog(config settings)
{
    loading loaded = load(settings);
    if (has_errors(loaded.problems) || loaded.made.catalog.store != nullptr)
        return loaded;
    settings.certificate_cache.value = 0;
    loading again = load(std::move(settings));
    if (!has_errors(again.problems)) // The files may have changed in between.
        again.problems = std::move(loaded.problems);
    return again;
}

} // namespace

int explain(explain_client const& request)
{
    report(request.warnings);
    loading const loaded = load_with_catalog(request.settings);
    if (!report(loaded.problems))
        return EXIT_FAILURE;
    snapshot const& configuration = loaded.made;
    std::vector<frontend_explanation> all;
    for (std::size_t i = 0; i < configuration.frontends.size(); ++i)
        if (!request.to || configuration.settings.frontends[i].address() == *request.to)
            all.push_back(explain_frontend(
                configuration, configuration.frontends[i], sni_of(request.server_name),
                request.alpn, parse_ip_address(request.address)));
    if (request.json)
        print_explanations_json(all, request, configuration);
    else
        print_explanations(all, request, configuration);
    return EXIT_SUCCESS;
}

} // namespace cleat::app
