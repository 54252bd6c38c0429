// Puts generated files on disk, or tells how they differ from what is there.
#pragma once

#include "emit/emit.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace bindgen {

// Writes the files whose bytes change, and removes those that an earlier run has written (its manifest names them, with
// their hashes) and that are not generated any more. Returns the paths that changed. Throws Refusal: with no file
// changed if one cannot be written beside its place (no space, no right), or if one that this tool has not written
// would be replaced or removed; with some files changed if one cannot be renamed or removed after that.
std::vector<std::string> write(const std::filesystem::path& folder, const std::vector<File>& files);

// The difference as a person reads it, "-" what is there, "+" what would be generated; empty if there is none.
std::string differences(const std::filesystem::path& folder, const std::vector<File>& files);
// What else lies there, and what to do about it: generating removes none of it. Of hidden files only those that an
// interrupted run of this tool has left. Empty if there is nothing.
std::string extra_files(const std::filesystem::path& folder, const std::vector<File>& files);

// Throws Refusal if the folder holds the bindings of other versions than this one: writing this one alone would remove
// them.
void refuse_other_sets(const std::filesystem::path& folder, const std::string& version);

// Lines with "-" and "+" in front, each group under the line number where it stands in `before`; empty if the texts are
// equal. `limit` bounds the number of lines told.
std::string line_diff(const std::string& before, const std::string& after, std::size_t limit = 40);

}  // namespace bindgen
