#include "generate/target.hpp"
#include "probe/fleet.hpp"
#include "probe/visit.hpp"

#include <cleat/tls/session.hpp>

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace cleat::bench {
namespace {

// A session of the probed server; empty where it gives none.
tls::session new_session(fleet_query const& query, fleet_way const& way)
{
    visit_options const options{.context = &way.context, .sessions_wanted = 1};
    connection visitor{query.address, options, query.options.timeout};
    visit const result = visitor.run(query.options.ticket_wait, query.request);
    for (tls::session const& each : result.sessions)
        if (each.by_ticket() == way.by_ticket)
            return each;
    return {};
}

probed_answer offer(fleet_query const& query, fleet_way const& way, net::address const& member)
{
    std::string const name{way.name};
    tls::session const given = new_session(query, way);
    if (!given)
        return {name, {}, "the probed server gave no session"};
    visit_options const options{.context = &way.context, .offered_session = &given};
    connection visitor{member, options, query.options.timeout};
    visit const result = visitor.run(query.options.ticket_wait, query.request);
    if (!result.established)
        return {name, {}, "the connection failed: " + result.failure.kind};
    return {name, result.resumed, result.resumed ? "resumed" : "not resumed"};
}

void add_host(
    std::vector<probed_member>& found, fleet_query const& query, std::vector<fleet_way> const& ways,
    std::string const& text)
{
    try {
        target const host = find_target(with_port(text, query.port));
        auto const addresses = net::resolve(host.host, host.port);
        if (!addresses || addresses->empty())
            throw std::runtime_error{"no address is known for this name"};
        for (net::address const& each : *addresses) {
            probed_member member{text, net::to_string(each), {}, {}};
            for (fleet_way const& way : ways)
                member.ways.push_back(offer(query, way, each));
            found.push_back(std::move(member));
        }
    } catch (std::runtime_error const& e) {
        found.push_back({text, {}, e.what(), {}});
    }
}

} // namespace

std::string with_port(std::string const& text, std::string const& port)
{
    std::size_t const bracket = text.rfind(']');
    bool const has_port = text.find(':', bracket == text.npos ? 0 : bracket) != text.npos;
    return has_port ? text : fmt::format("{}:{}", text, port);
}

std::vector<probed_member> find_fleet(fleet_query const& query, std::vector<fleet_way> const& ways)
{
    std::vector<probed_member> found;
    for (std::string const& each : query.options.fleet)
        add_host(found, query, ways, each);
    return found;
}

} // namespace cleat::bench
