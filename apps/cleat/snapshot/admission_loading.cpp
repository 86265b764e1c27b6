#include "snapshot/admission_loading.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/tls/store/file_text.hpp>

#include <fmt/format.h>

#include <utility>

namespace cleat::app {

std::shared_ptr<admission const> admission_loading::find(frontend_config const& frontend)
{
    admission made;
    made.proxies = list("proxy-from", effective(frontend.proxy_from, settings_.proxy_from));
    made.allowed = list("allow-from", effective(frontend.allow_from, settings_.allow_from));
    made.denied = list("deny-from", effective(frontend.deny_from, settings_.deny_from));
    return made.is_empty() ? nullptr : std::make_shared<admission const>(std::move(made));
}

std::shared_ptr<address_list const> admission_loading::list(
    std::string_view key, setting<address_sources> const& written)
{
    if (!written->is_on())
        return nullptr;
    auto const [known, is_new] = lists_.try_emplace(written->text);
    if (!is_new)
        return known->second;
    prefixes all = written->written;
    for (std::string const& each : written->files)
        read_file(key, written.location, each, all);
    if (all.size() > limits::address_prefixes_max) {
        problems_.error(
            written.location, std::string{key},
            fmt::format(
                "the list has {} prefixes, and may have {}", all.size(),
                limits::address_prefixes_max),
            "Write longer networks, or leave this to the firewall.");
        return nullptr;
    }
    known->second = std::make_shared<address_list const>(std::move(all));
    return known->second;
}

void admission_loading::read_file(
    std::string_view key, location const& where, std::string const& path, prefixes& networks)
{
    tls::file_text const read =
        tls::read_file(path, root_files_.for_files(), limits::address_list_file_max);
    if (read.fault != tls::file_fault::none) {
        bool const is_large = read.fault == tls::file_fault::too_large;
        problems_.error(
            where, std::string{key}, tls::description(read, path),
            is_large                                      ? "Write a file of prefixes, one a line."
            : read.fault == tls::file_fault::is_directory ? "Name a file."
                                                          : std::string{tls::cure(read)});
        return;
    }
    line_faults const found = add_lines(networks, read.text.view());
    for (faulty_line const& each : found.first)
        problems_.error(
            {path, static_cast<unsigned>(each.number), 1}, std::string{key}, each.fault.text,
            each.fault.cure);
    if (std::size_t const more = found.count - found.first.size(); more != 0)
        problems_.error(
            where, std::string{key}, fmt::format("{} has {} more such lines", path, more),
            "Write a prefix on each line, and comments behind a #.");
}

} // namespace cleat::app
