#include "notes.hpp"

#include "limit.hpp"

#include <cctype>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <utility>

namespace rkllm_mcp::simulation {
namespace {

// Of a call whose arguments begin at `at`.
void add_literals(std::string_view source, std::size_t at, std::set<std::string>& notes) {
  std::string literal;
  int depth = 1;
  const auto end_literal = [&] {
    if (!literal.empty() && literal.back() != ' ' && depth == 1) notes.insert(literal);
    literal.clear();
  };
  for (; depth > 0 && at < source.size(); ++at) {
    const char byte = source[at];
    if (byte == '"') {
      const std::size_t end = source.find('"', at + 1);
      if (end == std::string_view::npos) return;
      literal += source.substr(at + 1, end - at - 1);  // behind the one before, if nothing is in between
      at = end;
      continue;
    }
    if (std::isspace(static_cast<unsigned char>(byte)) == 0) end_literal();
    if (byte == '(' || byte == '[') ++depth;
    if (byte == ')' || byte == ']') --depth;
  }
}

}  // namespace

std::set<std::string> notes_in(std::string_view source) {
  std::set<std::string> notes;
  for (const std::string_view call : {std::string_view("saw("), std::string_view("fails(")}) {
    for (std::size_t at = source.find(call); at != std::string_view::npos; at = source.find(call, at + 1)) {
      const bool is_whole_name = at == 0 || std::isalnum(static_cast<unsigned char>(source[at - 1])) == 0;
      if (is_whole_name) add_literals(source, at + call.size(), notes);
    }
  }
  return notes;
}

std::set<std::string> notes_of(const std::filesystem::path& folder) {
  std::set<std::string> notes;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("notes.")) continue;  // this one
    if (!name.ends_with(".hpp") && (!name.ends_with(".cpp") || name.ends_with("_test.cpp"))) continue;
    std::ifstream file(entry.path());
    notes.merge(notes_in(std::string{std::istreambuf_iterator<char>(file), {}}));
  }
  for (std::size_t limit = 0; limit < kLimitCount; ++limit) {
    notes.insert("the limit of " + std::string(name_of(static_cast<Limit>(limit))));
  }
  return notes;
}

}  // namespace rkllm_mcp::simulation
