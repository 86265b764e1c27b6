#include "report/documents.hpp"
#include "report/report.hpp"
#include "result/output.hpp"
#include "result/result.hpp"
#include "result/result_json.hpp"
#include "targets.hpp"

#include <cleat/core/assert.hpp>

#include <stdexcept>
#include <string>

namespace cleat::fuzz {
namespace {

void draw(std::string const& text)
{
    bench::drawable page;
    try {
        bench::add_document(page, text, "fuzzed");
    } catch (std::runtime_error const& refused) {
        CLEAT_ASSERT(*refused.what() != '\0');
        return;
    }
    // add_document has checked all that the page needs.
    CLEAT_ASSERT(!bench::page_for(page).empty());
}

// merge reads the share of each generator like this.
void read_share(std::string const& text)
{
    try {
        bench::load_document const read = bench::read_load(text, "fuzzed");
        CLEAT_ASSERT(!read.subcommand.empty());
        static_cast<void>(bench::document_of(read.content));
    } catch (std::runtime_error const&) {
    }
}

} // namespace

// The input is a file that a subcommand of cleat-bench has written with --json.
void documents(octets input)
{
    std::string const text{text_of(input)};
    draw(text);
    read_share(text);
}

} // namespace cleat::fuzz
