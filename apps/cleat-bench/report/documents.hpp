// documents: reading the files of a report, and writing a document with its page.

#pragma once

#include "report/report.hpp"
#include "result/output.hpp"
#include "text/json.hpp"

#include <string>

namespace cleat::bench {

/// add_document parses the text of a file that `--json` of any subcommand wrote. Throws
/// std::runtime_error that names the file and the cure.
void add_document(drawable& page, std::string const& text, std::string const& origin);

/// write_documents writes a document and its page to the files of `output`. Throws
/// std::runtime_error that names the file.
void write_documents(json::object const& document, output const& output);

} // namespace cleat::bench
