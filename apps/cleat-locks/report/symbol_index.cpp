#include "report/symbol_index.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include <elfutils/libdwfl.h>

namespace cleat::locks {
namespace {

// As linkers choose: the name that other files see.
int rank_of(GElf_Sym const& symbol) noexcept
{
    switch (GELF_ST_BIND(symbol.st_info)) {
    case STB_GLOBAL:
        return 3;
    case STB_WEAK:
        return 2;
    case STB_LOCAL:
        return 0;
    default:
        return 1;
    }
}

bool is_code_or_data(GElf_Sym const& symbol) noexcept
{
    int const type = GELF_ST_TYPE(symbol.st_info);
    return symbol.st_size != 0 && type != STT_SECTION && type != STT_FILE && type != STT_TLS;
}

} // namespace

symbol_index::symbol_index(Dwfl_Module* module)
{
    int const count = ::dwfl_module_getsymtab(module);
    for (int i = 1; i < count; ++i) { // The first is none.
        GElf_Sym about;
        GElf_Addr begin = 0;
        Elf* file = nullptr;
        char const* const name =
            ::dwfl_module_getsym_info(module, i, &about, &begin, nullptr, &file, nullptr);
        if (name != nullptr && *name != '\0' && file != nullptr && is_code_or_data(about))
            symbols_.push_back({begin, begin + about.st_size, name, rank_of(about)});
    }
    prepare();
}

symbol_index::symbol_index(std::vector<symbol> symbols) : symbols_{std::move(symbols)}
{
    prepare();
}

void symbol_index::prepare()
{
    std::ranges::stable_sort(symbols_, {}, [](symbol const& each) {
        return std::tuple{each.begin, each.rank};
    });
    std::uint64_t end_max = 0;
    for (symbol const& each : symbols_) {
        end_max = std::max(end_max, each.end);
        ends_max_.push_back(end_max);
    }
}

std::optional<symbol_index::symbol> symbol_index::around(std::uint64_t address) const
{
    auto const after = std::ranges::upper_bound(symbols_, address, {}, &symbol::begin);
    for (auto i = static_cast<std::size_t>(after - symbols_.begin()); i > 0; --i) {
        if (ends_max_[i - 1] <= address)
            break;
        if (address < symbols_[i - 1].end)
            return symbols_[i - 1];
    }
    return std::nullopt;
}

} // namespace cleat::locks
