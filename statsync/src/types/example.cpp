// example: a complete type of provider, and the guide to write one.
//
// 1. Derive from provider. type_can() says which identity fields the player stores reliably, and
//    which statistics can be written. read() makes the tracks. Each track has a key, by which
//    write_changes() finds it again. where() names the files and the player's processes: statsync
//    then refuses to write while the player runs, notices that a file has changed since it was
//    read, backs it up before the first write, and can undo.
// 2. Write a provider_type: its name, its settings, and how one is made.
// 3. List it in types.cpp, and give it to the suite as types/example_test.cpp does.
//
// A failure thrown from here ends the work on this provider only. Its text is for the user.
//
// This example keeps one line for each track in a file: artist, album, title and play count,
// separated by tabs. For a database of SQL derive from sql_provider instead.

#include "core/failure.hpp"
#include "core/text.hpp"
#include "types/types.hpp"

#include <sstream>

namespace statsync {
namespace {

class example_provider : public provider
{
public:
    explicit example_provider(instance configured)
        : provider(std::move(configured)), file_(expanded(this->configured().setting("path")))
    {
    }

    places where() const override { return {{file_}, {"example-player"}}; }

protected:
    abilities type_can() const override { return {mandatory_fields, field::play_count}; }

    std::vector<track> read() override
    {
        std::vector<track> tracks;
        std::istringstream lines(read_file(file_));
        for (std::string line; std::getline(lines, line);) {
            track one;
            std::istringstream words(line);
            identity& names = one.identity;
            for (std::string* name : {&names.artist, &names.album, &names.title}) {
                std::getline(words, *name, '\t');
                *name = trimmed(*name);
            }
            if (!(words >> one.statistics.play_count)) {
                throw failure(problem::unread, file_.string() + ": no line of a track: " + line);
            }
            one.key = std::to_string(tracks.size());
            tracks.push_back(one);
        }
        if (tracks.empty()) {
            throw failure(problem::unread, file_.string() + ": there is no track");
        }
        return tracks;
    }

    void write_changes(std::span<change const> changes) override
    {
        std::vector<track> tracks = read();
        for (change const& one : changes) {
            tracks.at(std::stoul(one.key)).statistics.play_count = one.after.play_count;
        }
        std::string text;
        for (track const& one : tracks) {
            text += one.identity.artist + '\t' + one.identity.album + '\t' + one.identity.title +
                    '\t' + std::to_string(one.statistics.play_count) + '\n';
        }
        replace_file(file_, text);
    }

private:
    std::filesystem::path file_;
};

} // namespace

provider_type example_type()
{
    return {
        "example",
        "Example",
        {{"path", "a file with artist, album, title and play count in each line", "", true}},
        {},
        made_by<example_provider>};
}

} // namespace statsync
