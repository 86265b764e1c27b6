// host_lines: the lines between this program and a host, over the standard input and output of ssh.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cleat::bench {

/// host_mark begins each line of a host. Lines that a login shell prints are without it.
inline constexpr std::string_view host_mark = "cleat-bench-host: ";

/// line_buffer cuts bytes that come in pieces into lines.
class line_buffer
{
public:
    /// take gives the lines that are complete, without their ends. A line that is longer than
    /// `line_max` is not one of a host: it is dropped.
    [[nodiscard]] std::vector<std::string> take(std::string_view bytes);

    /// line_max is more than the document of a load of a day, whose timeline is in it.
    static constexpr std::size_t line_max = std::size_t{256} << 20;

private:
    std::string begun_;
    bool is_too_long_ = false;
};

/// cut_word takes the first word off a text, with the blank after it.
[[nodiscard]] std::string_view cut_word(std::string_view& text) noexcept;

/// remote_script is the program for sh that a host runs: it says which cleat-bench it has, takes
/// files into a temporary folder, and runs cleat-bench with the arguments of the script. The folder
/// is gone when it ends, also by the end of its standard input.
[[nodiscard]] std::string_view remote_script() noexcept;

} // namespace cleat::bench
