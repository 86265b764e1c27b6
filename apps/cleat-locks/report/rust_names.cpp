#include "report/rust_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace cleat::locks {
namespace {

// A symbol refers back to its own parts, so a short one can have a long name.
constexpr std::size_t parts_max = 10'000;
constexpr std::size_t nesting_max = 100;
constexpr std::size_t name_max = 4096;

constexpr std::array<std::pair<char, std::string_view>, 21> basic_types{{
    {'a', "i8"},   {'b', "bool"},  {'c', "char"},  {'d', "f64"}, {'e', "str"}, {'f', "f32"},
    {'h', "u8"},   {'i', "isize"}, {'j', "usize"}, {'l', "i32"}, {'m', "u32"}, {'n', "i128"},
    {'o', "u128"}, {'p', "_"},     {'s', "i16"},   {'t', "u16"}, {'u', "()"},  {'v', "..."},
    {'x', "i64"},  {'y', "u64"},   {'z', "!"},
}};

struct rust_identifier
{
    std::uint64_t number = 0; // That tells closures of one function apart.
    std::string name;
};

// rust_text is a symbol after "_R", and how far it was read.
class rust_text
{
public:
    explicit rust_text(std::string_view text) : text_{text} {}

    [[nodiscard]] bool ok() const noexcept { return ok_; }
    [[nodiscard]] std::size_t place() const noexcept { return at_; }
    // go_to reads from another place on, and gives the one before.
    std::size_t go_to(std::size_t place) noexcept { return std::exchange(at_, place); }

    std::string fail()
    {
        ok_ = false;
        return {};
    }

    // enter is false where the symbol is wrong, or too much.
    bool enter()
    {
        ok_ = ok_ && ++parts_ <= parts_max && depth_ < nesting_max;
        depth_ += ok_ ? 1U : 0U;
        return ok_;
    }
    void leave() noexcept { --depth_; }

    char next() { return at_ < text_.size() ? text_[at_++] : '\0'; }

    bool take(char c)
    {
        bool const there = at_ < text_.size() && text_[at_] == c;
        at_ += there ? 1U : 0U;
        return there;
    }

    std::uint64_t base_62()
    {
        if (take('_'))
            return 0;
        std::uint64_t value = 0;
        for (char c = next(); c != '_'; c = next()) {
            int const digit = c >= '0' && c <= '9'   ? c - '0'
                              : c >= 'a' && c <= 'z' ? c - 'a' + 10
                              : c >= 'A' && c <= 'Z' ? c - 'A' + 36
                                                     : -1;
            if (digit < 0) {
                ok_ = false;
                return 0;
            }
            value = value * 62 + static_cast<std::uint64_t>(digit);
        }
        return value + 1;
    }

    std::uint64_t disambiguator() { return take('s') ? base_62() + 1 : 0; }

    std::string plain_identifier()
    {
        bool const punycode = take('u');
        std::size_t size = 0;
        if (!take('0'))
            while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9' &&
                   size <= text_.size())
                size = size * 10 + static_cast<std::size_t>(text_[at_++] - '0');
        take('_');
        if (size > text_.size() - at_)
            return fail();
        std::string found{text_.substr(at_, size)};
        at_ += size;
        return punycode ? "punycode{" + found + "}" : found;
    }

    rust_identifier read_identifier()
    {
        rust_identifier found;
        found.number = disambiguator();
        found.name = plain_identifier();
        return found;
    }

    // skip_to goes behind the next such character.
    void skip_to(char c)
    {
        std::size_t const end = text_.find(c, at_);
        ok_ = ok_ && end != text_.npos;
        at_ = ok_ ? end + 1 : text_.size();
    }

private:
    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t parts_ = 0;
    std::size_t depth_ = 0;
    bool ok_ = true;
};

class rust_reader
{
public:
    explicit rust_reader(std::string_view text) : text_{text} {}

    [[nodiscard]] std::optional<std::string> whole()
    {
        std::string found = path();
        if (!text_.ok() || found.empty() || found.size() > name_max)
            return std::nullopt;
        return found;
    }

private:
    // back reads what the symbol has had before.
    template <class Read>
    std::string back(Read const& read)
    {
        std::size_t const begin = text_.place() - 1;
        std::uint64_t const to = text_.base_62();
        if (!text_.ok() || to >= begin)
            return text_.fail();
        std::size_t const after = text_.go_to(static_cast<std::size_t>(to));
        std::string found = read();
        text_.go_to(after);
        return found;
    }

    std::string nested_path()
    {
        char const space = text_.next();
        std::string outer = path();
        rust_identifier const inner = text_.read_identifier();
        if (space >= 'a' && space <= 'z')
            return inner.name.empty() ? outer : outer + "::" + inner.name;
        std::string const kind = space == 'C'   ? "closure"
                                 : space == 'S' ? "shim"
                                                : std::string{space};
        return fmt::format(
            "{}::{{{}{}{}#{}}}", outer, kind, inner.name.empty() ? "" : ":", inner.name,
            inner.number);
    }

    // The type of an implementation stands for it; the place of the implementation does not.
    std::string implementation(bool has_place, bool has_trait)
    {
        if (has_place) {
            text_.disambiguator();
            path();
        }
        std::string found = type();
        if (has_trait)
            path();
        return found;
    }

    std::string path()
    {
        if (!text_.enter())
            return {};
        std::string found;
        switch (text_.next()) {
        case 'C':
            found = text_.read_identifier().name;
            break;
        case 'N':
            found = nested_path();
            break;
        case 'M':
            found = implementation(true, false);
            break;
        case 'X':
            found = implementation(true, true);
            break;
        case 'Y':
            found = implementation(false, true);
            break;
        case 'I':
            found = path();
            generic_arguments();
            break;
        case 'B':
            found = back([this] { return path(); });
            break;
        default:
            found = text_.fail();
        }
        text_.leave();
        return found;
    }

    void generic_arguments()
    {
        while (text_.ok() && !text_.take('E')) {
            if (text_.take('L'))
                text_.base_62();
            else if (text_.take('K'))
                constant();
            else
                type();
        }
    }

    std::string constant()
    {
        if (text_.take('B'))
            return back([this] { return constant(); });
        if (text_.take('p'))
            return "_";
        type();
        text_.take('n');
        text_.skip_to('_');
        return "_";
    }

    void function_type()
    {
        if (text_.take('G'))
            text_.base_62();
        text_.take('U');
        if (text_.take('K') && !text_.take('C'))
            text_.plain_identifier();
        while (text_.ok() && !text_.take('E'))
            type();
        type();
    }

    std::string object_type()
    {
        if (text_.take('G'))
            text_.base_62();
        std::string first;
        while (text_.ok() && !text_.take('E')) {
            std::string const one = path();
            first = first.empty() ? one : first;
            while (text_.take('p')) {
                text_.plain_identifier();
                type();
            }
        }
        if (!text_.take('L'))
            return text_.fail();
        text_.base_62();
        return "dyn " + first;
    }

    std::string tuple()
    {
        while (text_.ok() && !text_.take('E'))
            type();
        return "(..)";
    }

    std::string reference(std::string_view mark)
    {
        if (text_.take('L'))
            text_.base_62();
        return std::string{mark} + type();
    }

    std::string compound_type(char kind)
    {
        switch (kind) {
        case 'A': {
            std::string const element = type();
            constant();
            return "[" + element + "; _]";
        }
        case 'S':
            return "[" + type() + "]";
        case 'T':
            return tuple();
        case 'R':
            return reference("&");
        case 'Q':
            return reference("&mut ");
        case 'P':
            return "*const " + type();
        case 'O':
            return "*mut " + type();
        case 'F':
            function_type();
            return "fn";
        case 'D':
            return object_type();
        case 'B':
            return back([this] { return type(); });
        default:
            text_.go_to(text_.place() - 1);
            return path();
        }
    }

    std::string type()
    {
        if (!text_.enter())
            return {};
        char const kind = text_.next();
        auto const* const basic =
            std::ranges::find(basic_types, kind, &std::pair<char, std::string_view>::first);
        std::string found = kind == '\0'                 ? text_.fail()
                            : basic != basic_types.end() ? std::string{basic->second}
                                                         : compound_type(kind);
        text_.leave();
        return found;
    }

    rust_text text_;
};

} // namespace

std::optional<std::string> rust_name(std::string_view symbol)
{
    if (!symbol.starts_with("_R") || symbol.size() < 4)
        return std::nullopt;
    return rust_reader{symbol.substr(2)}.whole();
}

} // namespace cleat::locks
