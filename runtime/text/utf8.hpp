// Is this UTF-8? Strictly as RFC 3629 says: no overlong forms, no surrogates, nothing above U+10FFFF.
//
// Text arrives in pieces (WebSocket fragments, tokens that split a character), so the check can stop and go on
// anywhere.
#pragma once

#include <cstdint>
#include <string_view>

namespace rkllm_mcp {

class Utf8Validator {
 public:
  // Checks the next bytes. False as soon as nothing that follows could make the text valid; it stays false until reset.
  bool feed(std::string_view bytes);
  // All bytes so far are valid and the last character is whole.
  bool complete() const { return valid_ && needed_ == 0; }
  void reset() { *this = {}; }

 private:
  bool start(std::uint8_t byte);  // the first byte of a character that is not ASCII

  std::uint8_t needed_ = 0;    // continuation bytes still to come
  std::uint8_t lower_ = 0x80;  // what the next continuation byte may be, at least and at most
  std::uint8_t upper_ = 0xBF;
  bool valid_ = true;
};

bool is_valid_utf8(std::string_view text);

}  // namespace rkllm_mcp
