// A trace has megabytes of tables, nearly all of them zeros. The input is patches of a small sound
// trace: the part of the file, a place in it, and bytes.

#include "input_reader.hpp"
#include "report/profile.hpp"
#include "report/report_json.hpp"
#include "report/report_text.hpp"
#include "report/trace.hpp"
#include "targets.hpp"

#include <cleat/core/assert.hpp>

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

namespace cleat::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t blocks = 2;
constexpr std::size_t locks_begin = sizeof(trace_header) + sizeof(trace_slot[trace_slots_max]);
constexpr std::size_t file_size = locks::trace_tables_bytes + blocks * locks::trace_block_bytes;

// A part of the file, from its begin; patches have places in the first 64 KiB of it.
constexpr std::array parts{
    std::size_t{0},
    locks_begin,
    locks::trace_tables_bytes,
    locks::trace_tables_bytes + offsetof(trace_thread, waits_for),
    locks::trace_tables_bytes + offsetof(trace_thread, orders),
    locks::trace_tables_bytes + offsetof(trace_thread, words),
    locks::trace_tables_bytes + locks::trace_block_bytes,
    locks::trace_tables_bytes + locks::trace_block_bytes + offsetof(trace_thread, orders),
    locks::trace_tables_bytes + locks::trace_block_bytes + offsetof(trace_thread, words),
};

trace_header sound_header()
{
    trace_header made{};
    std::memcpy(made.magic, TRACE_MAGIC, sizeof made.magic);
    made.header_size = sizeof(trace_header);
    made.slot_size = sizeof(trace_slot);
    made.lock_size = sizeof(trace_lock);
    made.thread_size = locks::trace_block_bytes;
    made.ready = 1;
    made.began_ns = 1000;
    made.ended_ns = 9000;
    made.pid = 1;
    made.blocks = made.threads = blocks;
    made.locks = 4;
    std::strcpy(made.program, "/bin/subject");
    return made;
}

// A thread that took two locks, one in the other, and waits.
std::unique_ptr<trace_thread> sound_block(std::uint32_t number)
{
    auto made = std::make_unique<trace_thread>();
    made->state = trace_running;
    made->threads = 1;
    made->tid = static_cast<std::int32_t>(number + 1);
    made->number = number;
    made->began_ns = 1000;
    made->seen_ns = 5000;
    made->wait_began_ns = 4000;
    made->wait_site = 2;
    for (std::uint32_t i = 0; i < 2; ++i) {
        trace_site& site = made->site[i];
        site.key = 99 + i;
        site.return_to = 0x1234;
        site.lock = (number + i) % 2;
        site.how = trace_exclusive;
        site.acquisitions = site.attributed_acquisitions = 5;
    }
    made->waits_for[0] = {1, 1, 1 - number, 0, 100, 100};
    made->orders[0] = {1, 0, 1, 1};
    trace_stack stack{};
    stack.depth = 2;
    stack.size = sizeof stack / 8 + 2;
    stack.what = trace_taken;
    stack.how = trace_exclusive;
    stack.count = 5;
    std::memcpy(made->words, &stack, sizeof stack);
    made->words[sizeof stack / 8] = 0x1234;
    return made;
}

std::string sound_trace()
{
    std::string made(file_size, '\0');
    trace_header const header = sound_header();
    std::memcpy(made.data(), &header, sizeof header);
    for (std::size_t i = 0; i < header.locks; ++i) {
        trace_lock lock{};
        lock.address = 0x4000 + i;
        lock.kind = trace_mutex;
        lock.instances = lock.threads = 1;
        lock.ready = 1;
        std::memcpy(made.data() + locks_begin + i * sizeof lock, &lock, sizeof lock);
    }
    for (std::uint32_t i = 0; i < blocks; ++i)
        std::memcpy(
            made.data() + locks::trace_tables_bytes + i * locks::trace_block_bytes,
            sound_block(i).get(), sizeof(trace_thread));
    return made;
}

// trace_file is the sound trace in a folder of its own. Patches are taken back after each input.
class trace_file
{
public:
    trace_file()
    {
        std::string name = (fs::temp_directory_path() / "cleat-fuzz-XXXXXX").string();
        CLEAT_ASSERT(::mkdtemp(name.data()) != nullptr);
        folder_ = name;
        fd_ = ::open(path().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        write(0, sound_);
    }
    trace_file(trace_file&&) = delete;
    ~trace_file()
    {
        ::close(fd_);
        std::error_code none;
        fs::remove_all(folder_, none);
    }

    [[nodiscard]] fs::path path() const { return folder_ / "1.trace"; }

    void patch(std::size_t place, std::string_view bytes)
    {
        std::size_t const size = std::min(bytes.size(), file_size - place);
        write(place, bytes.substr(0, size));
        patched_.emplace_back(place, size);
    }

    void cut(std::size_t size) { CLEAT_ASSERT(::ftruncate(fd_, static_cast<off_t>(size)) == 0); }

    void restore()
    {
        if (fs::file_size(path()) != file_size)
            write(0, sound_);
        for (auto const& [place, size] : patched_)
            write(place, std::string_view{sound_}.substr(place, size));
        patched_.clear();
    }

private:
    void write(std::size_t place, std::string_view bytes) const
    {
        CLEAT_ASSERT(
            ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(place)) ==
            static_cast<ssize_t>(bytes.size()));
    }

    std::string const sound_ = sound_trace();
    fs::path folder_;
    int fd_ = -1;
    std::vector<std::pair<std::size_t, std::size_t>> patched_;
};

void report_on(fs::path const& path)
{
    try {
        locks::profile const made = locks::make_profile(locks::read_trace(path));
        CLEAT_ASSERT(!locks::report_text(made, 10).empty());
        CLEAT_ASSERT(!boost::json::serialize(locks::to_json(made)).empty());
    } catch (std::runtime_error const& refused) {
        CLEAT_ASSERT(*refused.what() != '\0');
    }
}

} // namespace

void trace(octets input)
{
    static trace_file file;
    input_reader from{input};
    while (!from.is_empty()) {
        std::size_t const part = from.number(1);
        std::size_t const place = from.number(2);
        if (part == 255)
            file.cut(file_size * place / 65'536);
        else
            file.patch(parts[part % parts.size()] + place, from.text());
    }
    report_on(file.path());
    file.restore();
}

} // namespace cleat::fuzz
