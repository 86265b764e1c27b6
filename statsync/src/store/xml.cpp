#include "core/failure.hpp"
#include "store/xml.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <exception>
#include <memory>

#include <expat.h>
#include <strings.h>

namespace statsync {
namespace {

constexpr std::string_view white_space = " \t\r\n";

// Newer versions of Expat want other names for places; that of Debian 12 does not have them.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/// reader: the state of one pass over a document. Exceptions wait until the C library has returned.
class reader
{
public:
    explicit reader(xml_visitor& visitor)
        : visitor_(visitor), parser_(XML_ParserCreate(nullptr), &XML_ParserFree)
    {
        XML_SetUserData(parser_.get(), this);
        XML_SetElementHandler(parser_.get(), &on_start, &on_end);
        XML_SetCharacterDataHandler(parser_.get(), &on_text);
        XML_SetXmlDeclHandler(parser_.get(), &on_declaration);
        XML_SetEntityDeclHandler(parser_.get(), &on_entity);
    }

    bool read(std::string_view document)
    {
        constexpr std::size_t piece_size = std::size_t{1} << 20;
        if (document.starts_with("\xff\xfe") || document.starts_with("\xfe\xff")) {
            is_editable_ = false;
        }
        do {
            std::string_view const piece = document.substr(0, piece_size);
            document.remove_prefix(piece.size());
            XML_Status const status = XML_Parse(
                parser_.get(), piece.data(), static_cast<int>(piece.size()), document.empty());
            if (exception_) {
                std::rethrow_exception(exception_);
            }
            if (status != XML_STATUS_OK) {
                throw failure(
                    problem::unread, "line " +
                                         std::to_string(XML_GetCurrentLineNumber(parser_.get())) +
                                         ": " + XML_ErrorString(XML_GetErrorCode(parser_.get())));
            }
        } while (!document.empty());
        return is_editable_;
    }

private:
    std::size_t place() const
    {
        return static_cast<std::size_t>(XML_GetCurrentByteIndex(parser_.get()));
    }
    std::size_t place_behind() const
    {
        return place() + static_cast<std::size_t>(XML_GetCurrentByteCount(parser_.get()));
    }

    template <typename Action>
    void guarded(Action action) noexcept
    {
        if (exception_) {
            return;
        }
        try {
            action();
        } catch (...) {
            exception_ = std::current_exception();
            XML_StopParser(parser_.get(), XML_FALSE);
        }
    }

    static reader& self(void* data) { return *static_cast<reader*>(data); }

    static void on_start(void* data, char const* name, char const** attributes)
    {
        self(data).guarded([&] { self(data).start(name, attributes); });
    }
    static void on_end(void* data, char const*)
    {
        self(data).guarded([&] { self(data).end(); });
    }
    static void on_text(void* data, char const* text, int size)
    {
        self(data).guarded([&] {
            if (self(data).depth_ > 0) {
                xml_element& open = self(data).open_[self(data).depth_ - 1];
                open.text.append(text, static_cast<std::size_t>(size));
            }
        });
    }
    static void on_declaration(void* data, char const*, char const* encoding, int)
    {
        if (encoding != nullptr && ::strcasecmp(encoding, "UTF-8") != 0) {
            self(data).is_editable_ = false;
        }
    }
    static void on_entity(
        void* data, char const*, int, char const*, int, char const*, char const*, char const*,
        char const*)
    {
        self(data).is_editable_ = false;
    }

    void start(char const* name, char const** attributes)
    {
        if (depth_ > 0) {
            open_[depth_ - 1].text.clear();
        }
        // Elements are used again: their strings keep their memory.
        if (depth_ == open_.size()) {
            open_.emplace_back();
        }
        xml_element& element = open_[depth_];
        element.name = name;
        element.text.clear();
        element.attributes.clear();
        for (; *attributes != nullptr; attributes += 2) {
            element.attributes.emplace_back(attributes[0], attributes[1]);
        }
        element.begin = place();
        element.inside_begin = place_behind();
        visitor_.start(element, depth_);
        ++depth_;
    }

    void end()
    {
        xml_element& element = open_[--depth_];
        element.inside_end = place();
        element.end = place_behind();
        visitor_.end(element, depth_);
        if (depth_ > 0) {
            open_[depth_ - 1].text.clear();
        }
    }

    xml_visitor& visitor_;
    std::unique_ptr<std::remove_pointer_t<XML_Parser>, decltype(&XML_ParserFree)> parser_;
    std::vector<xml_element> open_;
    std::size_t depth_ = 0;
    bool is_editable_ = true;
    std::exception_ptr exception_;
};

std::size_t space_before(std::string_view document, std::size_t place)
{
    std::size_t const last = document.substr(0, place).find_last_not_of(white_space);
    return last == std::string_view::npos ? 0 : last + 1;
}

} // namespace

std::string_view xml_element::attribute(std::string_view wanted) const
{
    for (auto const& [key, value] : attributes) {
        if (key == wanted) {
            return value;
        }
    }
    return {};
}

bool visit_xml(std::string_view document, xml_visitor& visitor)
{
    return reader(visitor).read(document);
}

xml_value const* value_of(xml_entry const& entry, std::string_view name)
{
    auto const found = std::ranges::find(entry, name, &xml_value::name);
    return found == entry.end() ? nullptr : &*found;
}

std::string_view text_of_value(xml_entry const& entry, std::string_view name)
{
    xml_value const* const found = value_of(entry, name);
    return found == nullptr ? std::string_view() : std::string_view(found->text);
}

double number_of_value(xml_entry const& entry, std::string_view name)
{
    std::string_view const text = text_of_value(entry, name);
    double number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    // "nan" and "inf" are numbers to from_chars, and no numbers of a player.
    return std::isfinite(number) ? number : 0;
}

splice removal(std::string_view document, xml_value const& value)
{
    return {space_before(document, value.begin), value.end, ""};
}

splice replacement(std::string_view document, xml_value const& value, std::string const& text)
{
    if (value.inside_end > value.inside_begin || document[value.inside_begin - 2] != '/') {
        return {value.inside_begin, value.inside_end, text};
    }
    std::string const whole = "<" + value.type + ">" + text + "</" + value.type + ">";
    return {value.element_begin, value.end, whole};
}

splice addition(std::string_view document, xml_entry const& entry, std::string const& text)
{
    xml_value const& last = entry.back();
    std::size_t const space = space_before(document, last.begin);
    return {last.end, last.end, std::string(document.substr(space, last.begin - space)) + text};
}

std::string spliced(std::string_view document, std::vector<splice> splices)
{
    std::ranges::stable_sort(splices, {}, &splice::begin);
    std::string result;
    result.reserve(document.size() + 64 * splices.size());
    std::size_t done = 0;
    for (splice const& one : splices) {
        if (one.begin < done) {
            throw failure(problem::unwritten, "two changes meet at byte " + std::to_string(done));
        }
        result += document.substr(done, one.begin - done);
        result += one.text;
        done = one.end;
    }
    result += document.substr(done);
    return result;
}

} // namespace statsync
