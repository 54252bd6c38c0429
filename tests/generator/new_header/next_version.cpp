#include "next_version.hpp"

#include "json.hpp"
#include "text_file.hpp"

#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

namespace bindgen::test {
namespace {

namespace fs = std::filesystem;

struct Addition {
  std::string after;
  std::string text;
};

std::string trimmed(const std::string& line) {
  const auto begin = line.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : line.substr(begin, line.find_last_not_of(" \t") + 1 - begin);
}

// An addition ends where a paragraph ends behind which nothing of C follows: a line of prose.
bool is_prose(const std::string& line) {
  return !line.empty() && line.front() >= 'A' && line.front() <= 'Z' && line.back() == '.';
}

std::vector<Addition> read_additions(const std::string& text) {
  static const std::string kMark = "@ after ";
  std::vector<Addition> additions;
  bool is_inside = false;
  for (const std::string& line : lines_of(text)) {
    if (line.compare(0, kMark.size(), kMark) == 0) {
      additions.push_back({trimmed(line.substr(kMark.size())), ""});
      is_inside = true;
    } else if (is_prose(line)) {
      is_inside = false;
    } else if (is_inside) {
      additions.back().text += line + "\n";
    }
  }
  return additions;
}

Json read_json(const fs::path& path) { return Json::parse(read_text(path.string())); }

}  // namespace

std::string with_additions(const std::string& header, const std::string& additions) {
  std::vector<std::string> lines = lines_of(header);
  for (const Addition& addition : read_additions(additions)) {
    std::optional<std::size_t> place;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (trimmed(lines[i]) != addition.after) continue;
      if (place) throw std::runtime_error("several lines of the header are: " + addition.after);
      place = i;
    }
    if (!place) throw std::runtime_error("no line of the header is: " + addition.after);
    lines[*place] += "\n" + addition.text;
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

void write_next_version(const fs::path& repository, const fs::path& folder) {
  const fs::path here = repository / "tests/generator/new_header";
  const fs::path from = repository / "generator";
  const fs::path to = folder / "generator";
  fs::create_directories(to);
  fs::copy(from / "headers", to / "headers", fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  write_text(to / "headers/rkllm_1.4.0.h", with_additions(read_text((from / "headers/rkllm_1.3.0.h").string()),
                                                          read_text((here / "additions.txt").string())));

  Json overlay = read_json(from / "overlay/rkllm.overlay.json");
  for (const Json& entry : read_json(here / "answers.json")) overlay.at("entries").push_back(entry);
  write_text(to / "overlay/rkllm.overlay.json", overlay.dump(1) + "\n");

  Json project = read_json(from / "bindgen.json");
  project.at("sets").push_back({{"version", "1.4.0"}, {"header", "generator/headers/rkllm_1.4.0.h"}});
  write_text(to / "bindgen.json", project.dump(1) + "\n");
}

}  // namespace bindgen::test
