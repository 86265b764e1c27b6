// statsync-make-database TYPE FILE COUNT SEED: makes a player's database with generated tracks.

#include "tests/convention/sample.hpp"

#include <iostream>
#include <map>
#include <string>

int main(int count, char** words)
{
    using namespace statsync;
    std::map<std::string, void (*)(std::filesystem::path const&, sample_list)> const makers{
        {"amarok", make_amarok},       {"amarok-1.4", make_amarok_1_4},
        {"banshee", make_banshee},     {"clementine", make_clementine},
        {"itunes", make_itunes},       {"rhythmbox", make_rhythmbox},
        {"navidrome", make_navidrome}, {"strawberry", make_strawberry},
    };
    if (count != 5 || !makers.contains(words[1])) {
        std::cerr << "usage: statsync-make-database TYPE FILE COUNT SEED\n";
        return 2;
    }
    std::size_t const tracks = std::stoul(words[3]);
    unsigned const seed = static_cast<unsigned>(std::stoul(words[4]));
    makers.at(words[1])(words[2], generated_samples(tracks, seed));
    return 0;
}
