// Settings of a spec that only the other role has are errors: they would have no effect.

#include <cleat/core/text_for_tests.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/session_cache.hpp>
#include <cleat/tls/ticket_secret.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cleat::tls::context_roles_test {
namespace {

using change = std::function<void(context_spec&)>;

struct misplaced
{
    change set;
    char const* name; ///< As the error has it.
};

std::string refusal_of(context_spec const& spec)
{
    try {
        context const never{spec};
    } catch (spec_error const& refused) {
        return refused.what();
    }
    return {};
}

void check_that_each_is_refused(context_spec const& good, std::vector<misplaced> const& all)
{
    CHECK(refusal_of(good).empty());
    for (misplaced const& each : all) {
        CAPTURE(each.name);
        context_spec spec = good;
        each.set(spec);
        CHECK(contains(refusal_of(spec), each.name));
        std::vector<std::string> const found = find_mistakes(spec);
        REQUIRE(found.size() == 1);
        CHECK(found.front() == refusal_of(spec));
    }
}

} // namespace

TEST_CASE("a client's context refuses the settings of a server")
{
    context_spec client;
    client.role = role::client;
    std::shared_ptr<ticket_secret const> const secret = new_ticket_secret();
    check_that_each_is_refused(
        client, {{[&](context_spec& s) { s.tickets = secret; }, "tickets"},
                 {[&](context_spec& s) { s.accepted_tickets = {secret}; }, "tickets"},
                 {[](context_spec& s) { s.session_ids = true; }, "session_ids"},
                 {[](context_spec& s) { s.refuse_unknown_names = true; }, "refuse_unknown_names"}});
}

TEST_CASE("a server's context refuses the settings of a client")
{
    context_spec server;
    server.certificates = {make_identity({.names = {"a.test"}}).source("a.pem")};
    check_that_each_is_refused(
        server,
        {{[](context_spec& s) { s.sessions = std::make_shared<session_cache>(); }, "session_cache"},
         {[](context_spec& s) { s.keep_sessions = true; }, "keep_sessions"},
         {[](context_spec& s) { s.server_name = "a.test"; }, "server_name"}});
}

} // namespace cleat::tls::context_roles_test
