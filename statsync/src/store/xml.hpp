// xml: reading XML with the place of each element in the file, and changing a few bytes of it.

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace statsync {

/// xml_element: an element and its places, in bytes from the start of the document.
struct xml_element
{
    std::string name;
    std::size_t begin = 0;        ///< Of its start tag.
    std::size_t inside_begin = 0; ///< Behind its start tag.
    std::size_t inside_end = 0;   ///< Of its end tag; as inside_begin in <a/>.
    std::size_t end = 0;          ///< Behind its end tag.
    std::string text;             ///< The text behind its last child.
    std::vector<std::pair<std::string, std::string>> attributes;

    /// attribute: the value, or an empty text.
    std::string_view attribute(std::string_view wanted) const;
};

/// xml_visitor: the depth of the root is 0. At the start of an element only its name, its
/// attributes and its first two places are known.
class xml_visitor
{
public:
    virtual ~xml_visitor() = default;
    virtual void start(xml_element const&, std::size_t depth) = 0;
    virtual void end(xml_element const& element, std::size_t depth) = 0;
};

/// visit_xml reads a document, without anything that it refers to. Returns whether its places can
/// be edited: a document in another encoding than UTF-8, or with entities of its own, is for
/// reading only. Throws failure(problem::unread) with the line of an error.
bool visit_xml(std::string_view document, xml_visitor& visitor);

/// xml_value: one fact in an entry: an element, or a key and the element behind it.
struct xml_value
{
    std::string name;
    std::string type; ///< The element's name.
    std::string text;
    std::size_t begin = 0;
    std::size_t element_begin = 0;
    std::size_t inside_begin = 0;
    std::size_t inside_end = 0;
    std::size_t end = 0;
};

using xml_entry = std::vector<xml_value>;

/// value_of: the value of that name, or none.
xml_value const* value_of(xml_entry const& entry, std::string_view name);

/// text_of_value: its text, or an empty one.
std::string_view text_of_value(xml_entry const& entry, std::string_view name);

/// number_of_value: its number, or 0.
double number_of_value(xml_entry const& entry, std::string_view name);

/// splice: bytes of a document, and those that take their place.
struct splice
{
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string text;
};

/// removal: the splice that removes a value, with the white space before it.
splice removal(std::string_view document, xml_value const& value);

/// replacement: the splice that gives a value another text, which needs no escapes.
splice replacement(std::string_view document, xml_value const& value, std::string const& text);

/// addition: the splice that adds text behind the last value, with the white space before that one.
splice addition(std::string_view document, xml_entry const& entry, std::string const& text);

/// spliced: the document with the splices done. All other bytes are as before.
std::string spliced(std::string_view document, std::vector<splice> splices);

} // namespace statsync
