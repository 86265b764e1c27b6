// sample: the tracks that every database of the convention has, and generated ones in any number.

#pragma once

#include "core/track.hpp"
#include "store/sql.hpp"

#include <filesystem>
#include <vector>

namespace statsync {

/// sample: a track as a player stores it, and the identity that a provider should read.
struct sample
{
    statsync::identity stored;
    statsync::identity expected;
    statsync::statistics statistics;
};

/// convention_samples: 57 tracks. The artist of each is named after what it shows.
std::vector<sample> convention_samples();

/// generated_samples: tracks of a library of this size. The seed varies the statistics only.
std::vector<sample> generated_samples(std::size_t count, unsigned seed);

/// distinct_labels: the first of all labels that are the same but for the case of A to Z.
label_set distinct_labels(label_set const& labels);

using sample_list = std::vector<sample> const&;

// A database of each player with these tracks, and with rows that a provider has to leave out.
void make_amarok_1_4(std::filesystem::path const& file, sample_list samples);
void make_banshee(std::filesystem::path const& file, sample_list samples);
void make_clementine(std::filesystem::path const& file, sample_list samples);
void make_strawberry(std::filesystem::path const& file, sample_list samples);
void make_navidrome(std::filesystem::path const& file, sample_list samples);
void make_rhythmbox(std::filesystem::path const& file, sample_list samples);
void make_itunes(std::filesystem::path const& file, sample_list samples);

/// make_amarok_1_4_tables makes the tables of Amarok 1.4 in an empty database of a server.
void make_amarok_1_4_tables(sql_database& database, sample_list samples);

/// make_amarok_tables makes those of Amarok 2 and 3.
void make_amarok_tables(sql_database& database, sample_list samples);

/// make_amarok makes a data directory, which needs mariadbd.
void make_amarok(std::filesystem::path const& folder, sample_list samples);

} // namespace statsync
