#include "text_file.hpp"

#include "diagnostics.hpp"

#include <fstream>
#include <iterator>
#include <sstream>

namespace bindgen {

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) {
    throw Refusal({path.string(), 0, 0}, "cannot read this file");
  }
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

bool holds(const std::filesystem::path& path, const std::string& text) {
  std::error_code unknown;
  return std::filesystem::is_regular_file(path, unknown) && read_text(path) == text;
}

}  // namespace bindgen
