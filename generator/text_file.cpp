#include "text_file.hpp"

#include "diagnostics.hpp"

#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>

namespace bindgen {

std::string read_text(const std::filesystem::path& path) {
  std::error_code unknown;
  const auto kind = std::filesystem::status(path, unknown).type();
  using Kind = std::filesystem::file_type;
  // A pipe would be empty when clang reads it once more, and a device may have no end.
  const bool can_be_read_again = kind == Kind::regular || kind == Kind::directory || kind == Kind::not_found;
  if (!unknown && !can_be_read_again) throw Refusal({path.string(), 0, 0}, "cannot read this: it is no file");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  char part[1 << 16];
  while (file && kind != Kind::directory) {
    file.read(part, sizeof part);
    text.append(part, static_cast<std::size_t>(file.gcount()));
  }
  if (file.eof() && !file.bad()) return text;
  const int why = errno;
  // That a file is not there is what everybody takes for granted.
  throw Refusal({path.string(), 0, 0},
                std::string("cannot read this file") +
                    (why == 0 || why == ENOENT ? "" : ": " + std::generic_category().message(why)));
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
