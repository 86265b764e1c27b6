// named_stacks: call stacks of one process, with names.

#pragma once

#include "report/profile.hpp"
#include "report/symbols.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace cleat::locks {

/// naming turns addresses of one process into functions of the whole profile. Both outlive it.
class naming
{
public:
    naming(profile& made, symbols& process_symbols) : profile_{made}, symbols_{process_symbols} {}

    struct named
    {
        std::uint32_t function = 0;
        bool of_recorder = false;
        bool of_libc = false;
    };

    /// functions_at gives the functions at an address, the innermost first.
    [[nodiscard]] std::vector<named> functions_at(std::uint64_t address, bool returns);

    /// caller is the function around a return address: the first one that is no wrapper.
    [[nodiscard]] std::uint32_t caller(std::uint64_t return_to);

    [[nodiscard]] std::uint32_t number(std::string const& function);

    /// fold_wrappers leaves out the wrappers between a lock function, which is the first, and the
    /// first function of the program's. Where there is no such function, all stay.
    void fold_wrappers(std::vector<std::uint32_t>& functions) const;

    [[nodiscard]] std::string const& name(std::uint32_t function) const
    {
        return profile_.functions[function];
    }

private:
    std::unordered_map<std::string, std::uint32_t>& numbers();

    profile& profile_;
    symbols& symbols_;
    std::unordered_map<std::string, std::uint32_t> numbers_;
};

/// acquisition_stack begins in the lock function, which is not among the recorded frames.
[[nodiscard]] stack acquisition_stack(traced_stack const& traced, trace_kind kind, naming& names);

/// cpu_stack gives a CPU sample's stack. It belongs to the lock functions when one of them is
/// innermost, or internals of libc below one that the recorder wraps. It belongs to the recorder,
/// and is counted in `own`, when the recorder is innermost, or reads the clock.
[[nodiscard]] std::optional<stack> cpu_stack(
    traced_stack const& traced, naming& names, std::uint64_t& own);

} // namespace cleat::locks
