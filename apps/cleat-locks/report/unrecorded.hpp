// unrecorded: the processes of a recording without the recorder in them, and why.

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::locks {

/// unrecorded_file is the name of their file in a trace's folder.
inline constexpr std::string_view unrecorded_file = "unrecorded";

/// unrecorded_process is one of them, as a trace's folder keeps it.
struct unrecorded_process
{
    int pid = 0;
    std::string program; ///< The kernel's name of it.
    std::string why;     ///< Empty: no reason is known.
};

/// text_of and parse_unrecorded write and read the file of them. A line that is damaged is left
/// out.
[[nodiscard]] std::string text_of(std::vector<unrecorded_process> const& processes);
[[nodiscard]] std::vector<unrecorded_process> parse_unrecorded(std::string_view text);

/// read_unrecorded reads the file in a trace's folder; none where there is no such file.
[[nodiscard]] std::vector<unrecorded_process> read_unrecorded(std::filesystem::path const& folder);

/// unrecorded_search looks through the descendants of this process.
class unrecorded_search
{
public:
    explicit unrecorded_search(std::filesystem::path const& folder);

    /// look finds those that had no recorder in the look before either: a program that begins has
    /// none for a moment.
    void look();

    /// write puts what was found into the trace's folder.
    void write() const;

private:
    struct running // One program of a process.
    {
        int pid = 0;
        std::uint64_t began = 0; // Of the process, by the kernel's clock.
        std::string program;     // Its file.

        auto operator<=>(running const&) const = default;
    };

    [[nodiscard]] bool is_recorded(std::string const& maps) const;

    std::filesystem::path folder_;
    std::string folder_in_maps_;
    std::set<running> suspects_; // Of the last look.
    std::map<running, unrecorded_process> found_;
};

} // namespace cleat::locks
