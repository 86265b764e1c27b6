#include "live_page/live_page.hpp"
#include "live_page_parts.hpp"
#include "page/page.hpp"
#include "page_charts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cerrno>
#include <iterator>
#include <system_error>

#include <sys/random.h>

namespace cleat::app {
namespace {

std::string random_word()
{
    std::array<unsigned char, 16> bytes{};
    // So few bytes come whole (getrandom(2)).
    if (::getrandom(bytes.data(), bytes.size(), 0) != std::ssize(bytes))
        throw std::system_error{errno, std::system_category(), "getrandom"};
    return fmt::format("{:02x}", fmt::join(bytes, ""));
}

} // namespace

live_page make_live_page()
{
    namespace parts = live_page_parts;
    page::document const document{
        "cleat",
        "{}",
        parts::style(),
        page::charts::chart_js(),
        {parts::units(), parts::rates(), parts::record(), parts::elements(), parts::charts(),
         parts::sections(), parts::attention(), parts::commands(), parts::polling(),
         parts::placement()},
        random_word()};
    return {
        page::to_html(document),
        page::policy_of(document) +
            "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"};
}

} // namespace cleat::app
