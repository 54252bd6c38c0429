// The order of versions (overlay.hpp).
#include "overlay/overlay.hpp"

#include <algorithm>

namespace bindgen {
namespace {

bool is_digit(char character) { return character >= '0' && character <= '9'; }

unsigned take_number(std::string_view& text) {
  unsigned number = 0;
  while (!text.empty() && is_digit(text.front())) {
    number = number * 10 + static_cast<unsigned>(text.front() - '0');
    text.remove_prefix(1);
  }
  return number;
}

// Takes one component: its number and what follows that, up to the next dot.
struct Component {
  unsigned number;
  std::string_view suffix;
};
Component take_component(std::string_view& text) {
  const unsigned number = take_number(text);
  const auto end = std::min(text.find('.'), text.size());
  const std::string_view suffix = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return {number, suffix};
}

// "b2" < "b10": runs of digits count as numbers.
int compare_suffixes(std::string_view left, std::string_view right) {
  while (!left.empty() && !right.empty()) {
    const bool are_digits = is_digit(left.front()) && is_digit(right.front());
    const unsigned a = are_digits ? take_number(left) : static_cast<unsigned char>(left.front());
    const unsigned b = are_digits ? take_number(right) : static_cast<unsigned char>(right.front());
    if (a != b) return a < b ? -1 : 1;
    if (are_digits) continue;
    left.remove_prefix(1);
    right.remove_prefix(1);
  }
  return static_cast<int>(right.empty()) - static_cast<int>(left.empty());
}

int sign(bool less, bool greater) { return less ? -1 : greater ? 1 : 0; }

}  // namespace

bool is_version(std::string_view text) {
  const auto is_allowed = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-';
  };
  return !text.empty() && is_digit(text.front()) && std::all_of(text.begin(), text.end(), is_allowed);
}

int compare_versions(std::string_view left, std::string_view right) {
  while (!left.empty() || !right.empty()) {
    const Component a = take_component(left);
    const Component b = take_component(right);
    if (a.number != b.number) return sign(a.number < b.number, true);
    if (a.suffix.empty() != b.suffix.empty()) return sign(b.suffix.empty(), true);  // a beta comes before its release
    if (const int order = compare_suffixes(a.suffix, b.suffix); order != 0) return order;
  }
  return 0;
}

}  // namespace bindgen
