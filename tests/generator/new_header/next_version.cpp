#include "next_version.hpp"

#include "bindgen_json.hpp"
#include "files.hpp"

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

namespace bindgen::test {
namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

namespace fs = std::filesystem;

struct Change {
  std::string at;         // a line of the header
  bool replaces = false;  // that line; else it comes behind it
  std::string text;
};

std::string trimmed(const std::string& line) {
  const auto begin = line.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : line.substr(begin, line.find_last_not_of(" \t") + 1 - begin);
}

// A change ends where a paragraph ends behind which nothing of C follows: a line of prose.
bool is_prose(const std::string& line) {
  return !line.empty() && line.front() >= 'A' && line.front() <= 'Z' && line.back() == '.';
}

std::vector<Change> read_changes(const std::string& text) {
  static const std::string kAfter = "@ after ";
  static const std::string kInstead = "@ instead of ";
  std::vector<Change> changes;
  bool is_inside = false;
  for (const std::string& line : lines_of(text)) {
    const bool replaces = line.compare(0, kInstead.size(), kInstead) == 0;
    if (replaces || line.compare(0, kAfter.size(), kAfter) == 0) {
      changes.push_back({trimmed(line.substr(replaces ? kInstead.size() : kAfter.size())), replaces, ""});
      is_inside = true;
    } else if (is_prose(line)) {
      is_inside = false;
    } else if (is_inside) {
      changes.back().text += line + "\n";
    }
  }
  return changes;
}

// An answer without a quote ends the entry for a declaration that is gone.
void take_answer(Json& entries, const Json& answer) {
  if (answer.contains("quote")) return entries.push_back(answer);
  for (Json& entry : entries) {
    if (entry.at("for") == answer.at("for") && !entry.contains("until")) return entry.update(answer);
  }
  throw std::runtime_error("no entry for " + answer.at("for").get<std::string>());
}

Json read_json(const fs::path& path) { return Json::parse(read_text(path.string())); }

}  // namespace

std::string with_changes(const std::string& header, const std::string& text_of_changes) {
  std::vector<std::string> lines = lines_of(header);
  for (const Change& change : read_changes(text_of_changes)) {
    std::optional<std::size_t> place;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (trimmed(lines[i]) != change.at) continue;
      if (place) throw std::runtime_error("several lines of the header are: " + change.at);
      place = i;
    }
    if (!place) throw std::runtime_error("no line of the header is: " + change.at);
    lines[*place] = (change.replaces ? "" : lines[*place] + "\n") + change.text;
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
  write(to / "headers/rkllm_1.4.0.h",
        with_changes(read_text((from / "headers/rkllm_1.3.0.h").string()), read_text((here / "changes.txt").string())));

  Json overlay = read_json(from / "overlay/rkllm.overlay.json");
  for (const Json& answer : read_json(here / "answers.json")) take_answer(overlay.at("entries"), answer);
  write(to / "overlay/rkllm.overlay.json", overlay.dump(1) + "\n");

  Json project = read_json(from / "bindgen.json");
  project.at("sets").push_back({{"version", "1.4.0"}, {"header", "generator/headers/rkllm_1.4.0.h"}});
  write(to / "bindgen.json", project.dump(1) + "\n");
}

}  // namespace bindgen::test
