#include "jsonrpc/written_ids.hpp"

#include <rkllm_mcp/json.hpp>

#include <algorithm>
#include <cstddef>

namespace rkllm_mcp {
namespace {

// Walks over JSON text that is known to be valid.
class Walk {
 public:
  explicit Walk(std::string_view json) : json_(json) {
    while (!at_end() && json_[at_] != '{' && json_[at_] != '[') ++at_;  // white space, perhaps a byte order mark
  }

  bool at_end() const { return at_ >= json_.size(); }
  // Whether the next character is `wanted`, which is then passed.
  bool take(char wanted) {
    skip_blanks();
    if (at_end() || json_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  // The text of the next value.
  std::string_view value() {
    skip_blanks();
    const std::size_t begin = at_;
    std::size_t depth = 0;
    do {
      if (at_end()) break;  // of the beginning of a message
      const char c = json_[at_];
      if (c == '"') {
        skip_string();
      } else if (c == '{' || c == '[') {
        ++depth;
        ++at_;
      } else if (c == '}' || c == ']') {
        --depth;
        ++at_;
      } else if (depth > 0) {
        ++at_;
      } else {
        at_ = std::min(json_.find_first_of(",]} \t\r\n", at_), json_.size());  // behind a number or a word
      }
    } while (depth > 0 && !at_end());
    return json_.substr(begin, at_ - begin);
  }

 private:
  void skip_blanks() { at_ = std::min(json_.find_first_not_of(" \t\r\n", at_), json_.size()); }
  void skip_string() {
    ++at_;
    while (!at_end() && json_[at_] != '"') at_ += json_[at_] == '\\' ? 2 : 1;
    ++at_;
  }

  std::string_view json_;
  std::size_t at_ = 0;
};

bool is_id(std::string_view name) {
  return name == "\"id\"" || (name.find('\\') != std::string_view::npos && Json::parse(name, nullptr, false) == "id");
}

// The id, as it is written, of the object whose opening brace has just been passed; empty: it has none.
std::string id_of_members(Walk& walk) {
  std::string id;
  while (!walk.take('}') && !walk.at_end()) {
    const bool is_wanted = is_id(walk.value());
    walk.take(':');
    const std::string_view value = walk.value();
    if (is_wanted && !walk.at_end()) id = value;  // behind a whole one something follows
    walk.take(',');
  }
  return id;
}

}  // namespace

std::vector<std::string> written_ids(std::string_view json) {
  Walk walk(json);
  if (walk.take('{')) return {id_of_members(walk)};
  std::vector<std::string> ids;
  if (!walk.take('[')) return ids;
  while (!walk.take(']') && !walk.at_end()) {
    Walk element(walk.value());
    ids.push_back(element.take('{') ? id_of_members(element) : std::string());
    walk.take(',');
  }
  return ids;
}

}  // namespace rkllm_mcp
