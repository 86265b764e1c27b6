// documents: the files that a report is made of.

#pragma once

#include "report/report.hpp"
#include "result/output.hpp"
#include "text/json.hpp"

#include <string>

namespace cleat::bench {

/// add_document takes the text of a file that `--json` wrote, of whichever subcommand. Throws
/// std::runtime_error that names origin and cure.
void add_document(drawable& to, std::string const& text, std::string const& origin);

/// write_documents writes a document and the page that is drawn of it where they are to go. Throws
/// std::runtime_error that names the file.
void write_documents(json::object const& document, output const& to);

} // namespace cleat::bench
