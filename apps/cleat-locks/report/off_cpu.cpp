#include "report/off_cpu.hpp"
#include "report/utf8.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <sys/syscall.h>

namespace cleat::locks {
namespace {

constexpr std::string_view record_heading = "cleat-locks waits 2";

// System calls that both x86-64 and arm64 have. Calls that are the same for a reader have one name.
constexpr std::array<std::pair<std::int64_t, std::string_view>, 40> call_names{{
    {SYS_futex, "futex"},
    {SYS_epoll_pwait, "epoll_wait"},
    {441, "epoll_wait"}, // epoll_pwait2, as on every architecture.
    {SYS_ppoll, "poll"},
    {SYS_pselect6, "select"},
    {SYS_read, "read"},
    {SYS_readv, "read"},
    {SYS_pread64, "read"},
    {SYS_recvfrom, "receive"},
    {SYS_recvmsg, "receive"},
    {SYS_recvmmsg, "receive"},
    {SYS_write, "write"},
    {SYS_writev, "write"},
    {SYS_pwrite64, "write"},
    {SYS_sendto, "send"},
    {SYS_sendmsg, "send"},
    {SYS_sendmmsg, "send"},
    {SYS_sendfile, "send"},
    {SYS_splice, "splice"},
    {SYS_nanosleep, "sleep"},
    {SYS_clock_nanosleep, "sleep"},
    {SYS_accept, "accept"},
    {SYS_accept4, "accept"},
    {SYS_connect, "connect"},
    {SYS_wait4, "a child's end"},
    {SYS_waitid, "a child's end"},
    {SYS_fsync, "fsync"},
    {SYS_fdatasync, "fsync"},
    {SYS_flock, "flock"},
    {SYS_fcntl, "fcntl"},
    {SYS_rt_sigtimedwait, "a signal"},
    {SYS_rt_sigsuspend, "a signal"},
    {SYS_io_getevents, "io_getevents"},
    {426, "io_uring_enter"},        // As on every architecture.
    {SYS_restart_syscall, "sleep"}, // A sleep that a signal interrupted, as a rule.
    {SYS_mmap, "mmap"},
    {SYS_munmap, "munmap"},
    {SYS_madvise, "madvise"},
    {SYS_openat, "open"},
    {SYS_close, "close"},
}};

// word takes the next word off a text.
std::string_view next_word(std::string_view& text, char end = ' ')
{
    std::size_t const at = text.find(end);
    std::string_view const found = text.substr(0, at);
    text = at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
    return found;
}

template <class Number>
std::optional<Number> parsed(std::string_view text, int base = 10)
{
    if (base == 16 && text.starts_with("0x"))
        text.remove_prefix(2);
    Number found{};
    auto const [end, ec] = std::from_chars(text.data(), text.data() + text.size(), found, base);
    if (ec != std::errc{} || end != text.data() + text.size() || text.empty())
        return std::nullopt;
    return found;
}

template <class Number>
Number parsed_or_throw(std::string_view text)
{
    std::optional<Number> const found = parsed<Number>(text);
    if (!found)
        throw std::runtime_error{fmt::format("\"{}\" is no number", in_utf8(text))};
    return *found;
}

off_cpu_wait parse_wait(std::string_view line)
{
    off_cpu_wait made;
    made.tid = parsed_or_throw<std::int32_t>(next_word(line));
    made.call = parsed_or_throw<std::int64_t>(next_word(line));
    made.address = parsed_or_throw<std::uint64_t>(next_word(line));
    made.code = parsed_or_throw<std::uint64_t>(next_word(line));
    made.ns = parsed_or_throw<std::uint64_t>(next_word(line));
    made.samples = parsed_or_throw<std::uint64_t>(next_word(line));
    made.thread = in_utf8(line); // A name may have spaces.
    return made;
}

} // namespace

std::string text_of(off_cpu_record const& record)
{
    std::string text = fmt::format(
        "{}\n{} {} {} {} {}\n", record_heading, record.began_ns, record.samples, record.sampled_ns,
        record.no_core_ns, record.not_sampled);
    for (off_cpu_wait const& each : record.waits)
        fmt::format_to(
            std::back_inserter(text), "{} {} {} {} {} {} {}\n", each.tid, each.call, each.address,
            each.code, each.ns, each.samples, each.thread);
    return text;
}

off_cpu_record parse_off_cpu(std::string_view text)
{
    if (next_word(text, '\n') != record_heading)
        throw std::runtime_error{"no record of waits"};
    off_cpu_record made;
    std::string_view totals = next_word(text, '\n');
    made.began_ns = parsed_or_throw<std::uint64_t>(next_word(totals));
    made.samples = parsed_or_throw<std::uint64_t>(next_word(totals));
    made.sampled_ns = parsed_or_throw<std::uint64_t>(next_word(totals));
    made.no_core_ns = parsed_or_throw<std::uint64_t>(next_word(totals));
    made.not_sampled = in_utf8(totals);
    while (!text.empty())
        made.waits.push_back(parse_wait(next_word(text, '\n')));
    return made;
}

kernel_place parse_kernel_place(std::string_view line)
{
    kernel_place found;
    if (line.ends_with('\n'))
        line.remove_suffix(1);
    std::array<std::string_view, 9> words; // The call, six arguments, stack pointer, code.
    std::size_t count = 0;
    while (!line.empty() && count < words.size())
        words[count++] = next_word(line);
    found.runs = words[0] == "running";
    if (found.runs || count < 3)
        return found;
    found.call = parsed<std::int64_t>(words[0]).value_or(-1);
    found.code = parsed<std::uint64_t>(words[count - 1], 16).value_or(0);
    if (is_futex(found.call))
        found.address = parsed<std::uint64_t>(words[1], 16).value_or(0);
    return found;
}

bool is_futex(std::int64_t call) noexcept
{
    return call == SYS_futex;
}

std::string call_name(std::int64_t call)
{
    for (auto const& [number, name] : call_names)
        if (number == call)
            return std::string{name};
    if (std::string_view const name = old_call_name(call); !name.empty())
        return std::string{name};
    return call < 0 ? "the kernel" : fmt::format("system call {}", call);
}

} // namespace cleat::locks
