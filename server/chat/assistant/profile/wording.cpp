#include "chat/assistant/profile/wording.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace rkllm_mcp::chat {
namespace {

struct Filled {
  std::string text;
  bool had_holes = false;
  bool had_values = false;
};

Filled filled_paragraph(std::string_view text, const Filling& filling) {
  Filled result;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    result.text += text.substr(0, open);
    if (open == std::string_view::npos) break;
    text.remove_prefix(open);
    const std::size_t close = text.find('}');
    const auto value = close == std::string_view::npos ? filling.end() : filling.find(text.substr(1, close - 1));
    if (value == filling.end()) {
      result.text += '{';
      text.remove_prefix(1);
      continue;
    }
    result.had_holes = true;
    result.had_values = result.had_values || !value->second.empty();
    result.text += value->second;
    text.remove_prefix(close + 1);
  }
  return result;
}

constexpr std::string_view kBetweenParagraphs = "\n\n";

// Each with its capitals, as models write it; "Co" and "Khong" come from models that lose marks.
constexpr std::array<std::string_view, 9> kYes = {"yes",     "Yes", "YES", "c\u00f3", "C\u00f3",
                                                  "C\u00d3", "co",  "Co",  "CO"};
constexpr std::array<std::string_view, 9> kNo = {"no",         "No",    "NO",    "kh\u00f4ng", "Kh\u00f4ng",
                                                 "KH\u00d4NG", "khong", "Khong", "KHONG"};

bool is_of_word(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  constexpr unsigned char kFirstOfMany = 0x80;
  return value >= kFirstOfMany || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

}  // namespace

std::string_view word_for(Purpose purpose) {
  switch (purpose) {
    case Purpose::kLanguage: return "language";
    case Purpose::kGuardrail: return "guardrail";
    case Purpose::kAnswer: return "answer";
    case Purpose::kRefusal: return "refusal";
    case Purpose::kSummary: return "summary";
    case Purpose::kShorterSummary: return "shorter_summary";
    case Purpose::kTask: return "task";
  }
  return "";
}

std::string filled(std::string_view text, const Filling& filling) {
  std::string result;
  while (true) {
    const std::size_t end = text.find(kBetweenParagraphs);
    const Filled paragraph = filled_paragraph(text.substr(0, end), filling);
    if (!paragraph.had_holes || paragraph.had_values) {
      if (!result.empty()) result += kBetweenParagraphs;
      result += paragraph.text;
    }
    if (end == std::string_view::npos) return result;
    text.remove_prefix(end + kBetweenParagraphs.size());
  }
}

std::optional<bool> yes_or_no(std::string_view answer) {
  const auto* const begin = std::ranges::find_if(answer, is_of_word);
  const auto* const end = std::find_if_not(begin, answer.end(), is_of_word);
  const std::string_view word(begin, static_cast<std::size_t>(end - begin));
  if (std::ranges::find(kYes, word) != kYes.end()) return true;
  if (std::ranges::find(kNo, word) != kNo.end()) return false;
  return std::nullopt;
}

}  // namespace rkllm_mcp::chat
