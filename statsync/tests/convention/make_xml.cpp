#include "store/file.hpp"
#include "tests/convention/sample.hpp"

#include <ctime>

namespace statsync {
namespace {

std::string escaped(std::string const& text)
{
    std::string result;
    for (char c : text) {
        result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
    }
    return result;
}

std::string element(std::string const& name, std::string const& text)
{
    return "    <" + name + ">" + escaped(text) + "</" + name + ">\n";
}

std::string element_unless_0(std::string const& name, std::int64_t number)
{
    return number == 0 ? "" : element(name, std::to_string(number));
}

std::string song(sample const& one, std::size_t index)
{
    identity const& track = one.stored;
    statistics const& values = one.statistics;
    std::string text = "  <entry type=\"song\">\n";
    text += element("title", track.title);
    text += element("genre", "Unknown");
    text += element("artist", track.artist);
    text += element("album", track.album.empty() ? "Unknown" : track.album);
    text += element_unless_0("track-number", track.track_number);
    text += element_unless_0("disc-number", track.disc_number);
    text += element("duration", "12");
    text += element("location", "file:///music/it&s%20" + std::to_string(index) + ".mp3");
    text += element("first-seen", "1378000000");
    text += element_unless_0("rating", (values.rating + 1) / 2);
    text += element_unless_0("play-count", values.play_count);
    text += element_unless_0("last-played", values.last_played.value_or(0));
    text += element("media-type", "audio/mpeg");
    return text + "  </entry>\n";
}

std::string pair(std::string const& key, std::string const& type, std::string const& text)
{
    return "\t\t\t<key>" + key + "</key><" + type + ">" + escaped(text) + "</" + type + ">\n";
}

std::string pair_unless_0(std::string const& key, std::int64_t number)
{
    return number == 0 ? "" : pair(key, "integer", std::to_string(number));
}

std::string date_text(std::int64_t seconds)
{
    std::time_t const time = static_cast<std::time_t>(seconds);
    std::tm parts{};
    gmtime_r(&time, &parts);
    char text[32];
    std::size_t const size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return std::string(text, size);
}

std::string item(sample const& one, std::size_t index)
{
    identity const& track = one.stored;
    statistics const& values = one.statistics;
    std::string const id = std::to_string(2 * index + 100);
    std::string text = "\t\t<key>" + id + "</key>\n\t\t<dict>\n";
    text += pair("Track ID", "integer", id);
    text += pair("Name", "string", track.title);
    text += pair("Artist", "string", track.artist);
    text += track.composer.empty() ? "" : pair("Composer", "string", track.composer);
    text += track.album.empty() ? "" : pair("Album", "string", track.album);
    text += pair_unless_0("Disc Number", track.disc_number);
    text += pair_unless_0("Track Number", track.track_number);
    text += pair_unless_0("Year", track.year);
    text += pair_unless_0("Play Count", values.play_count);
    if (values.last_played) {
        text += pair("Play Date UTC", "date", date_text(*values.last_played));
    }
    text += pair_unless_0("Rating", (values.rating + 1) / 2 * 20);
    text += pair("Persistent ID", "string", "0123456789ABCDEF");
    return text + "\t\t</dict>\n";
}

} // namespace

void make_rhythmbox(std::filesystem::path const& file, sample_list samples)
{
    std::string text = "<?xml version=\"1.0\" standalone=\"yes\"?>\n<rhythmdb version=\"2.0\">\n";
    text += "  <entry type=\"iradio\">\n    <title>A station</title>\n"
            "    <artist>wrongSource</artist>\n    <location>http://radio.invalid/</location>\n"
            "    <play-count>3</play-count>\n  </entry>\n";
    for (std::size_t i = 0; i < samples.size(); ++i) {
        text += song(samples[i], i);
    }
    text +=
        "  <entry type=\"song\">\n    <title>missing</title>\n    <artist>wrongSource</artist>\n"
        "    <location>file:///gone.mp3</location>\n    <hidden>1</hidden>\n  </entry>\n";
    replace_file(file, text + "</rhythmdb>\n");
}

void make_itunes(std::filesystem::path const& file, sample_list samples)
{
    std::string text =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<!DOCTYPE plist PUBLIC \"-//Apple Computer//DTD PLIST 1.0//EN\" "
        "\"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<plist version=\"1.0\">\n<dict>\n"
        "\t<key>Major Version</key><integer>1</integer>\n\t<key>Tracks</key>\n\t<dict>\n";
    for (std::size_t i = 0; i < samples.size(); ++i) {
        text += item(samples[i], i);
    }
    text += "\t\t<key>7</key>\n\t\t<dict>\n" + pair("Track ID", "integer", "7") +
            pair("Artist", "string", "wrongSource") + "\t\t\t<key>Podcast</key><true/>\n" +
            "\t\t</dict>\n\t</dict>\n\t<key>Playlists</key>\n\t<array>\n\t\t<dict>\n"
            "\t\t\t<key>Name</key><string>wrongSource</string>\n\t\t</dict>\n\t</array>\n";
    replace_file(file, text + "</dict>\n</plist>\n");
}

} // namespace statsync
