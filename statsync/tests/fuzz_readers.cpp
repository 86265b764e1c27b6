// fuzz_readers: the readers of XML and of the configuration with any bytes. The variable
// STATSYNC_READER chooses one: rhythmbox, itunes or configuration. A failure is an answer; anything
// else is a defect. tests/fuzz builds and runs it.

#include "core/failure.hpp"
#include "provider/registry.hpp"
#include "store/temporary_folder.hpp"

#include <cstdlib>
#include <fstream>

namespace {

using namespace statsync;

void require(bool is_right)
{
    if (!is_right) {
        std::abort();
    }
}

/// read_and_write reads a player's file, and writes new statistics to its first track. All other
/// tracks stay as they are.
void read_and_write(std::string const& type, std::filesystem::path const& file)
{
    std::unique_ptr<provider> const player =
        type_named(all_types(), type).make({"1", type, "n", {{"path", file.string()}}});
    std::vector<track> const before = player->tracks();
    if (before.empty()) {
        return;
    }
    statistics const values{8, 5, 6, before[0].statistics.play_count + 1, {}};
    change const one{before[0].key, player->can().writable, before[0].statistics, values};
    player->write(std::span(&one, 1));
    std::vector<track> const& after = player->tracks();
    require(after.size() == before.size());
    require(after[0].statistics.play_count == values.play_count);
    for (std::size_t place = 1; place < after.size(); ++place) {
        require(after[place].key == before[place].key);
        require(after[place].statistics == before[place].statistics);
    }
}

/// add_to_configuration adds a provider; the file then has all that it had, and this one.
void add_to_configuration(std::filesystem::path const& file)
{
    registry all(file, all_types());
    all.create("example", "", {{"path", "/a"}});
    registry const again(file, all_types());
    require(again.instances().size() == all.instances().size());
    require(again.instances().back() == all.instances().back());
}

std::string const& reader()
{
    static std::string const name = [] {
        char const* const wanted = std::getenv("STATSYNC_READER");
        return std::string(wanted == nullptr ? "" : wanted);
    }();
    return name;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(unsigned char const* data, std::size_t size)
{
    static temporary_folder const folder;
    std::filesystem::path const file = folder / "input";
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<char const*>(data), static_cast<std::streamsize>(size));
    try {
        if (reader() == "configuration") {
            add_to_configuration(file);
        } else {
            read_and_write(reader(), file);
        }
    } catch (failure const&) {
    }
    return 0;
}
