#include "version.hpp"

#include <algorithm>

namespace bindgen {
namespace {

unsigned take_number(std::string_view& text) {
  unsigned number = 0;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
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

int sign(bool less, bool greater) { return less ? -1 : greater ? 1 : 0; }

}  // namespace

int compare_versions(std::string_view left, std::string_view right) {
  while (!left.empty() || !right.empty()) {
    const Component a = take_component(left);
    const Component b = take_component(right);
    if (a.number != b.number) return sign(a.number < b.number, true);
    if (a.suffix.empty() != b.suffix.empty()) return sign(b.suffix.empty(), true);  // a beta comes before its release
    if (a.suffix != b.suffix) return sign(a.suffix < b.suffix, true);
  }
  return 0;
}

}  // namespace bindgen
