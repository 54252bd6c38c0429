// The repository as it would be on the day after a release of rkllm.h 1.4.0: its header is the 1.3.0 one with
// changes.txt, and the overlay has answers.json beside its own entries. Both follow what the repository holds today.
#pragma once

#include <filesystem>
#include <string>

namespace bindgen::test {

// The header with each change where the line is that it quotes. Throws std::runtime_error if there is not exactly one
// such line.
std::string with_changes(const std::string& header, const std::string& changes);

// Headers, overlay and bindgen.json of `repository` with 1.4.0 as the newest version, below `folder`: what
// rkllm-bindgen --root takes.
void write_next_version(const std::filesystem::path& repository, const std::filesystem::path& folder);

}  // namespace bindgen::test
