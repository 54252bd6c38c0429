// Whole text files: read, split into lines, written only if that changes something.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bindgen {

// Throws Refusal if the file cannot be read.
std::string read_text(const std::filesystem::path& path);
// Without their line ends.
std::vector<std::string> lines_of(const std::string& text);
// False if the file holds exactly this already (it is then left alone, and so is its date). Makes missing directories.
bool write_text(const std::filesystem::path& path, const std::string& text);

}  // namespace bindgen
