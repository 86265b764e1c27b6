#include "json.hpp"
#include "load.hpp"
#include "probe.hpp"
#include "probe_all.hpp"
#include "times.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>

namespace cleat::bench {

int probe_all(do_probe const& wish)
{
    check_writable({wish.json, {}, false});
    probe_options how;
    auto const timeout = parse_length(wish.timeout);
    if (!timeout || *timeout < std::chrono::milliseconds{1})
        throw std::runtime_error{
            fmt::format("--timeout {}: write a length of time like 5s or 500ms", wish.timeout)};
    how.timeout = std::chrono::ceil<std::chrono::milliseconds>(*timeout);
    how.server_name = wish.name;
    if (!wish.authorities.empty()) {
        how.authorities = read_file(wish.authorities);
        how.authorities_origin = wish.authorities;
    }

    bool good = true;
    json::array documents;
    for (std::string const& target : wish.targets) {
        probe_report const found = probe_target(target, how);
        fmt::print("{}", wish.targets.size() == 1 ? to_text(found) : to_line(found));
        std::fflush(stdout);
        good = good && found.error.empty() && !(wish.strict && found.any_weak());
        documents.push_back(to_json(found));
    }
    if (!wish.json.empty())
        write_file(
            wish.json,
            json::serialize(json::object{
                {"cleat_bench", 1}, {"kind", "probe"}, {"hosts", std::move(documents)}}) +
                "\n");
    return good ? 0 : 1;
}

} // namespace cleat::bench
