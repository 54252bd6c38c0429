#include "chat/templates/families.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <string>

namespace rkllm_mcp::chat {
namespace {

// "Qwen2.5-1.5B" -> "qwen251.5b" would still have a separator: only letters and digits stay, "qwen2515b".
std::string letters_and_digits(std::string_view text) {
  std::string plain;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (std::isalnum(byte) != 0) plain.push_back(static_cast<char>(std::tolower(byte)));
  }
  return plain;
}

std::size_t letters_of(std::string_view pattern) {
  return static_cast<std::size_t>(std::ranges::count_if(pattern, [](char each) { return each != '*'; }));
}

}  // namespace

std::span<const Family> built_in_families() {
  static const std::vector<Family> families = read_families(template_files());
  return families;
}

const Family* find_family(std::span<const Family> families, std::string_view name) {
  const auto found = std::ranges::find(families, name, &Family::name);
  return found == families.end() ? nullptr : &*found;
}

const Family* family_of_file(std::span<const Family> families, std::string_view file_name) {
  const std::string plain = letters_and_digits(file_name.substr(file_name.find_last_of('/') + 1));
  const Family* best = nullptr;
  std::size_t best_letters = 0;
  for (const Family& family : families) {
    for (const std::string& pattern : family.model_names) {
      const bool fits = ::fnmatch(("*" + pattern + "*").c_str(), plain.c_str(), 0) == 0;
      if (fits && letters_of(pattern) > best_letters) {
        best = &family;
        best_letters = letters_of(pattern);
      }
    }
  }
  return best;
}

const Family* family_of_model(std::string_view template_name, std::string_view path) {
  return template_name.empty() ? family_of_file(built_in_families(), path)
                               : find_family(built_in_families(), template_name);
}

}  // namespace rkllm_mcp::chat
