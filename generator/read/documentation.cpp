#include "read/documentation.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

namespace bindgen {
namespace {

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

bool take_prefix(std::string& text, const std::string& prefix) {
  if (text.compare(0, prefix.size(), prefix) != 0) return false;
  text.erase(0, prefix.size());
  return true;
}

// One line of a comment without its markers.
std::string without_markers(std::string line) {
  line = trimmed(line);
  for (const char* marker : {"/**<", "/*!<", "///<", "//!<", "/**", "/*!", "///", "//!", "/*", "//"}) {
    if (take_prefix(line, marker)) break;
  }
  if (line.size() >= 2 && line.compare(line.size() - 2, 2, "*/") == 0) line.erase(line.size() - 2);
  line = trimmed(line);
  if (line == "*") return {};
  if (take_prefix(line, "* ")) line = trimmed(line);
  return line;
}

std::string take_word(std::string& text) {
  const auto end = std::min(text.find_first_of(" \t"), text.size());
  std::string word = text.substr(0, end);
  text = trimmed(text.substr(end));
  return word;
}

}  // namespace

Documentation parse_comment(const std::string& comment) {
  Documentation documentation;
  std::string* target = &documentation.text;
  bool new_paragraph = false;
  std::vector<std::size_t> deprecations;  // where each begins in the text
  std::istringstream lines(comment);
  std::string rest;  // of a line in which a tag follows
  for (std::string line; !rest.empty() || std::getline(lines, line);) {
    line = rest.empty() ? without_markers(std::move(line)) : std::exchange(rest, {});
    for (const char* tag : {" @deprecated", " \\deprecated"}) {
      if (const auto at = line.find(tag); at != std::string::npos && rest.empty()) {
        rest = trimmed(line.substr(at));
        line.erase(at);
      }
    }
    if (line.empty()) {
      new_paragraph = !target->empty();
      continue;
    }
    if (take_prefix(line, "@brief ") || take_prefix(line, "\\brief ")) line = trimmed(line);
    if (take_prefix(line, "@deprecated") || take_prefix(line, "\\deprecated")) {
      line = trimmed(line);
      line = line.empty() ? "Deprecated." : "Deprecated: " + line;
      documentation.is_deprecated = true;
      target = &documentation.text;
      new_paragraph = !target->empty();
      deprecations.push_back(new_paragraph ? target->size() + 2 : 0);
    }
    if (take_prefix(line, "@param") || take_prefix(line, "\\param")) {
      if (line.starts_with('[')) line.erase(0, line.find(']') + 1);
      line = trimmed(line);
      documentation.params.emplace_back(take_word(line), "");
      target = &documentation.params.back().second;
      new_paragraph = false;
    } else if (take_prefix(line, "@returns") || take_prefix(line, "@return") || take_prefix(line, "\\return")) {
      line = trimmed(line);
      target = &documentation.returns;
      new_paragraph = false;
    }
    if (!target->empty()) *target += new_paragraph ? "\n\n" : " ";
    *target += line;
    new_paragraph = false;
  }
  for (const std::size_t at : deprecations) {
    const std::string from_there = documentation.text.substr(at);
    documentation.deprecations.push_back(from_there.substr(0, from_there.find("\n\n")));
  }
  return documentation;
}

std::string comment_above(const std::vector<std::string>& lines, unsigned line) {
  if (line < 2 || line > lines.size()) return {};
  const auto is_line_comment = [&](unsigned n) { return trimmed(lines[n - 1]).compare(0, 3, "///") == 0; };
  unsigned first = line - 1;
  if (is_line_comment(first)) {
    while (first > 1 && is_line_comment(first - 1)) --first;
  } else {
    const std::string last = trimmed(lines[first - 1]);
    if (last.size() < 2 || last.compare(last.size() - 2, 2, "*/") != 0) return {};
    while (first > 1 && lines[first - 1].find("/*") == std::string::npos) --first;
    if (trimmed(lines[first - 1]).compare(0, 3, "/**") != 0) return {};
  }
  std::string comment;
  for (unsigned n = first; n < line; ++n) comment += lines[n - 1] + "\n";
  return comment;
}

}  // namespace bindgen
