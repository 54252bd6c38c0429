// Whole text files: read, split into lines, compared.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bindgen {

// Throws Refusal if the file cannot be read.
std::string read_text(const std::filesystem::path& path);
// Without their line ends.
std::vector<std::string> lines_of(const std::string& text);
// Whether there is a file that holds exactly this.
bool holds(const std::filesystem::path& path, const std::string& text);

}  // namespace bindgen
