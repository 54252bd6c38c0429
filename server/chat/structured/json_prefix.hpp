// Reads JSON text as it comes, and says as soon as nothing that follows could make it valid.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

struct JsonEvent {
  enum class Kind { kBeginObject, kEndObject, kBeginArray, kEndArray, kKey, kBeginOfString, kScalar };

  Kind kind;
  std::string text{};    // kKey; kBeginOfString: the string so far (a longer one and then the kScalar follow)
  Json value = nullptr;  // kScalar: a string, number, boolean or null
};

class JsonPrefix {
 public:
  // `accept` gets what the text consists of; if it says false the text is refused.
  explicit JsonPrefix(std::function<bool(const JsonEvent&)> accept) : accept_(std::move(accept)) {}

  // False if the text can no longer become valid; it stays false.
  bool feed(std::string_view text);
  // Nothing follows. False unless the text is one whole value.
  bool finish();
  // The value is whole, and no more of it can come. A number at the outermost level never is before finish().
  bool is_complete() const { return is_valid_ && expects_ == Expects::kNothing; }
  // Bytes of the text up to the end of the value, once it is complete.
  std::size_t value_bytes() const { return bytes_; }

 private:
  enum class Expects { kValue, kValueOrEnd, kKey, kKeyOrEnd, kColon, kCommaOrEnd, kNothing };
  enum class Inside { kNothing, kString, kNumber, kWord };

  bool take(char character);
  bool take_outside(char character);
  bool take_in_string(char character);
  bool take_in_number(char character);
  bool take_in_word(char character);
  bool begin_value(char character);
  bool open(bool is_object);
  bool close(bool is_object);
  bool end_string();
  bool end_number();
  bool emit_scalar(Json value);
  void after_value();

  struct Container {
    bool is_object;
    std::set<std::string, std::less<>> keys{};
  };

  std::function<bool(const JsonEvent&)> accept_;
  std::vector<Container> open_;
  Expects expects_ = Expects::kValue;
  Inside inside_ = Inside::kNothing;
  std::string token_;  // raw text of the string, number or word that is being read
  bool is_key_ = false;
  bool has_escapes_ = false;
  unsigned escape_ = 0;    // what of an escape is still to come: 5 for its letter, 4 to 1 for digits
  std::size_t space_ = 0;  // in a row
  std::size_t bytes_ = 0;
  bool is_valid_ = true;
};

}  // namespace rkllm_mcp::chat
