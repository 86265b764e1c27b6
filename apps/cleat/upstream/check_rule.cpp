#include "upstream/check_rule.hpp"

#include <cleat/tls/context.hpp>

#include <tuple>

namespace cleat::app {

bool operator==(check_tls const& one, check_tls const& other)
{
    return one.is_header_inside == other.is_header_inside && is_same_policy(one.spec, other.spec) &&
           one.certificate == other.certificate;
}

bool operator==(check_rule const& one, check_rule const& other)
{
    auto const fields = [](check_rule const& rule) {
        return std::tie(
            rule.is_on, rule.interval, rule.timeout, rule.rise, rule.fall, rule.send, rule.expect,
            rule.header);
    };
    bool const is_same_tls =
        one.tls == other.tls || (one.tls && other.tls && *one.tls == *other.tls);
    return fields(one) == fields(other) && is_same_tls;
}

} // namespace cleat::app
