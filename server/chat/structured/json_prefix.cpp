#include "chat/structured/json_prefix.hpp"
#include "jsonrpc/bounded_json.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace rkllm_mcp::chat {
namespace {

// A model that writes nothing but space will never write anything else.
constexpr std::size_t kMostSpace = 512;
// Beginnings of strings are told up to this length: those of an enum are short.
constexpr std::size_t kToldString = 256;

// Longer ones are no numbers, but a model that has lost its way.
constexpr std::size_t kLongestNumber = 400;

constexpr std::array<std::string_view, 3> kWords = {"true", "false", "null"};

bool is_json_space(char character) {
  return character == ' ' || character == '\t' || character == '\n' || character == '\r';
}
bool is_digit(char character) { return character >= '0' && character <= '9'; }
bool is_hex_digit(char character) {
  return is_digit(character) || (character >= 'a' && character <= 'f') || (character >= 'A' && character <= 'F');
}

// Can `text` be the beginning of a number, or (`whole`) one?
bool is_number(std::string_view text, bool whole) {
  const auto digits = [&text] {
    const auto count = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(count);
    return count;
  };
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.empty()) return !whole;
  if (text.starts_with('0')) {
    text.remove_prefix(1);
  } else if (digits() == 0) {
    return false;
  }
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (text.empty()) return !whole;
    if (digits() == 0) return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (text.empty()) return !whole;
    if (digits() == 0) return false;
  }
  return text.empty();
}

}  // namespace

bool JsonPrefix::feed(std::string_view text) {
  for (const char character : text) {
    if (!is_valid_ || is_complete()) break;
    ++bytes_;
    is_valid_ = take(character);
  }
  return is_valid_;
}

bool JsonPrefix::finish() {
  if (is_valid_ && inside_ == Inside::kNumber && open_.empty()) is_valid_ = end_number();
  return is_complete();
}

bool JsonPrefix::take(char character) {
  switch (inside_) {
    case Inside::kString: return take_in_string(character);
    case Inside::kNumber: return take_in_number(character);
    case Inside::kWord: return take_in_word(character);
    case Inside::kNothing: return take_outside(character);
  }
  return false;
}

bool JsonPrefix::take_outside(char character) {
  if (is_json_space(character)) return ++space_ <= kMostSpace;
  space_ = 0;
  switch (expects_) {
    case Expects::kValueOrEnd:
      if (character == ']') return close(false);
      return begin_value(character);
    case Expects::kValue: return begin_value(character);
    case Expects::kKeyOrEnd:
      if (character == '}') return close(true);
      [[fallthrough]];
    case Expects::kKey:
      if (character != '"') return false;
      is_key_ = true;
      return begin_value(character);
    case Expects::kColon: expects_ = Expects::kValue; return character == ':';
    case Expects::kCommaOrEnd:
      if (character == ',') {
        expects_ = open_.back().is_object ? Expects::kKey : Expects::kValue;
        return true;
      }
      return (character == '}' || character == ']') && close(character == '}');
    case Expects::kNothing: return false;
  }
  return false;
}

bool JsonPrefix::begin_value(char character) {
  if (character == '{' || character == '[') return open(character == '{');
  token_.assign(1, character);
  if (character == '"') {
    inside_ = Inside::kString;
    has_escapes_ = false;
    return is_key_ || accept_({JsonEvent::Kind::kBeginOfString, "", nullptr});
  }
  if (character == '-' || is_digit(character)) {
    inside_ = Inside::kNumber;
    return true;
  }
  inside_ = Inside::kWord;
  return std::ranges::any_of(kWords, [character](std::string_view word) { return word.front() == character; });
}

bool JsonPrefix::open(bool is_object) {
  if (open_.size() >= kDeepestJson) return false;
  open_.push_back({is_object, {}});
  expects_ = is_object ? Expects::kKeyOrEnd : Expects::kValueOrEnd;
  return accept_({is_object ? JsonEvent::Kind::kBeginObject : JsonEvent::Kind::kBeginArray, "", nullptr});
}

bool JsonPrefix::close(bool is_object) {
  if (open_.back().is_object != is_object) return false;
  open_.pop_back();
  after_value();
  return accept_({is_object ? JsonEvent::Kind::kEndObject : JsonEvent::Kind::kEndArray, "", nullptr});
}

bool JsonPrefix::take_in_string(char character) {
  token_.push_back(character);
  if (escape_ == 5) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    escape_ = character == 'u' ? 4 : 0;
    return escape_ == 4 || kLetters.find(character) != std::string_view::npos;
  }
  if (escape_ > 0) {
    --escape_;
    return is_hex_digit(character);
  }
  if (character == '"') return end_string();
  if (static_cast<unsigned char>(character) < 0x20) return false;
  if (character == '\\') {
    escape_ = 5;
    has_escapes_ = true;
    return true;
  }
  if (is_key_ || has_escapes_ || token_.size() > kToldString) return true;
  return accept_({JsonEvent::Kind::kBeginOfString, token_.substr(1), nullptr});
}

bool JsonPrefix::end_string() {
  inside_ = Inside::kNothing;
  const auto text = parse_bounded(token_);
  if (!text) return false;  // half of a surrogate pair
  if (!is_key_) return emit_scalar(*text);
  is_key_ = false;
  expects_ = Expects::kColon;
  const std::string& name = text->get_ref<const std::string&>();
  return open_.back().keys.insert(name).second && accept_({JsonEvent::Kind::kKey, name, nullptr});
}

bool JsonPrefix::take_in_number(char character) {
  constexpr std::string_view kParts = "+-.eE";
  if (is_digit(character) || kParts.find(character) != std::string_view::npos) {
    token_.push_back(character);
    return token_.size() <= kLongestNumber && is_number(token_, false);
  }
  return end_number() && (expects_ != Expects::kNothing || is_json_space(character)) &&
         (expects_ == Expects::kNothing || take_outside(character));
}

bool JsonPrefix::end_number() {
  inside_ = Inside::kNothing;
  const auto number = is_number(token_, true) ? parse_bounded(token_) : std::nullopt;
  return number && emit_scalar(*number);
}

bool JsonPrefix::take_in_word(char character) {
  token_.push_back(character);
  const auto word = std::ranges::find_if(kWords, [this](std::string_view each) { return each.starts_with(token_); });
  if (word == kWords.end()) return false;
  if (*word != token_) return true;
  inside_ = Inside::kNothing;
  return emit_scalar(token_ == "null" ? Json(nullptr) : Json(token_ == "true"));
}

bool JsonPrefix::emit_scalar(Json value) {
  after_value();
  return accept_({JsonEvent::Kind::kScalar, "", std::move(value)});
}

void JsonPrefix::after_value() { expects_ = open_.empty() ? Expects::kNothing : Expects::kCommaOrEnd; }

}  // namespace rkllm_mcp::chat
