// Calls targets with the files of a corpus, without libFuzzer: a test of any build.
//
//     cleat-fuzz-replay CORPUS
//
// CORPUS has a folder for each target of this program. A target without an input is a failure.

#include "replay_table.hpp"
#include "targets.hpp"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

std::string contents(fs::path const& file)
{
    std::ifstream from{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{from}, {}};
}

std::size_t replay(cleat::fuzz::replayed_target const& target, fs::path const& folder)
{
    std::size_t count = 0;
    std::error_code none;
    for (fs::directory_entry const& each : fs::directory_iterator{folder, none}) {
        // The heap's own bytes: a sanitizer sees a read behind their end.
        std::string const text = contents(each.path());
        std::vector<std::uint8_t> const bytes{text.begin(), text.end()};
        std::printf("%s\n", each.path().c_str());
        std::fflush(stdout); // It may be the last line before an abort.
        target.run(bytes);
        ++count;
    }
    return count;
}

} // namespace

int main(int count, char** arguments)
{
    if (count != 2) {
        std::fprintf(stderr, "usage: %s CORPUS\n", arguments[0]);
        return 2;
    }
    int status = EXIT_SUCCESS;
    for (cleat::fuzz::replayed_target const& each : cleat::fuzz::replay_table) {
        std::string const folder = std::string{arguments[1]} + '/' + each.name;
        if (replay(each, folder) != 0)
            continue;
        std::fprintf(stderr, "%s: no input for this target\n", folder.c_str());
        status = EXIT_FAILURE;
    }
    return status;
}
