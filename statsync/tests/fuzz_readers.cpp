// fuzz_readers: the readers of XML and of the configuration with any bytes. The first byte chooses
// one. A failure is an answer; anything else is a defect. tests/fuzz builds and runs it.

#include "core/failure.hpp"
#include "provider/registry.hpp"
#include "store/temporary_folder.hpp"

#include <fstream>

namespace {

using namespace statsync;

/// read_and_write reads a player's file, and writes new statistics to its first track.
void read_and_write(std::string const& type, std::filesystem::path const& file)
{
    std::unique_ptr<provider> const player =
        type_named(all_types(), type).make({"1", type, "n", {{"path", file.string()}}});
    std::vector<track> const tracks = player->tracks();
    if (tracks.empty()) {
        return;
    }
    statistics const values{8, 5, 6, tracks[0].statistics.play_count + 1, {}};
    change const one{tracks[0].key, player->can().writable, tracks[0].statistics, values};
    player->write(std::span(&one, 1));
    if (player->tracks().at(0).statistics.play_count != values.play_count) {
        std::abort();
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(unsigned char const* data, std::size_t size)
{
    static temporary_folder const folder;
    if (size == 0) {
        return 0;
    }
    std::filesystem::path const file = folder / "input";
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<char const*>(data + 1), static_cast<std::streamsize>(size - 1));
    try {
        switch (data[0] % 3) {
        case 0:
            read_and_write("rhythmbox", file);
            break;
        case 1:
            read_and_write("itunes", file);
            break;
        default:
            registry all(file, all_types());
            all.create("example", "", {{"path", "/a"}});
        }
    } catch (failure const&) {
    }
    return 0;
}
