#include "report/rust_names.hpp"
#include "report/symbol_index.hpp"
#include "report/symbols.hpp"
#include "report/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

namespace cleat::locks {
namespace {

// Where to look for separate debugging information: where distributions put it.
char* debug_path =
    nullptr; // NOLINT: the interface wants a pointer to a pointer; null: its default.

Dwfl_Callbacks const callbacks{
    .find_elf = dwfl_linux_proc_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = nullptr,
    .debuginfo_path = &debug_path};

std::string readable(char const* name)
{
    if (name == nullptr)
        return {};
    if (std::optional<std::string> const rust = rust_name(name))
        return in_utf8(*rust);
    // Another beginning is a C name, which would be demangled as a type: "m" is unsigned long.
    if (!std::string_view{name}.starts_with("_Z"))
        return in_utf8(name);
    int status = 0;
    std::unique_ptr<char, decltype(&std::free)> const made{
        abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free};
    if (status != 0 || !made)
        return in_utf8(name);
    return in_utf8(legacy_rust_name(made.get()).value_or(made.get()));
}

std::string last_part(std::string_view path)
{
    std::size_t const slash = path.rfind('/');
    return in_utf8(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

// name_of is the name of a function's entry: the linker's, demangled, or that of the source.
std::string die_name(Dwarf_Die* die)
{
    Dwarf_Attribute room;
    for (unsigned const name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name})
        if (Dwarf_Attribute* const found = dwarf_attr_integrate(die, name, &room))
            return readable(dwarf_formstring(found));
    char const* const name = dwarf_diename(die);
    return name ? in_utf8(name) : "";
}

// call_site says where an inlined function was called, which is its caller's line.
std::pair<std::string, int> call_site(Dwarf_Die* die, Dwarf_Die* unit)
{
    Dwarf_Attribute room;
    Dwarf_Word file = 0;
    Dwarf_Word line = 0;
    if (Dwarf_Attribute* const found = dwarf_attr(die, DW_AT_call_line, &room))
        dwarf_formudata(found, &line);
    Dwarf_Files* files = nullptr;
    std::size_t count = 0;
    if (Dwarf_Attribute* const found = dwarf_attr(die, DW_AT_call_file, &room))
        if (dwarf_formudata(found, &file) == 0 && dwarf_getsrcfiles(unit, &files, &count) == 0 &&
            file < count)
            if (char const* const name = dwarf_filesrc(files, file, nullptr, nullptr))
                return {name, static_cast<int>(line)};
    return {{}, static_cast<int>(line)};
}

// source_functions gives the functions at an address by debugging information, the innermost first.
std::vector<place> source_functions(Dwfl_Module* module, Dwarf_Addr address)
{
    std::vector<place> found;
    Dwarf_Addr bias = 0;
    Dwarf_Die* const unit = dwfl_module_addrdie(module, address, &bias);
    if (unit == nullptr)
        return found;
    std::pair<std::string, int> line_place;
    if (Dwfl_Line* const line = dwfl_module_getsrc(module, address)) {
        char const* const file =
            dwfl_lineinfo(line, nullptr, &line_place.second, nullptr, nullptr, nullptr);
        line_place.first = file ? file : "";
    }
    // The innermost scope is a block, a function or an inlined call; its own scopes are the
    // functions that it was inlined into.
    Dwarf_Die* scopes = nullptr;
    int count = dwarf_getscopes(unit, address - bias, &scopes);
    std::unique_ptr<Dwarf_Die, decltype(&std::free)> owned{scopes, &std::free};
    if (count <= 0)
        return found;
    Dwarf_Die innermost = scopes[0];
    count = dwarf_getscopes_die(&innermost, &scopes);
    owned.reset(scopes);
    for (int i = 0; i < count; ++i) {
        Dwarf_Die* const die = &scopes[i];
        int const tag = dwarf_tag(die);
        if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
            continue;
        bool const inlined = tag == DW_TAG_inlined_subroutine;
        found.push_back({die_name(die), line_place.first, line_place.second, {}, inlined});
        if (!inlined)
            break;
        line_place = call_site(die, unit);
    }
    return found;
}

// take_line takes the first line off a text.
std::string_view take_line(std::string_view& text)
{
    std::string_view const line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
}

// with_zero_pages gives a process's map in which the zeroed memory after a file's data (.bss)
// belongs to the file too.
std::string with_zero_pages(std::string_view maps)
{
    std::string made;
    std::string_view end_before;
    std::string_view file_before; // Its offset, device, number and name.
    while (!maps.empty()) {
        std::string_view const line = take_line(maps);
        std::size_t const dash = line.find('-');
        std::size_t const space = line.find(' ');
        std::size_t const file =
            space == std::string_view::npos ? space : line.find(' ', space + 1);
        if (dash >= space || file == std::string_view::npos) {
            made.append(line).append("\n"); // Not a mapping.
            continue;
        }
        bool const zeroed = line.find('/') == std::string_view::npos &&
                            line.find('[') == std::string_view::npos &&
                            line.substr(0, dash) == end_before;
        std::string_view const owner = zeroed ? file_before : line.substr(file);
        made.append(line.substr(0, file)).append(owner).append("\n");
        bool const of_file = owner.find('/') != std::string_view::npos;
        end_before = of_file ? line.substr(dash + 1, space - dash - 1) : std::string_view{};
        file_before = owner;
    }
    return made;
}

// area is memory of no file: the kernel's own code (vdso), or memory that the program made.
struct area
{
    Dwarf_Addr begin = 0;
    Dwarf_Addr end = 0;
    std::string name;
};

// area_name is the name after the numbers of a map's line, where it is not a file's.
std::optional<std::string> area_name(std::string_view line)
{
    constexpr int numbers = 5; // Addresses, rights, offset, device, inode.
    for (int i = 0; i < numbers; ++i) {
        std::size_t const space = line.find(' ');
        line = space == std::string_view::npos ? std::string_view{} : line.substr(space);
        line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    }
    if (line.starts_with('['))
        return std::string{line};
    // Memory with a name in the kernel, and no file that could be read.
    constexpr std::array nameless{"/memfd:", "/dev/zero", "/anon_hugepage", "/SYSV", "//anon"};
    if (line.empty() ||
        std::ranges::any_of(nameless, [&](char const* each) { return line.starts_with(each); }))
        return "[anon]";
    return std::nullopt;
}

// mapping is a line of a memory map.
struct mapping
{
    Dwarf_Addr begin = 0;
    Dwarf_Addr end = 0;
    std::string_view line;
};

std::optional<mapping> mapping_of(std::string_view line)
{
    mapping one;
    one.line = line;
    char const* const last = line.data() + line.size();
    auto const begin = std::from_chars(line.data(), last, one.begin, 16);
    if (begin.ec != std::errc{} || begin.ptr == last || *begin.ptr != '-')
        return std::nullopt;
    if (std::from_chars(begin.ptr + 1, last, one.end, 16).ec != std::errc{})
        return std::nullopt;
    return one;
}

std::vector<area> areas_of(std::string_view maps)
{
    std::vector<area> found;
    while (!maps.empty()) {
        std::string_view const line = take_line(maps);
        std::optional<mapping> const one = mapping_of(line);
        std::optional<std::string> name = area_name(line);
        if (one && name)
            found.push_back({one->begin, one->end, std::move(*name)});
    }
    std::ranges::sort(found, {}, &area::begin);
    return found;
}

// holds says whether an address is in a file's loaded segments, and not in memory after them.
bool holds(Dwfl_Module* module, Dwarf_Addr address)
{
    GElf_Addr bias = 0;
    Elf* const elf = dwfl_module_getelf(module, &bias);
    std::size_t count = 0;
    if (elf == nullptr || elf_getphdrnum(elf, &count) != 0)
        return false;
    for (std::size_t i = 0; i < count; ++i) {
        GElf_Phdr part;
        if (gelf_getphdr(elf, static_cast<int>(i), &part) != nullptr && part.p_type == PT_LOAD &&
            address >= bias + part.p_vaddr && address < bias + part.p_vaddr + part.p_memsz)
            return true;
    }
    return false;
}

} // namespace

struct symbols::parts
{
    parts() = default;
    parts(parts const&) = delete;
    parts& operator=(parts const&) = delete;
    ~parts() { dwfl_end(dwfl); } // It accepts null.

    // area_at names the area that an address is in; null: it is in none.
    [[nodiscard]] std::string const* area_at(Dwarf_Addr address) const
    {
        auto const after = std::ranges::upper_bound(areas, address, {}, &area::begin);
        if (after == areas.begin() || std::prev(after)->end <= address)
            return nullptr;
        return &std::prev(after)->name;
    }

    // The symbol around an address. One without a size has no end: elfutils knows which section it
    // is in, and so whether it can be the one.
    [[nodiscard]] std::optional<symbol_index::symbol> symbol_at(
        Dwfl_Module* module, Dwarf_Addr address)
    {
        auto found = indexes.find(module);
        if (found == indexes.end())
            found = indexes.emplace(module, symbol_index{module}).first;
        if (std::optional<symbol_index::symbol> around = found->second.around(address))
            return around;
        GElf_Off offset = 0;
        GElf_Sym symbol;
        char const* const name =
            dwfl_module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr);
        if (name == nullptr)
            return std::nullopt;
        return symbol_index::symbol{address - offset, address - offset + symbol.st_size, name};
    }

    Dwfl* dwfl = nullptr;
    std::map<Dwfl_Module*, symbol_index> indexes;
    std::vector<area> areas;
    std::map<std::pair<std::uint64_t, bool>, std::vector<place>> known;
};

symbols::symbols(std::string const& text) : parts_{std::make_unique<parts>()}
{
    parts_->areas = areas_of(text);
    std::string maps = with_zero_pages(text);
    parts_->dwfl = dwfl_begin(&callbacks);
    if (parts_->dwfl == nullptr)
        throw std::runtime_error{fmt::format("symbols: {}", dwfl_errmsg(-1))};
    dwfl_report_begin(parts_->dwfl);
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> const from{
        ::fmemopen(maps.data(), maps.size(), "r"), &std::fclose};
    if (maps.size() > 0 && (!from || dwfl_linux_proc_maps_report(parts_->dwfl, from.get()) != 0))
        throw std::runtime_error{"the trace's memory map cannot be read: its .maps is damaged"};
    dwfl_report_end(parts_->dwfl, nullptr, nullptr);
}

symbols::symbols(symbols&&) noexcept = default;

symbols::~symbols() = default;

std::vector<place> const& symbols::functions_at(std::uint64_t address, bool returns)
{
    auto const [entry, fresh] = parts_->known.try_emplace({address, returns});
    if (!fresh)
        return entry->second;
    std::vector<place>& found = entry->second;
    Dwarf_Addr const looked_up = returns && address > 0 ? address - 1 : address;
    // Code in no file has one name for each area: addresses differ from run to run, and would make
    // the same code another function each time.
    if (std::string const* const name = parts_->area_at(looked_up)) {
        found.push_back({*name, {}, 0, *name, false});
        return found;
    }
    Dwfl_Module* const module = dwfl_addrmodule(parts_->dwfl, looked_up);
    if (module == nullptr) {
        found.push_back({fmt::format("0x{:x}", address), {}, 0, {}, false});
        return found;
    }
    Dwarf_Addr start = 0;
    char const* const path =
        dwfl_module_info(module, nullptr, &start, nullptr, nullptr, nullptr, nullptr, nullptr);
    found = source_functions(module, looked_up);
    if (found.empty()) {
        auto const symbol = parts_->symbol_at(module, looked_up);
        std::string const place_in_file =
            fmt::format("{}+0x{:x}", last_part(path), looked_up - start);
        found.push_back({symbol ? readable(symbol->name) : place_in_file, {}, 0, {}, false});
    }
    for (place& each : found)
        each.module = last_part(path);
    return found;
}

std::string symbols::object_at(std::uint64_t address)
{
    Dwfl_Module* const module = dwfl_addrmodule(parts_->dwfl, address);
    if (module == nullptr || !holds(module, address))
        return {};
    Dwarf_Addr start = 0;
    char const* const path =
        dwfl_module_info(module, nullptr, &start, nullptr, nullptr, nullptr, nullptr, nullptr);
    if (auto const symbol = parts_->symbol_at(module, address); symbol && address < symbol->end) {
        std::uint64_t const offset = address - symbol->begin;
        std::string const name = readable(symbol->name);
        return offset == 0 ? name : fmt::format("{}+0x{:x}", name, offset);
    }
    return fmt::format("{}+0x{:x}", last_part(path), address - start);
}

std::string with_earlier(std::string_view maps, std::string_view earlier)
{
    std::map<std::uint64_t, mapping> by_begin;
    auto const add = [&](std::string_view text) {
        while (!text.empty()) {
            std::string_view const line = take_line(text);
            std::optional<mapping> const one = mapping_of(line);
            if (!one)
                continue;
            auto const after = by_begin.lower_bound(one->begin);
            bool const taken =
                (after != by_begin.end() && after->second.begin < one->end) ||
                (after != by_begin.begin() && std::prev(after)->second.end > one->begin);
            if (!taken)
                by_begin.emplace(one->begin, *one);
        }
    };
    add(maps);
    add(earlier);
    std::string made;
    for (auto const& [begin, each] : by_begin)
        made.append(each.line).append("\n");
    return made;
}

std::vector<std::string> code_files(std::string_view maps)
{
    std::vector<std::string> found;
    while (!maps.empty()) {
        std::string_view const line = take_line(maps);
        std::size_t const rights = line.find(' ') + 1; // As in "r-xp".
        std::size_t const path = line.find('/');
        bool const has_code = rights != 0 && line.substr(rights, 4).find('x') != line.npos;
        if (path == line.npos || !has_code || area_name(line))
            continue;
        std::string name{line.substr(path)};
        if (std::ranges::find(found, name) == found.end())
            found.push_back(std::move(name));
    }
    return found;
}

} // namespace cleat::locks
