#include "lines/line_moves.hpp"
#include "report/function_kinds.hpp"
#include "report/symbols.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <map>
#include <numeric>
#include <ranges>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace cleat::locks {
namespace {

struct range
{
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    [[nodiscard]] bool has(std::uint64_t address) const noexcept
    {
        return begin <= address && address < end;
    }
};

// The mappings of a map's text: "begin-end rights ...".
std::vector<range> mappings_of(std::string_view maps)
{
    std::vector<range> all;
    while (!maps.empty()) {
        std::size_t const end = std::min(maps.find('\n'), maps.size());
        std::string const line{maps.substr(0, end)};
        maps.remove_prefix(std::min(end + 1, maps.size()));
        char* rest = nullptr;
        range each;
        each.begin = std::strtoull(line.c_str(), &rest, 16);
        if (rest != nullptr && *rest == '-')
            each.end = std::strtoull(rest + 1, nullptr, 16);
        if (each.begin < each.end)
            all.push_back(each);
    }
    return all;
}

bool begins_with_one_of(std::string_view name, std::initializer_list<std::string_view> beginnings)
{
    return std::ranges::any_of(beginnings, [name](auto each) { return name.starts_with(each); });
}

// An inlined function has its name without a namespace, but the file of its code.
bool is_of_library(place const& function)
{
    return begins_with_one_of(
               function.function, {"std::", "__gnu_cxx::", "__invoke", "_M_", "operator new"}) ||
           function.file.starts_with("/usr/include/c++/");
}

// Functions that allocate for another: the report wants the one that knows what for.
bool allocates_for_another(std::string const& name)
{
    return is_wrapper(name) || name.find("allocat") != std::string::npos ||
           begins_with_one_of(
               name, {"boost::asio::aligned_new", "OPENSSL_malloc", "OPENSSL_zalloc",
                      "OPENSSL_calloc", "OPENSSL_realloc", "OPENSSL_memdup", "OPENSSL_strdup",
                      "CRYPTO_malloc", "CRYPTO_zalloc"});
}

class naming_of_lines
{
public:
    naming_of_lines(lines_record const& record, line_moves& made)
        : record_{record}
        , made_{made}
        , symbols_{record.maps}
        , mappings_{mappings_of(record.maps)}
        , numbers_(record.stacks.size())
    {
        made_.stacks.emplace_back(); // That of number 0.
    }

    // The place of a recorded stack among the named ones.
    std::uint32_t stack(std::uint32_t recorded)
    {
        std::uint32_t& number = numbers_[recorded];
        if (number != 0 || recorded == 0)
            return number;
        std::vector<std::uint32_t> named;
        std::vector<std::uint32_t> of_library; // Between the program's own they say nothing.
        for (std::uint64_t const each : record_.stacks[recorded])
            for (place const& found : symbols_.functions_at(each, true))
                (is_of_library(found) ? of_library : named).push_back(function(found.function));
        number = static_cast<std::uint32_t>(made_.stacks.size());
        made_.stacks.push_back(std::move(named.empty() ? of_library : named));
        return number;
    }

    std::pair<std::string, memory_kind> memory(lines_move const& of_move)
    {
        if (of_move.allocated != 0)
            return {allocated_by(stack(of_move.allocated)), memory_kind::heap};
        if (std::string name = symbols_.object_at(of_move.address); !name.empty())
            return {std::move(name), memory_kind::global};
        for (range const& each : mappings_) {
            if (!each.has(of_move.address))
                continue;
            // libc gives the stack of a thread that has ended to a later one.
            for (line_thread const& thread : std::views::reverse(record_.threads))
                if (each.has(thread.own_memory))
                    return {
                        fmt::format("stack or thread-local variable of {}", thread.name),
                        memory_kind::thread};
        }
        return {"memory without a name", memory_kind::other};
    }

private:
    std::uint32_t function(std::string const& name)
    {
        auto const [found, is_new] =
            functions_.emplace(name, static_cast<std::uint32_t>(made_.functions.size()));
        if (is_new)
            made_.functions.push_back(name);
        return found->second;
    }

    std::string const& allocated_by(std::uint32_t number) const
    {
        static std::string const unknown = "an unknown function";
        std::vector<std::uint32_t> const& functions = made_.stacks[number];
        for (std::uint32_t const each : functions)
            if (!allocates_for_another(made_.functions[each]))
                return made_.functions[each];
        return functions.empty() ? unknown : made_.functions[functions.back()];
    }

    lines_record const& record_;
    line_moves& made_;
    symbols symbols_;
    std::vector<range> mappings_;
    std::vector<std::uint32_t> numbers_; // Of the named stacks, by those of the recorded.
    std::unordered_map<std::string, std::uint32_t> functions_;
};

using move_key =
    std::tuple<std::string, memory_kind, std::size_t, std::size_t, std::uint32_t, std::uint32_t>;

} // namespace

std::uint64_t line_moves::count() const noexcept
{
    return std::accumulate(
        moves.begin(), moves.end(), std::uint64_t{0},
        [](std::uint64_t sum, line_move const& each) { return sum + each.count(); });
}

line_moves name_moves(lines_record const& record)
{
    line_moves made;
    made.threads = record.threads;
    made.moves_lost = record.moves_lost;
    made.stacks_lost = record.stacks_lost;
    made.threads_lost = record.thread_count - static_cast<std::uint32_t>(record.threads.size());
    made.other_processes = record.other_processes;

    naming_of_lines names{record, made};
    std::map<move_key, line_move> merged;
    for (lines_move const& each : record.moves) {
        auto [memory, kind] = names.memory(each);
        line_move& row =
            merged[{memory, kind, each.thread, each.thread_before, each.stack, each.stack_before}];
        if (row.count() == 0) {
            row.memory = std::move(memory);
            row.kind = kind;
            row.thread = each.thread;
            row.thread_before = each.thread_before;
            row.stack = names.stack(each.stack);
            row.stack_before = names.stack(each.stack_before);
            row.allocated = names.stack(each.allocated);
            row.address = each.address;
        }
        (each.kind == lines_read ? row.reads : row.writes) += each.count;
        row.other_bytes += each.other_bytes;
    }
    for (auto& [key, row] : merged)
        made.moves.push_back(std::move(row));
    std::ranges::stable_sort(made.moves, std::greater{}, &line_move::count);
    return made;
}

} // namespace cleat::locks
